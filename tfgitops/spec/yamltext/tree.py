"""The tree of nodes of a text, which knows where each key and value stands: made only when one is to be shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml.events import AliasEvent, MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent
from ruamel.yaml.events import StreamEndEvent as _StreamEnd

from tfgitops.spec.yamltext.events import Events, read


@dataclass(slots=True)
class Node:
    """One value as it is written: a scalar has text, a list items, a map entries; line and column count from 0.

    ``flow`` is whether a collection stands between brackets; an alias is the node that it stands for, whose ``anchor``
    it names.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    text: str | None = None
    flow: bool = False
    anchor: str = ""
    items: list[Node] = field(default_factory=list)
    entries: dict[str, tuple[Node, Node]] = field(default_factory=dict)

    def child(self, key: str | int) -> tuple[Node, Node] | None:
        """Find an entry, as its key and its value; a key that came in by `<<` is found where it is written."""
        if isinstance(key, int):
            return (self.items[key], self.items[key]) if 0 <= key < len(self.items) else None
        if key in self.entries:
            return self.entries[key]
        found = (source.child(key) for source in self._sources())
        return next((entry for entry in found if entry), None)

    def keys(self) -> set[str]:
        """Return the keys of a map, with those that came in by `<<`."""
        return (self.entries.keys() - {"<<"}).union(*(source.keys() for source in self._sources()))

    def _sources(self) -> list[Node]:
        if "<<" not in self.entries:
            return []
        merged = self.entries["<<"][1]
        return merged.items or [merged]


def compose(text: str) -> Node | None:
    """Return the tree of a text that `parse` has passed, or None for an empty one."""
    return read(text, lambda events: _Composer(events).document())


class _Composer:
    def __init__(self, events: Events) -> None:
        self._events = events
        self._next = events.next
        self._anchors: dict[str, Node] = {}

    def document(self) -> Node | None:
        self._next()  # the stream begins
        return None if type(self._next()) is _StreamEnd else self._node(self._next())

    def _node(self, event: Any) -> Node:
        kind = type(event)
        if kind is AliasEvent:
            return self._anchors[event.anchor]
        start, end = event.start_mark, event.end_mark
        node = Node(start.line, start.column, end.line, end.column)
        if event.anchor:
            node.anchor = event.anchor
            self._anchors[event.anchor] = node
        if kind is ScalarEvent:
            node.text = self._events.text(event)
            return node
        node.flow = bool(event.flow_style)
        if kind is MappingStartEvent:
            while type(last := self._next()) is not MappingEndEvent:
                key = self._node(last)
                node.entries[key.text or ""] = (key, self._node(self._next()))
        else:
            while type(last := self._next()) is not SequenceEndEvent:
                node.items.append(self._node(last))
        node.end_line, node.end_column = last.end_mark.line, last.end_mark.column
        return node
