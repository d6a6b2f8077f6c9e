"""What a part of a YAML text takes from anchors that stand outside of it, by aliases and by merge keys."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from tfgitops.spec.yamltext.tree import Node

    Steps = tuple[str | int, ...]

_ALIAS = re.compile(r"(?:^|[\s\[{,:])\*[^\s\[\]{},*]").search


def has_aliases(text: str) -> bool:
    """Tell whether a text may have an alias: where it says no, there is none."""
    return "&" in text and _ALIAS(text) is not None


def borrowed(key: Node | None, block: Node) -> Iterator[tuple[Steps, str]]:
    """Yield each route within a block whose value is an alias's of an anchor outside, with the anchor's name.

    What a merge key brought has no name: the merge key itself has, with the number of the source behind it.
    """
    if key is not None and _start(block) < _start(key):  # the block is an alias itself
        yield (), block.anchor
    else:
        yield from _Block(block).within(block, (), frozenset())


def _start(node: Node) -> tuple[int, int]:
    return node.line, node.column


class _Block:
    """One value as it is written, from its first character to its last."""

    def __init__(self, block: Node) -> None:
        self._start = _start(block)
        self._end = (block.end_line, block.end_column)

    def within(self, node: Node, at: Steps, said: AbstractSet[str]) -> Iterator[tuple[Steps, str]]:
        """Yield what is borrowed in a value that stands here, but for the keys that were said before."""
        for key, (_, value) in node.entries.items():
            if key != "<<" and key not in said:
                yield from self._value(value, (*at, key))
        for index, item in enumerate(node.items):
            yield from self._value(item, (*at, index))
        if "<<" in node.entries:
            yield from self._merged(node.entries["<<"][1], at, {*said, *node.entries})

    def _value(self, value: Node, at: Steps) -> Iterator[tuple[Steps, str]]:
        if self._is_outside(value):
            yield at, value.anchor
        else:
            yield from self.within(value, at, frozenset())

    def _merged(self, value: Node, at: Steps, said: set[str]) -> Iterator[tuple[Steps, str]]:
        """Yield what merge keys brought; an earlier source wins over a later one."""
        for index, source in enumerate(value.items or [value]):
            if self._is_outside(source):
                yield (*at, "<<", index), source.anchor or value.anchor
                yield from (((*at, key), "") for key in source.keys() - said)
            else:
                yield from self.within(source, at, said)
            said |= source.keys()

    def _is_outside(self, node: Node) -> bool:
        return not self._start <= _start(node) <= self._end
