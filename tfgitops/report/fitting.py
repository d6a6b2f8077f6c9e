"""Makes a text fit: what must be said stays, and of each list as many rows as there is room for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_NUMBER = 8  # characters that the number of rows left out may take


@dataclass(frozen=True, kw_only=True)
class Block:
    """A part of a text that stays or goes as a whole, but for its rows; ``more`` says how many of these are missing."""

    head: Sequence[str]
    rows: Sequence[str] = ()
    tail: Sequence[str] = ()
    more: str = "- … and {} more"

    @property
    def least(self) -> int:
        """How long it is without its rows."""
        return _length((*self.head, *self.tail)) + (len(self.more) + _NUMBER if self.rows else 0)

    def within(self, room: int) -> list[str]:
        """Return its lines, with the first rows that have room."""
        rows: list[str] = []
        for row in self.rows:
            room -= len(row) + 1
            if room < 0:
                break
            rows.append(row)
        left = len(self.rows) - len(rows)
        return [*self.head, *rows, *([self.more.format(left)] if left else []), *self.tail]


def fit(blocks: Iterable[Block], room: int) -> tuple[list[str], int]:
    """Return the lines of all blocks that have room, in their order, and how many have none.

    All of them are thought of before the rows of any; short lists are whole before long ones get what is left.
    """
    kept, left_out = [], 0
    for block in blocks:
        if block.least <= room:
            kept.append(block)
            room -= block.least
        else:
            left_out += 1
    shares: dict[int, int] = {}
    by_need = sorted(range(len(kept)), key=lambda index: _length(kept[index].rows))
    for number, index in enumerate(by_need):
        shares[index] = min(_length(kept[index].rows), room // (len(kept) - number))
        room -= shares[index]
    return [line for index, block in enumerate(kept) for line in block.within(shares[index])], left_out


def _length(lines: Iterable[str]) -> int:
    return sum(len(line) + 1 for line in lines)
