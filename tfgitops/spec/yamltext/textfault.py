"""What is wrong with a text, as values whose lines and columns count from 0."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A second place that has to do with a fault."""

    message: str
    line: int
    column: int
    width: int = 1


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong, where it is wrong, and what to do about it."""

    code: str
    message: str
    line: int
    column: int
    hint: str
    width: int = 1
    also: Place | None = None


def line_and_column(text: str, index: int) -> tuple[int, int]:
    """Say where an index of a text is, as a line and a column that count from 0."""
    return text.count("\n", 0, index), index - (text.rfind("\n", 0, index) + 1)


class TextError(Exception):
    """Raised with every fault that was found in a text."""

    def __init__(self, faults: list[Fault]) -> None:
        self.faults = faults
        super().__init__("; ".join(f.message for f in faults))
