"""Values by their routes of keys and indices, and the fields of a manifest in the order in which they are written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes.order import ordered

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Route = tuple[str | int, ...]
"""Keys and indices from the top of a spec or a manifest, such as ``("jobs", "resnet", "worker", "gpu")``."""

Json = Mapping[str, Any]
"""An object as it is in JSON, or a part of one."""


def value_at(value: Any, route: Route) -> Any:
    """Return what stands at a route of a value."""
    for step in route:
        value = value[step]
    return value


MISSING = object()
"""What is not there."""


def reach(value: Any, route: Iterable[Any]) -> Any:
    """Return what stands at a route of a value, or `MISSING`."""
    for step in route:
        if not isinstance(value, Mapping | list):
            return MISSING
        try:
            value = value[step]
        except (LookupError, TypeError):
            return MISSING
    return value


def replaced(value: Any, route: Route, new: Any) -> Any:
    """Copy a value with another one at a route, or with nothing there where that is `MISSING`.

    Where the route leads nowhere, it is the value itself.
    """
    if not route:
        return new
    first, rest = route[0], route[1:]
    if reach(value, (first,)) is MISSING:
        return value
    copy: Any = dict(value) if isinstance(value, Mapping) else list(value)
    if rest or new is not MISSING:
        copy[first] = replaced(value[first], rest, new)
    else:
        del copy[first]
    return copy


def steps(value: Any) -> Iterator[tuple[str | int, Any]]:
    """Yield what is directly in a map or a list, in the order in which it is written."""
    if isinstance(value, dict):
        yield from ((key, value[key]) for key in ordered(tuple(value)))
    elif isinstance(value, list):
        yield from enumerate(value)


def leaves(value: Any, at: Route = ()) -> Iterator[tuple[Route, Any]]:
    """Yield each field that has nothing in it, with its value: a scalar, or an empty map or list."""
    if isinstance(value, dict | list) and value:
        for step, inner in steps(value):
            yield from leaves(inner, (*at, step))
    else:
        yield at, value


def nodes(value: Any, at: Route = ()) -> Iterator[Route]:
    """Yield the route of each field, those that have others in them before these."""
    for step, inner in steps(value):
        yield (*at, step)
        yield from nodes(inner, (*at, step))
