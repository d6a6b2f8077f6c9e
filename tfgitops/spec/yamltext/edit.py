"""Put one entry into a map of a text, or take one out, and leave every other byte of the text as it is.

A round trip through a library would lay out anew what it did not have to touch. So the tree of nodes says where to cut,
and what comes of it is read again: it must be the old value with that one change, and nothing else.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from tfgitops.spec.yamltext.textfaults import TextError
from tfgitops.spec.yamltext.tree import Node, compose
from tfgitops.spec.yamltext.values import parse, scalar
from tfgitops.targets.routes import MISSING, replaced, value_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Value = str | Mapping[str, "Value"]
    Route = tuple[str, ...]
    Cut = tuple[int, int, str]

_BREAK = re.compile(r"\r\n|\r|\n")
_REST_OF_LINE = re.compile(r"[ \t]*(?:(?<=[ \t])#[^\r\n]*)?(?=[\r\n]|\Z)").match
_BLANKS = re.compile(r"[ \t]*").match
_COMMA_BEHIND = re.compile(r"[ \t]*,[ \t]*").match
_MARK: Final = "\ufeff"


class EditError(Exception):
    """Edits that would change something else, too, as where an alias stands for the map; ``routes`` are theirs."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self.routes = tuple(routes)
        super().__init__(", ".join(".".join(route) for route in self.routes))


def edited(raw: str, changes: Mapping[Route, Value | None]) -> str:
    """Return a file's text with some entries put into their maps, replaced or taken out.

    A map that loses its last entry becomes ``{}``. A comment at the end of the line of an entry that is taken out goes
    with it; those on lines of their own stay. ``changes`` gives each entry's new value by its route: a text that needs
    no quotes, maps of such, or None to take it out. All keys of a route but the last lead to a map that is written.
    Raises EditError if some of it cannot be done without changing anything else.
    """
    try:
        text = _Text(raw)
        cuts = [next(_ways(text, route, value)) for route, value in changes.items()]
        expected = value_of(raw)
        for route, value in changes.items():
            expected = _changed(expected, route, value)
        found = text.cut(cut for way in cuts for cut in way)
        if _says(found, expected):
            return found
    except (_NoWayError, StopIteration, TextError):
        pass
    return _one_by_one(raw, changes)


def with_keys(raw: str, keys: Iterable[tuple[Node, str]]) -> str:
    """Return a file's text with other names of some keys, which the tree of the text has."""
    text = _Text(raw)
    return text.cut({(text.start(key), text.end(key), _key(name)) for key, name in keys})


def _one_by_one(raw: str, changes: Mapping[Route, Value | None]) -> str:
    failed = []
    for route, value in changes.items():
        try:
            text = _Text(raw)
            ways = _ways(text, route, value)
            expected = _changed(value_of(raw), route, value)
            raw = next(found for found in map(text.cut, ways) if _says(found, expected))
        except (_NoWayError, StopIteration):
            failed.append(route)
    if failed:
        raise EditError(failed)
    return raw


def _says(raw: str, expected: Any) -> bool:
    try:
        return bool(value_of(raw) == expected)
    except TextError:
        return False


def value_of(raw: str) -> Any:
    """Return the value of a text as it lies in its file."""
    return parse(_plain(raw))


def lines_of(raw: str, routes: Iterable[Route]) -> list[int]:
    """Return the lines, counted from 1, on which the keys at some routes, or the nearest above them, are written."""
    tree, lines = compose(_plain(raw)), []
    for route in routes:
        line, node = 0, tree
        for key in route:
            if not node or not (found := node.child(key)):
                break
            line, node = found[0].line, found[1]
        lines.append(line + 1)
    return lines


class _NoWayError(Exception):
    """One change that cannot be made."""


def _plain(raw: str) -> str:
    return _BREAK.sub("\n", raw.removeprefix(_MARK))


class _Text:
    """A text as it lies in its file, and where the lines of its tree are in it."""

    def __init__(self, raw: str) -> None:
        self.raw = raw
        start = len(_MARK) if raw.startswith(_MARK) else 0
        breaks = [*_BREAK.finditer(raw)]
        self.starts = [start, *(match.end() for match in breaks)]
        self.eol = breaks[0][0] if breaks else "\n"
        self.tree = compose(_plain(raw))

    def follow(self, route: Route) -> tuple[Node | None, Node]:
        """Return the key above a map, and the map, both written where they stand."""
        key, node = None, self.tree
        for name in route:
            key, node = node.entries.get(name, (None, None)) if node else (None, None)
        if node is None or node.text is not None or node.items or (key and node.start < key.start):  # an alias
            raise _NoWayError
        return key, node

    def at(self, line: int, column: int = 0) -> int:
        return self.starts[line] + column if line < len(self.starts) else len(self.raw)

    def start(self, node: Node) -> int:
        return self.at(node.line, node.column)

    def end(self, node: Node) -> int:
        return self.at(node.end_line, node.end_column)

    def indentation(self, node: Node) -> str | None:
        """Return what stands before a node on its line, if these are only blanks."""
        before = self.raw[self.at(node.line) : self.start(node)]
        return None if before.strip(" ") else before

    def cut(self, cuts: Iterable[Cut]) -> str:
        """Make some cuts, which may touch each other, but not overlap."""
        pieces, done = [], 0
        for start, end, instead in sorted(cuts, key=lambda cut: cut[:2]):
            if start < done:
                raise _NoWayError
            pieces += [self.raw[done:start], instead]
            done = end
        return "".join((*pieces, self.raw[done:]))

    def lines(self, first: int, last: int, instead: str = "") -> Cut:
        """Take out whole lines; where the last line has no end, the line before it shall have none either."""
        start, end = self.at(first), self.at(last + 1)
        if end == len(self.raw) and not self.raw.endswith(("\n", "\r")) and not instead and first:
            start = len(_BREAK.sub("", self.raw[self.at(first - 1) : start])) + self.at(first - 1)
        return start, end, instead


