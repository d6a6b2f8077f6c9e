"""A source of a field: who gives it a value, because of which routes of the spec."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes.merge import identity_of
from tfgitops.targets.routes import MISSING, reach, value_at

if TYPE_CHECKING:
    from tfgitops.targets.kubernetes.merge import Rule
    from tfgitops.targets.routes import Route

DEFAULT = "compiler default"
COMPILER = "compiler"
STRATEGY = "strategy"
DISCOVERY = "discovery"
CONTROLLER = "gitops"
OVERLAY = "overlay"
PLUGIN = "plugin"
PIN = "pin"
SETTING = "settings"


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """Something that gives a field a value, unless something stronger does.

    A key of the spec has one route and no ``layer``: who writes it decides that, and only where it is written does it
    give anything. All others give ``value`` in any case; their routes are the places that led to it. ``plugin`` is the
    name of the plugin that turned what the spec says into the field, and ``note`` says how it came about. Where a value
    is made from several places, ``parts`` are what each of the routes gives to it, written there or by default, or
    `MISSING` where a route is only the reason.
    """

    routes: tuple[Route, ...]
    layer: str = ""
    value: Any = None
    plugin: str = ""
    note: str = ""
    parts: tuple[Any, ...] = ()


def key(*route: str | int) -> Source:
    """Return what a key of the spec gives, where it is written."""
    return Source(routes=(route,))


def given(layer: str, value: Any, *routes: Route, note: str = "") -> Source:
    """Return what is given in any case, because of some routes."""
    return Source(routes=routes, layer=layer, value=value, note=note)


def held(part: Any, rule: Rule, whole: Any, at: Route, *, united: bool) -> Route | None:
    """Find a field of a whole object in a part that was merged into it; None where the part does not speak of it.

    Elements of merging lists are found by what tells them apart. A list that replaces is one value, so the route ends
    at it where it has not as many elements. ``united`` is whether parts of equal rank were merged, as plugins' are.
    """
    found: Route = ()
    for position, step in enumerate(at):
        if isinstance(part, Mapping):
            if step not in part:
                return None
            part, whole, rule = part[step], whole[step], rule.of(str(step))
            found = (*found, step)
        elif isinstance(part, list) and (rule.keys or (united and rule.unite)):
            inner = _element(part, rule, whole[step], at[position + 1 :])
            if inner is None:
                return None
            found = (*found, *inner)
            if len(inner) > 1:  # an element that was taken apart: what follows is the same in both
                return (*found, *at[position + len(inner) :])
            part, whole = value_at(part, inner), whole[step]
        else:
            rest = at[position:]
            return found if reach(part, rest) is MISSING else (*found, *rest)
    return found


def _element(elements: list[Any], rule: Rule, wanted: Any, rest: Route) -> Route | None:
    """Find an element of a list, or one of whose requirements it was made."""
    for index, element in enumerate(elements):
        same = identity_of(element, rule) == identity_of(wanted, rule) if rule.keys else element == wanted
        if same:
            return (index,)
    if rest[1:] and isinstance(wanted, dict) and isinstance(rest[1], int):
        field, requirement = str(rest[0]), wanted[rest[0]][rest[1]]
        for index, element in enumerate(elements):
            if requirement in (element.get(field) or ()):
                return (index, field, element[field].index(requirement))
    return None
