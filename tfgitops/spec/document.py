"""One file of a spec: its text, its plain value, and the place of any route in it, looked up when asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tfgitops.spec.diagnostics import Span
from tfgitops.spec.disk import shown
from tfgitops.spec.yamltext import borrowed, compose, has_aliases
from tfgitops.targets.routes import MISSING, reach, replaced

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tfgitops.spec.diagnostics import Words
    from tfgitops.spec.yamltext import Node
    from tfgitops.targets.routes import Route

_BEGIN = re.compile(r"(?:[&!]\S*\s+)*([|>].*\n?)?")
"""The anchor and the tag before a value, and the header of a block scalar."""


@dataclass(frozen=True, kw_only=True)
class Document:
    """A file that was read: ``value`` stands at ``prefix`` of the merged spec, ``()`` for a whole environment.

    When it has been validated, ``value`` has its short forms widened: routes are those of the wide form. It then has
    the texts of other files that its keys name, too: ``texts`` are the paths of these files by the routes of the texts.
    Its keys have their present names: ``former`` are the names in the file, by the routes of keys that have another.
    """

    path: Path
    name: str
    text: str
    value: Any
    prefix: Route = ()
    texts: Mapping[Route, Path] = field(default_factory=dict, repr=False)
    former: Mapping[Route, str] = field(default_factory=dict, repr=False)

    @property
    def is_named(self) -> bool:
        """Whether this is a spec by its name, or says so: of another file that is wrong, no line must be shown."""
        return bool(self.prefix) or self.path.name == "environment.yaml" or "tfgitops/v" in self.text

    @cached_property
    def bare(self) -> Document:
        """The document without the texts of other files."""
        value = self.value
        for route in self.texts:
            value = replaced(value, route[len(self.prefix) :], MISSING)
        return replace(self, value=value, texts={}) if self.texts else self

    def file_texts(self) -> Iterator[Any]:
        """Yield the texts of other files that stand in the value."""
        return (reach(self.value, route[len(self.prefix) :]) for route in self.texts)

    @property
    def jobs(self) -> Mapping[str, Any]:
        """The block of each job that this file gives, by name; there may be anything in place of a block."""
        if self.prefix:
            return {str(self.prefix[-1]): self.value}
        jobs = self.value.get("jobs")
        return jobs if type(jobs) is dict else {}

    @cached_property
    def _tree(self) -> Node | None:
        return compose(self.text)

    @cached_property
    def _lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def has_aliases(self) -> bool:
        """Whether something in this file may stand for something else in it."""
        return has_aliases(self.text)

    def borrowed(self, route: Route) -> Iterator[tuple[Route, str]]:
        """Yield each route below one whose value is an alias's of an anchor outside, with the anchor's name or none."""
        key, value = self._follow(route)[-1]
        found = borrowed(key, value) if self.has_aliases and value is not None else iter(())
        return ((self._present(route, steps), name) for steps, name in found) if self.former else found

    def _present(self, above: Route, steps: Route) -> Route:
        """Return some steps below a route, which are as in the file, with the present names of keys."""
        names = {(*at[:-1], name): at[-1] for at, name in self.former.items()}
        at = above
        for step in steps:
            at = (*at, names.get((*at, step), step))
        return at[len(above) :]

    def depth(self, route: Route) -> int:
        """Count how many keys of a route are written in this file, its prefix included; -1 outside the prefix."""
        start = len(self.prefix)
        if route[:start] != self.prefix:
            return -1
        value = self.value
        for count, key in enumerate(route[start:], start):
            value = reach(value, (key,))
            if value is MISSING:
                return count
        return len(route)

    def span(self, route: Route, *, on_key: bool = False, words: Words | None = None) -> Span:
        """Find the place of a route, or of its nearest parent that is written here.

        It is that of the value, or of its ``words`` if they are found in it; with ``on_key``, or of a collection, the
        key's. The text of another file is at the top of that file.
        """
        if path := self.texts.get(route):  # which is not for everyone to see
            return Span(file=shown(path), line=1, column=1)
        pairs = self._follow(route)
        key, value = pairs[-1]
        complete = len(self.prefix) + len(pairs) > len(route) or self.depth(route) == len(route)  # a short form
        if key is None:
            return self.span_at(0, 0) if value is None else self._mark(value)
        if not (value and value.text and complete) or on_key:
            return self._mark(key)
        return self._find(words, value) or self._mark(value)

    def former_keys(self) -> list[tuple[Node, str]]:
        """Return each key that stands here under a former name, with its present name."""
        found = [(self._follow(route)[-1][0], str(route[-1])) for route in self.former]
        return [(key, name) for key, name in found if key]

    def written(self, route: Route) -> Route:
        """Return the part of a route that stands in this file: without the keys of a short form."""
        return route[: len(self.prefix) + len(self._follow(route)) - 1]

    def home(self, route: Route) -> Route:
        """Return the route at which a value stands in this file, where an alias or a merge key leads to it."""
        written = self.written(route)
        if not self.has_aliases:
            return written
        return self._homes.get(id(self._follow(written)[-1][1]), written)

    def link(self, route: Route) -> tuple[Route, list[Route]] | None:
        """Return the outermost alias or merge key at or above a route, and where its anchors stand; None without."""
        node, at = self._tree if self.has_aliases else None, self.prefix
        for key in route[len(self.prefix) :]:
            if node and isinstance(key, str) and key not in node.entries and "<<" in node.entries:
                return (*at, "<<"), [self._homes.get(id(source), ()) for source in node.sources()]
            step = node.child(key) if node else None
            if step is None:
                break
            at, node = (*at, key), step[1]
            if (home := self._homes[id(node)]) != at:
                return at, [home]
        return None

    @cached_property
    def _homes(self) -> dict[int, Route]:
        """The route of each node, an anchor's being the first."""
        homes: dict[int, Route] = {}

        def note(route: Route, node: Node) -> None:
            if homes.setdefault(id(node), route) is route:
                for key, (_, value) in node.entries.items():
                    if key != "<<":
                        note((*route, key), value)
                for index, item in enumerate(node.items):
                    note((*route, index), item)

        if self._tree:
            note(self.prefix, self._tree)
        return homes

    def literal(self, route: Route) -> str:
        """Return the value of a route as it is written, where it is on one line; else nothing."""
        node = self._follow(route)[-1][1]
        if node is None or node.line != node.end_line:
            return ""
        return self._line(node.line)[node.column : node.end_column]

    def _line(self, number: int) -> str:
        return self._lines[number] if number < len(self._lines) else ""

    def span_at(self, line: int, column: int, width: int = 1) -> Span:
        """Make a span from a line and column that count from 0."""
        return Span(file=self.name, line=line + 1, column=column + 1, width=width, excerpt=self._line(line))

    def _follow(self, route: Route) -> list[tuple[Node | None, Node | None]]:
        """Return (key node, value node) for each step of a route that exists, the top first."""
        pairs: list[tuple[Node | None, Node | None]] = [(None, self._tree)]
        for end, key in enumerate(route[len(self.prefix) :], len(self.prefix) + 1):
            node = pairs[-1][1]
            step = node.child(self.former.get(route[:end], key)) if node else None
            if step is None:
                break
            pairs.append(step)
        return pairs

    def _find(self, words: Words | None, node: Node) -> Span | None:
        """Find words of a text: on their line, where it is written line by line, else where they first stand in it.

        Words without a line are looked for only in a text of several lines, and not where a second ``$`` escapes them.
        """
        if not words or not words.text or (words.line is None and node.line == node.end_line):
            return None
        text = "\n".join(self._lines[node.line : node.end_line + 1])
        begin = _BEGIN.match(text, node.column)
        assert begin, "the pattern matches nothing, too"
        at, stop = begin.end(), text.rfind("\n") + 1 + node.end_column
        unescaped = r"(?<!\$)" if words.line is None else ""
        if begin[1] and begin[1].startswith("|"):
            for _ in range(words.line or 0):
                at = text.find("\n", at) + 1
        end = r"(?!\w)" if words.text[-1].isalnum() else ""
        for before in dict.fromkeys((words.before, "")):
            pattern = re.compile(f"{re.escape(before)}{unescaped}({re.escape(words.text)}){end}")
            if match := pattern.search(text, at, stop):
                start = match.start(1)
                column = start - text.rfind("\n", 0, start) - 1
                return self.span_at(node.line + text.count("\n", 0, start), column, len(words.text))
        return None

    def _mark(self, node: Node) -> Span:
        stop = node.end_column if node.end_line == node.line else len(self._line(node.line))
        return self.span_at(node.line, node.column, max(1, stop - node.column))
