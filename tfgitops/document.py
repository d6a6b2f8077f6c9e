"""One file of a spec: its text, its plain value, and the place of any route in it, looked up when asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tfgitops.diagnostics import Span
from tfgitops.kubernetes.names import describe
from tfgitops.yamltext import LOOKALIKES, compose

if TYPE_CHECKING:
    from pathlib import Path

    from tfgitops.diagnostics import Route
    from tfgitops.yamltext import Node


_ABSENT = object()


@dataclass(frozen=True, kw_only=True)
class Document:
    """A file that was read: ``value`` stands at ``prefix`` of the merged spec, ``()`` for a whole environment.

    When it has been validated, ``value`` has its short forms widened: routes are those of the wide form.
    """

    path: Path
    name: str
    text: str
    value: Any
    prefix: Route = ()

    @cached_property
    def _tree(self) -> Node | None:
        return compose(self.text)

    @cached_property
    def _lines(self) -> list[str]:
        return self.text.split("\n")

    def depth(self, route: Route) -> int:
        """Count how many keys of a route are written in this file, its prefix included; -1 outside the prefix."""
        start = len(self.prefix)
        if route[:start] != self.prefix:
            return -1
        value = self.value
        for count, key in enumerate(route[start:], start):
            value = _inner(value, key)
            if value is _ABSENT:
                return count
        return len(route)

    def span(self, route: Route, *, on_key: bool = False, piece: str = "") -> Span:
        """Find the place of a route, or of its nearest parent that is written here.

        With ``on_key`` the key itself is marked; else its value, or the key where the value is a collection. Of a text
        of several lines, ``piece`` alone is marked if one of them holds it.
        """
        pairs = self._follow(route)
        key, value = pairs[-1]
        complete = len(self.prefix) + len(pairs) > len(route) or self.depth(route) == len(route)  # a short form
        if key is None:
            return self.span_at(0, 0) if value is None else self._mark(value)
        if not (value and value.text and complete) or on_key:
            return self._mark(key)
        return self._find(piece, value) or self._mark(value)

    def written(self, route: Route) -> Route:
        """Return the part of a route that stands in this file: without the keys of a short form."""
        return route[: len(self.prefix) + len(self._follow(route)) - 1]

    def literal(self, route: Route) -> str:
        """Return the value of a route as it is written, where it is on one line; else nothing."""
        node = self._follow(route)[-1][1]
        if node is None or node.line != node.end_line:
            return ""
        return self._lines[node.line][node.column : node.end_column]

    def span_at(self, line: int, column: int, width: int = 1) -> Span:
        """Make a span from a line and column that count from 0."""
        excerpt = self._lines[line] if line < len(self._lines) else ""
        return Span(file=self.name, line=line + 1, column=column + 1, width=width, excerpt=excerpt)

    def _follow(self, route: Route) -> list[tuple[Node | None, Node | None]]:
        """Return (key node, value node) for each step of a route that exists, the top first."""
        node = self._tree
        pairs: list[tuple[Node | None, Node | None]] = [(None, node)]
        for key in route[len(self.prefix) :]:
            step = node.child(key) if node else None
            if step is None:
                break
            pairs.append(step)
            node = step[1]
        return pairs

    def _find(self, piece: str, node: Node) -> Span | None:
        """Find a piece of a text of several lines, where it is not escaped by a second ``$``."""
        if not piece or node.line == node.end_line:
            return None
        search = re.compile(rf"(?<!\$){re.escape(piece)}(?!\w)").search
        lines = enumerate(self._lines[node.line : node.end_line + 1], node.line)
        found = ((line, match) for line, match in ((line, search(text)) for line, text in lines) if match)
        return next((self.span_at(line, match.start(), len(piece)) for line, match in found), None)

    def _mark(self, node: Node) -> Span:
        excerpt = self._lines[node.line] if node.line < len(self._lines) else ""
        stop = node.end_column if node.end_line == node.line else len(excerpt)
        return self.span_at(node.line, node.column, max(1, stop - node.column))


def _inner(value: Any, key: str | int) -> Any:
    if type(value) is dict:
        return value.get(key, _ABSENT)
    if type(value) is list and isinstance(key, int) and key < len(value):
        return value[key]
    return _ABSENT


def odd_characters(text: str) -> list[str]:
    """Name each character of a text that looks like another, or like nothing, by its code point."""
    if text.isascii() and text.isprintable():
        return []
    odd = [c for c in dict.fromkeys(text) if ord(c) in LOOKALIKES or (not c.isprintable() and c not in "\n\t")]
    return [describe(c) for c in odd]
