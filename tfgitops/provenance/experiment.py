"""Experiments: a value with something in it changed or taken out, and what of an answer that moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes.merge import Rule, identity_of
from tfgitops.targets.routes import MISSING, leaves, replaced, steps, value_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tfgitops.targets.routes import Route

_UNRULED = Rule()
_TRIED_AT_MOST = 64


def changed(data: Any, route: Route, choices: Iterable[Any] = ()) -> Iterator[Any]:
    """Yield copies of a value with another one at a route: another choice, or something of its kind, then nothing."""
    value = value_at(data, route)
    for other in choices or [_other(value)]:
        if other != value:
            yield replaced(data, route, other)
    if route:
        yield replaced(data, route, MISSING)


def _other(value: Any) -> Any:
    """Change a value and all that is in it: a digit before a text leaves names, labels and quantities what they are."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, dict):
        return {key: _other(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_other(inner) for inner in value]
    return f"3{value}" if isinstance(value, str) else value


def influences(
    routes: Iterable[Route], value_of: Callable[[Route], Any], ask: Callable[[Route], Iterable[Any]], said: Any
) -> Iterator[Route]:
    """Yield the values, of those below some routes, without which an answer would be another one.

    Where these would be very many, it is the block that holds them. ``ask`` yields the answers with a route changed.
    """
    for route in routes:
        if any(answer != said for answer in ask(route)):
            inner = [(*route, step) for step, _ in steps(value_of(route))]
            yield from influences(inner, value_of, ask, said) if 0 < len(inner) <= _TRIED_AT_MOST else [route]


def moved(before: Any, after: Any, rule: Rule = _UNRULED, at: Route = ()) -> dict[Route, Any]:
    """Return the fields that differ, by their routes before, with what they are after: `MISSING` for those that went.

    An element of a list that only changed its place, or its name, is the same element still.
    """
    if before == after:
        return {}
    found: dict[Route, Any] = {}
    if isinstance(before, dict) and before:
        for key, inner in before.items():
            other = after.get(key, MISSING) if isinstance(after, dict) else MISSING
            found |= moved(inner, other, rule.of(key), (*at, key))
    elif isinstance(before, list) and before:
        places = _places(before, after, rule)
        for index, inner in enumerate(before):
            other = after[places[index]] if index in places else MISSING
            found |= moved(inner, other, rule, (*at, index))
    else:
        found[at] = after
    return found


def counterpart(before: Any, after: Any, rule: Rule, at: Route) -> Route | None:
    """Return the route of a field in an answer after a change; None where it went."""
    found: Route = ()
    for step in at:
        other: Any = step
        if isinstance(before, list):
            other = _places(before, after, rule, strictly=True).get(int(step))
        elif isinstance(after, dict) and step in after:
            rule = rule.of(str(step))
        else:
            return None
        if other is None:
            return None
        before, after, found = before[step], after[other], (*found, other)
    return (*found, *next(leaves(after))[0])


def _places(before: list[Any], after: Any, rule: Rule, *, strictly: bool = False) -> dict[int, int]:
    """Match the elements of two lists: those alike first, then, in their order, those that are left.

    With ``strictly``, one that has names is not matched with one of other names.
    """
    free = {index: _name(element, rule) for index, element in enumerate(after if isinstance(after, list) else ())}
    found: dict[int, int] = {}
    for index, element in enumerate(before):
        name = _name(element, rule)
        place = next((place for place, other in free.items() if other == name), None)
        if place is not None:
            found[index] = place
            del free[place]
    left = [index for index in range(len(before)) if index not in found]
    left = [index for index in left if not (strictly and isinstance(before[index], dict))]
    return found | dict(zip(left, free, strict=False))


def _name(element: Any, rule: Rule) -> Any:
    return identity_of(element, rule) if rule.keys and isinstance(element, dict) else element
