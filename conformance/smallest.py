"""Takes out of a spec all that a disagreement does not need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LONG = 16  # no shorter text is made shorter still: names would be no names any more


def smallest(value: Any, holds: Callable[[Any], bool]) -> Any:
    """Return a value that still holds, and of which nothing more can be left out, and no long text cut."""
    while (less := next(filter(holds, _smaller(value)), None)) is not None:
        value = less
    return value


def _smaller(value: Any) -> Iterator[Any]:
    """Yield a value again and again, each time with another part left out, or less in it; the large parts first."""
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
