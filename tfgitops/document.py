"""One file of a spec: its text, its plain value, and the place of any route in it, looked up when asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from tfgitops.diagnostics import Span
from tfgitops.kubernetes.names import describe
from tfgitops.yamltext import compose

if TYPE_CHECKING:
    from pathlib import Path

    from ruamel.yaml.nodes import Node

    from tfgitops.diagnostics import Route


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

    def span(self, route: Route, *, on_key: bool = False) -> Span:
        """Find the place of a route, or of its nearest parent that is written here.

        With ``on_key`` the key itself is marked; else its value, or the key where the value is a collection.
        """
        pairs = self._follow(route)
        key, value = pairs[-1]
        complete = len(self.prefix) + len(pairs) - 1 >= len(route)
        if key is None:
            return self.span_at(0, 0) if value is None else self._mark(value)
        if on_key or not complete or not isinstance(value, ScalarNode):
            return self._mark(key)
        return self._mark(value) if value.value else self._mark(key)

    def span_at(self, line: int, column: int) -> Span:
        """Make the span of one character from a line and column that count from 0."""
        excerpt = self._lines[line] if line < len(self._lines) else ""
        return Span(file=self.name, line=line + 1, column=column + 1, width=1, excerpt=excerpt)

    def _follow(self, route: Route) -> list[tuple[Node | None, Node | None]]:
        """Return (key node, value node) for each step of a route that exists, the top first."""
        node = self._tree
        pairs: list[tuple[Node | None, Node | None]] = [(None, node)]
        for key in route[len(self.prefix) :]:
            step = _child(node, key)
            if step is None:
                break
            pairs.append(step)
            node = step[1]
        return pairs

    def _mark(self, node: Node) -> Span:
        start, end = node.start_mark, node.end_mark
        excerpt = self._lines[start.line] if start.line < len(self._lines) else ""
        stop = end.column if end.line == start.line else len(excerpt)
        width = max(1, stop - start.column)
        return Span(file=self.name, line=start.line + 1, column=start.column + 1, width=width, excerpt=excerpt)


def _inner(value: Any, key: str | int) -> Any:
    if type(value) is dict:
        return value.get(key, _ABSENT)
    if type(value) is list and isinstance(key, int) and key < len(value):
        return value[key]
    return _ABSENT


def _child(node: Node | None, key: str | int) -> tuple[Node, Node] | None:
    """Find an entry of a collection; a key that came in by `<<` is found where it is written."""
    if isinstance(node, SequenceNode):
        if isinstance(key, int) and 0 <= key < len(node.value):
            return node.value[key], node.value[key]
        return None
    if not isinstance(node, MappingNode):
        return None
    merged: list[Node] = []
    for key_node, value_node in node.value:
        if not isinstance(key_node, ScalarNode):
            continue
        if key_node.value == key:
            return key_node, value_node
        if key_node.value == "<<":
            merged.extend(value_node.value if isinstance(value_node, SequenceNode) else [value_node])
    found = (_child(source, key) for source in merged)
    return next((step for step in found if step), None)


LOOKALIKES = {
    0x2018: "'", 0x2019: "'", 0x201A: "'", 0x201C: '"', 0x201D: '"', 0x201E: '"', 0x2013: "-", 0x2014: "-",
    0x2212: "-", 0x00A0: " ", 0x3000: " ", 0xFF1A: ":", 0xFF0C: ",",
}  # fmt: skip
"""Characters of word processors and chats, and what was meant."""


def odd_characters(text: str) -> list[str]:
    """Name each character of a text that looks like another, or like nothing, by its code point."""
    if text.isascii() and text.isprintable():
        return []
    odd = [c for c in dict.fromkeys(text) if ord(c) in LOOKALIKES or (not c.isprintable() and c not in "\n\t")]
    return [describe(c) for c in odd]
