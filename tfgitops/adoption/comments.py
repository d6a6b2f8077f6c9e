"""Find the comments of a source that stand at a field: those directly above its line, and the one behind it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:

    from tfgitops.adoption.sources import Source
    from tfgitops.targets.routes import Route

_LINE = re.compile(r"\s*#+ ?(.*?)\s*#*\Z")
_BEHIND = re.compile(r"[\s,\]}]*\s#+ ?(.*?)\s*\Z")


class Comment(NamedTuple):
    """The comments at one field, without their hashes."""

    above: tuple[str, ...] = ()
    behind: str = ""


class Comments:
    """The comments of the sources, each of which is kept once."""

    def __init__(self) -> None:
        self._used: set[tuple[int, int]] = set()

    def at(self, source: Source, route: Route) -> Comment | None:
        """Return the comments at a route of an object, or None."""
        lines = source.document.text.split("\n")
        span = source.span(route, on_key=True)
        number = span.line - 1 - source.offset
        literal = source.document.literal((*source.route, *route))
        above = self._above(source, lines, number)
        behind = self._behind(source, lines, number, span.column - 1 + span.width, literal)
        return Comment(tuple(above), behind) if above or behind else None

    def _above(self, source: Source, lines: list[str], number: int) -> list[str]:
        start = number
        while start > 0 and lines[start - 1].lstrip().startswith("#"):
            start -= 1
        found = [_LINE.match(lines[index]) for index in range(start, number) if self._fresh(source, index)]
        texts = [match[1] for match in found if match]
        return texts if any(texts) else []

    def _behind(self, source: Source, lines: list[str], number: int, at: int, literal: str) -> str:
        line = lines[number] if number < len(lines) else ""
        place = line.find(literal, at) if literal else -1
        found = _BEHIND.match(line, place + len(literal) if place >= 0 else line.find(":", at) + 1)
        return found[1] if found and self._fresh(source, number + len(lines)) else ""

    def _fresh(self, source: Source, number: int) -> bool:
        """Tell whether a comment was not taken yet, and take it; those behind a value have numbers of their own."""
        key = (id(source.document), number)
        known = key in self._used
        self._used.add(key)
        return not known


