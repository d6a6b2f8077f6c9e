"""Where two manifests differ, field by field, elements of lists matched by what identifies them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes.merge import name_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfgitops.targets.routes import Route

_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]+").fullmatch


class Absent:
    """The value of a field that is not there."""

    def __repr__(self) -> str:
        return "(none)"


ABSENT = Absent()


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field that two manifests of an object have differently, or only one of them has.

    ``at`` is its route in the later manifest, and in the earlier one from where it is gone; ``was`` is its route in the
    earlier one, and in the later one from where it is new. ``path`` is for people:
    ``spec.tasks[worker].template.spec.containers[tensorflow].image``.
    """

    at: Route
    was: Route
    path: str
    before: Any
    after: Any

    @property
    def gone(self) -> bool:
        """Whether only the earlier manifest has it."""
        return self.after is ABSENT


def field_changes(
    before: Any, after: Any, at: Route = (), path: str = "", was: Route | None = None
) -> Iterator[FieldChange]:
    """Yield the innermost fields that differ between two JSON values."""
    was = at if was is None else was
    if before is after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in {**before, **after}:
            inner = join_path(path, key)
            yield from _changed(before.get(key, ABSENT), after.get(key, ABSENT), (*at, key), inner, (*was, key))
    elif isinstance(before, list) and isinstance(after, list):
        yield from _in_lists(before, after, at, path, was)
    elif type(before) is not type(after) or before != after:
        yield FieldChange(at, was, path, before, after)


def _changed(before: Any, after: Any, at: Route, path: str, was: Route) -> Iterator[FieldChange]:
    if before is ABSENT or after is ABSENT:
        yield FieldChange(at, was, path, before, after)
    else:
        yield from field_changes(before, after, at, path, was)


def _in_lists(before: Sequence[Any], after: Sequence[Any], at: Route, path: str, was: Route) -> Iterator[FieldChange]:
    """Match elements by their names; without names, by their places, or the lists are one value."""
    old, new = _named(before), _named(after)
    if old is None or new is None:
        if len(before) == len(after):
            for index, pair in enumerate(zip(before, after, strict=True)):
                yield from field_changes(*pair, (*at, index), f"{path}[{index}]", (*was, index))
        else:
            yield FieldChange(at, was, path, before, after)
        return
    for name in {**old, **new}:
        here, there = new.get(name, old.get(name, 0)), old.get(name, new.get(name, 0))
        one = before[old[name]] if name in old else ABSENT
        other = after[new[name]] if name in new else ABSENT
        yield from _changed(one, other, (*at, here), f"{path}[{name}]", (*was, there))
    shared = [name for name in new if name in old]
    if shared != [name for name in old if name in new]:
        yield FieldChange(at, was, f"{path} (order)", [*old], [*new])


def _named(elements: Sequence[Any]) -> dict[str, int] | None:
    """Return the index of each element by its name, if all have one of their own."""
    names: dict[str, int] = {}
    for index, element in enumerate(elements):
        name = name_of(element)
        if name is None or name in names:
            return None
        names[name] = index
    return names


def join_path(path: str, key: str) -> str:
    """Write a path to a key: a key with dots or slashes stands in brackets."""
    if not _PLAIN_KEY(key):
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else key
