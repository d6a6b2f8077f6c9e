"""Reduces a spec to the parts that a disagreement needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LONG = 16  # shorter texts are not cut: a cut name would be no name


def smallest(value: Any, holds: Callable[[Any], bool]) -> Any:
    """Return a smallest value that still shows the disagreement, with its long texts cut."""
    while (less := next(filter(holds, _smaller(value)), None)) is not None:
        value = less
    return value


def _smaller(value: Any) -> Iterator[Any]:
    """Yield variants of a value with one part left out or shortened, the large parts first."""
    if isinstance(value, dict):
        for key in value:
            yield {name: inner for name, inner in value.items() if name != key}
        yield from ({**value, key: less} for key, inner in value.items() for less in _smaller(inner))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield value[:index] + value[index + 1 :]
        for index, inner in enumerate(value):
            yield from ([*value[:index], less, *value[index + 1 :]] for less in _smaller(inner))
    elif isinstance(value, str) and len(value) > _LONG:
        yield from (value[: len(value) // 2], value[:-1])