def _ways(text: _Text, route: Route, value: Value | None) -> Iterator[list[Cut]]:
    """Yield the ways to make one change, the best first."""
    above, parent = text.follow(route[:-1])
    key = route[-1]
    if value is None:
        if key not in parent.entries:
            raise _NoWayError
        return (_out_of_brackets if parent.flow else _out_of_block)(text, above, parent, key)
    if key in parent.entries:
        old, written = parent.entries[key][1], _flow(value)
        blank = "" if text.raw[text.start(old) - 1] == " " else " "
        return iter([[(text.start(old), text.end(old), f"{blank}{written}")]])
    if parent.flow:
        return _into_brackets(text, parent, f"{_key(key)}: {_flow(value)}")
    return _into_block(text, above, parent, key, value)


def _into_brackets(text: _Text, parent: Node, entry: str) -> Iterator[list[Cut]]:
    """Put an entry before the first one between brackets, on a line of its own where that one has one."""
    if not parent.entries:
        yield [(text.end(parent) - 1, text.end(parent) - 1, entry)]
        return
    first = next(iter(parent.entries.values()))[0]
    indentation, start = text.indentation(first), text.start(first)
    if indentation is not None and first.line > parent.line:
        yield [(start, start, f"{entry},{text.eol}{indentation}")]
    yield [(start, start, f"{entry}, ")]


def _into_block(text: _Text, above: Node | None, parent: Node, key: str, value: Value) -> Iterator[list[Cut]]:
    """Put an entry on lines of its own: at the end of a file, else below the key of its map, or below `kind`."""
    first = next(iter(parent.entries.values()))[0]
    indentation = text.indentation(first)
    if indentation is None:
        return
    lines = text.eol.join(_block(key, value, indentation))
    if above is None and not isinstance(value, str):
        end = len(text.raw)
        ended = not text.raw or text.raw.endswith(("\n", "\r"))
        yield [(end, end, f"{lines}{text.eol}" if ended else f"{text.eol}{lines}")]
    over = above or parent.entries.get("kind", (None, None))[1]
    below = [over.line + 1] if over is not None and (above is None or first.line > over.line) else []
    for start in map(text.at, (*below, first.line)):
        yield [(start, start, f"{lines}{text.eol}")]


def _out_of_brackets(text: _Text, _above: Node | None, parent: Node, key: str) -> Iterator[list[Cut]]:
    name, value = parent.entries[key]
    start, end = text.start(name), text.end(value)
    if comma := _COMMA_BEHIND(text.raw, end):
        end = comma.end()
    names = list(parent.entries)
    alone = text.indentation(name) is not None and _REST_OF_LINE(text.raw, end)
    if alone and (comma or len(names) == 1):
        yield [text.lines(name.line, value.end_line)]
    if not comma and names[0] != key:
        before = text.end(parent.entries[names[names.index(key) - 1]][1])
        if not text.raw[before:start].strip(" ,"):
            yield [(before, end, "")]
        for index in (i for i in range(before, start) if text.raw[i] == ","):
            yield [(index, index + 1, ""), text.lines(name.line, value.end_line) if alone else (start, end, "")]
    blank = _BLANKS(text.raw, end) if text.raw[start - 1] == " " and not comma else None
    yield [(start, blank.end() if blank else end, "")]


def _out_of_block(text: _Text, above: Node | None, parent: Node, key: str) -> Iterator[list[Cut]]:
    name, value = parent.entries[key]
    indentation, last = text.indentation(name), _last_line(value)
    if indentation is None:
        return
    if len(parent.entries) > 1:
        yield [text.lines(name.line, last)]
    elif above is None:
        yield [text.lines(name.line, last, f"{indentation}{{}}{text.eol}")]
    else:
        colon = text.raw.index(":", text.end(above)) + 1
        yield [(colon, colon, " {}"), text.lines(name.line, last)]


def _last_line(node: Node) -> int:
    """Return the last line on which something of a value is written."""
    inner = [*node.items, *(value for _, value in node.entries.values())]
    if inner and not node.flow:
        return max(map(_last_line, inner))
    return node.end_line - (node.end_column == 0 and node.end_line > node.line)


def _key(key: str) -> str:
    return key if scalar(key) == key else f"'{key}'"


def _flow(value: Value) -> str:
    if isinstance(value, str):
        return value
    return "{" + ", ".join(f"{_key(key)}: {_flow(inner)}" for key, inner in value.items()) + "}"


def _block(key: str, value: Value, indentation: str) -> Iterator[str]:
    """Yield the lines of an entry; a map of texts stays on one line."""
    if isinstance(value, str) or all(isinstance(inner, str) for inner in value.values()):
        yield f"{indentation}{_key(key)}: {_flow(value)}"
        return
    yield f"{indentation}{_key(key)}:"
    for name, inner in value.items():
        yield from _block(name, inner, f"{indentation}  ")


def _changed(value: Any, route: Route, wanted: Value | None) -> Any:
    """Return a value with one change, made in copies: what aliases share is changed at this place alone."""
    if wanted is None:
        return replaced(value, route, MISSING)
    return replaced(value, route[:-1], {**value_at(value, route[:-1]), route[-1]: wanted})
