"""Experiments with pure hooks: what a plugin answers when one value of the spec is another, and which fields follow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes.merge import Rule, identity_of
from tfgitops.targets.routes import leaves

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops.targets.routes import Route

_GONE = object()
_UNRULED = Rule()


def changed(data: Any, route: Route) -> Iterator[Any]:
    """Yield copies of a value with another one at a route: something else of its kind, then nothing.

    A digit before a text leaves names, labels and quantities what they are.
    """
    value = data
    for step in route:
        value = value[step]
    if isinstance(value, bool):
        yield _with(data, route, not value)
    elif isinstance(value, int):
        yield _with(data, route, value + 1)
    elif isinstance(value, str):
        yield _with(data, route, f"3{value}")
    elif value and isinstance(value, dict | list):
        yield _with(data, route, type(value)())
    if route:
        yield _with(data, route, _GONE)


def followers(before: Any, after: Any, rule: Rule = _UNRULED) -> set[Route]:
    """Return the fields that differ, by their routes before.

    An element of a list is compared with the one in its place, and with the one that has its name: one that changed its
    name is still there, and one that only moved has not changed.
    """
    placed, named = dict(leaves(after)), {label: value for _, label, value in _named(after, rule)}
    return {
        at
        for at, label, value in _named(before, rule)
        if (at not in placed or placed[at] != value) and (label not in named or named[label] != value)
    }


def _named(value: Any, rule: Rule, at: Route = (), label: tuple[Any, ...] = ()) -> Iterator[tuple[Route, Any, Any]]:
    """Yield each field with its route, and with the same by the names of elements."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _named(inner, rule.of(key), (*at, key), (*label, key))
    elif isinstance(value, list) and value:
        for index, element in enumerate(value):
            name = identity_of(element, rule) if rule.keys else index
            yield from _named(element, rule, (*at, index), (*label, name))
    else:
        yield at, label, value


def _with(data: Any, route: Route, value: Any) -> Any:
    """Copy a value with another one at a route."""
    if not route:
        return value
    first, rest = route[0], route[1:]
    copy: Any = dict(data) if isinstance(data, dict) else list(data)
    if rest:
        copy[first] = _with(data[first], rest, value)
    elif value is _GONE:
        del copy[first]
    else:
        copy[first] = value
    return copy
