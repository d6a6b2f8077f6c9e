"""The events of a text from ruamel's C parser, and the tree of nodes, which knows where each key and value stands.

libyaml 0.1.7 refuses `:` and `?` inside an unquoted text between brackets, as in `{image: tf:1}` and `[a?b]`, which
libyaml 0.2 and YAML itself take. Such a text is read again with other characters in their place, one for one, so
that no position moves; they are put back into each scalar.

The tree is made only when a place is to be shown. It also knows what a part of the text takes from anchors outside of
it, by aliases and by merge keys.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from ruamel.yaml.cyaml import CParser  # type: ignore[attr-defined]  # it is imported there to be used so
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.events import AliasEvent, MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent
from ruamel.yaml.events import StreamEndEvent as _StreamEnd

from tfgitops.spec.yamltext.textfaults import TextError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from collections.abc import Set as AbstractSet

    Steps = tuple[str | int, ...]

T = TypeVar("T")

_OLD = re.compile("unexpected ':'|expected ','")
_ALIAS = re.compile(r"(?:^|[\s\[{,:])\*[^\s\[\]{},*]").search
_STANDS_FOR = {0xE03A: ":", 0xE03F: "?"}
_NAME = re.compile(r"(?<![^\s\[{,])([&*!][^\s,\[\]{}]*)")  # an anchor, an alias or a tag
_INSIDE_TEXT = {
    ":": re.compile(r"""(?:(?<=[^\s\[\]{},"'])|(?<=[\w./)] )):(?=[^\s,\[\]{}])"""),
    "?": re.compile(r"""(?:(?<=[^\s\[{,"'])|(?<=[\w./)] ))\?"""),
}


class Events:
    """The events of one text, one by one; `text` gives a scalar its value as it was written."""

    def __init__(self, text: str, *, spelled: bool = False) -> None:
        self.next: Callable[[], Any] = CParser(text).get_event
        self.spelled = spelled

    def text(self, event: Any) -> str:
        """Return the text of a scalar."""
        value: str = event.value
        return value.translate(_STANDS_FOR) if self.spelled else value


def read(text: str, build: Callable[[Events], T]) -> T:
    """Let a builder read the events of a text, twice if it must be spelled anew; raise TextError if it is no YAML."""
    spelled = text
    while True:
        try:
            return build(Events(spelled, spelled=spelled != text))
        except MarkedYAMLError as error:
            if spelled != text or not _OLD.search(str(error.problem)) or (spelled := respell(text)) == text:
                from tfgitops.spec.yamltext.reasons import explain  # noqa: PLC0415 - for faulty texts alone

                raise TextError([explain(text, spelled, error)]) from error


def respell(text: str) -> str:
    """Replace each `:` and `?` that only libyaml 0.1 takes for an indicator; where it is one, it stays."""
    if any(chr(code) in text for code in _STANDS_FOR):
        return text
    pieces = _NAME.split(text)
    for stand_in, char in _STANDS_FOR.items():
        pieces[::2] = [_INSIDE_TEXT[char].sub(chr(stand_in), piece) for piece in pieces[::2]]
    return "".join(pieces)


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
        found = (source.child(key) for source in self.sources())
        return next((entry for entry in found if entry), None)

    def keys(self) -> set[str]:
        """Return the keys of a map, with those that came in by `<<`."""
        return (self.entries.keys() - {"<<"}).union(*(source.keys() for source in self.sources()))

    def sources(self) -> list[Node]:
        """Return the maps that merge keys bring in, the strongest first."""
        if "<<" not in self.entries:
            return []
        merged = self.entries["<<"][1]
        return merged.items or [merged]

    @property
    def start(self) -> tuple[int, int]:
        """The line and the column at which the value begins."""
        return self.line, self.column


@lru_cache(maxsize=8)  # many environments extend one file
def compose(text: str) -> Node | None:
    """Return the tree of a text that `parse` has passed, or None for an empty one; it is not to be changed."""
    return read(text, _tree)


def _tree(events: Events) -> Node | None:
    anchors: dict[str, Node] = {}

    def make(event: Any) -> Node:
        kind = type(event)
        if kind is AliasEvent:
            return anchors[event.anchor]
        start, end = event.start_mark, event.end_mark
        node = Node(start.line, start.column, end.line, end.column)
        if event.anchor:
            node.anchor = event.anchor
            anchors[event.anchor] = node
        if kind is ScalarEvent:
            node.text = events.text(event)
            return node
        node.flow = bool(event.flow_style)
        while type(last := events.next()) not in (MappingEndEvent, SequenceEndEvent):
            inner = make(last)
            if kind is MappingStartEvent:
                node.entries[inner.text or ""] = (inner, make(events.next()))
            else:
                node.items.append(inner)
        node.end_line, node.end_column = last.end_mark.line, last.end_mark.column
        return node

    events.next()  # the stream begins
    return None if type(events.next()) is _StreamEnd else make(events.next())


def has_aliases(text: str) -> bool:
    """Tell whether a text may have an alias: where it says no, there is none."""
    return "&" in text and _ALIAS(text) is not None


def borrowed(key: Node | None, block: Node) -> Iterator[tuple[Steps, str]]:
    """Yield each route within a block whose value is an alias's of an anchor outside, with the anchor's name.

    What a merge key brought has no name: the merge key itself has, with the number of the source behind it.
    """
    if key is not None and block.start < key.start:  # the block is an alias itself
        return iter([((), block.anchor)])
    end = (block.end_line, block.end_column)
    return _borrowed(block, (), frozenset(), lambda node: not block.start <= node.start <= end)


def _borrowed(
    node: Node, at: Steps, said: AbstractSet[str], is_outside: Callable[[Node], bool]
) -> Iterator[tuple[Steps, str]]:
    """Yield what is borrowed in a value that stands here, but for the keys that were said before."""
    inner: list[tuple[str | int, Node]] = [*enumerate(node.items)]
    inner += [(key, value) for key, (_, value) in node.entries.items() if key != "<<" and key not in said]
    for step, value in inner:
        if is_outside(value):
            yield (*at, step), value.anchor
        else:
            yield from _borrowed(value, (*at, step), frozenset(), is_outside)
    said = {*said, *node.entries}
    for index, source in enumerate(node.sources()):  # an earlier source wins over a later one
        if is_outside(source):
            yield (*at, "<<", index), source.anchor or node.entries["<<"][1].anchor
            yield from (((*at, key), "") for key in source.keys() - said)
        else:
            yield from _borrowed(source, at, said, is_outside)
        said |= source.keys()
