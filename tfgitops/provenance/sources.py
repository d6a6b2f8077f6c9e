"""A source of a field: who gives it a value, because of which routes of the spec."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfgitops.targets.routes import Route

DEFAULT = "compiler default"
COMPILER = "compiler"
ROLE = "role"
STRATEGY = "strategy"
DISCOVERY = "discovery"
CONTROLLER = "gitops"
OVERLAY = "overlay"
OVERLAYS = ("pod", "container")
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
