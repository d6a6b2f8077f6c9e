"""Remember what a function returned for values of JSON, by their content: a thousand jobs are made of the same few."""

from __future__ import annotations

import marshal
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

F = TypeVar("F", bound="Callable[..., Any]")


def packed(value: Any) -> bytes:
    """Return a value of JSON as bytes that are equal for equal values alone; raise ValueError for any other value."""
    return marshal.dumps(value, 2)  # the last form in which equal values are equal bytes


def by_content(size: int, longest: int | None = None) -> Callable[[F], F]:
    """Make a pure function remember ``size`` results by the content of its first argument; others must be hashable.

    The function works on a copy of that argument, and its callers must not change the result. It is called each time
    for a value that is no plain JSON, or has more than ``longest`` bytes in `marshal`'s form: most are met once.
    """

    def decorate(function: F) -> F:
        @lru_cache(maxsize=size)
        def remembered(key: bytes, *others: Hashable) -> Any:
            return function(marshal.loads(key), *others)  # noqa: S302 - packed below

        @wraps(function)
        def call(value: Any, *others: Hashable) -> Any:
            try:
                key = packed(value)
            except ValueError:
                return function(value, *others)
            fits = longest is None or len(key) <= longest
            return remembered(key, *others) if fits else function(value, *others)

        return cast("F", call)

    return decorate
