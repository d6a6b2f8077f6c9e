"""Read-only views, so that nobody changes what others still read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_HOLDERS = frozenset({dict, list})


class View(Mapping[str, Any]):  # noqa: PLW1641 - no more to be hashed than a dict
    """A read-only view of a map, and of every map and list in it."""

    __slots__ = ("_data",)

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data

    def __getitem__(self, key: str) -> Any:
        value = self._data[key]
        return freeze(value) if type(value) in _HOLDERS else value

    def get(self, key: str, default: Any = None) -> Any:
        """Return the read-only value of a key, or a default: without the exception that `Mapping` would catch."""
        value = self._data.get(key, default)
        return freeze(value) if type(value) in _HOLDERS else value

    def __eq__(self, other: object) -> bool:
        return self._data == other._data if type(self) is type(other) is View else super().__eq__(other)

    def __contains__(self, key: object) -> bool:
        return key in self._data

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __repr__(self) -> str:
        return f"View({self._data!r})"


def thaw(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a view shows, for code that reads much and is trusted to change nothing."""
    return value._data if type(value) is View else value  # noqa: SLF001 - of the class above


def freeze(value: Any) -> Any:
    """Return a value that cannot be changed: maps as views, lists as tuples."""
    if type(value) is dict:
        return View(value)
    if type(value) is list:
        return tuple([freeze(item) if type(item) in _HOLDERS else item for item in value])
    return value
