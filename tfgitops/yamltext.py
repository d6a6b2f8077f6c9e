"""YAML text to plain values, in bounded time and memory, with every scalar kept as it was written.

Only ``true``, ``false``, ``null``, ``~``, an empty value and plain decimal integers are typed; ``1.10``, ``no``,
``25921e05`` and ``2026-01-01`` stay text (design 2, *Scalars*). Reading is by ruamel's C parser, which composes a
tree of nodes; positions are taken from such a tree only when something is to be shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from ruamel.yaml import YAML
from ruamel.yaml.cyaml import CParser  # type: ignore[attr-defined]  # it is imported there to be used so
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode
from ruamel.yaml.reader import ReaderError
from ruamel.yaml.tag import Tag

MAX_BYTES = 16 * 2**20
MAX_DEPTH = 100
MAX_NODES = 1_000_000

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})\Z").match
_CONSTANTS = {"": None, "~": None, "null": None, "true": True, "false": False}
_BRACKET = re.compile(r"[\[\]{}]")
_DIRECTIVE = re.compile(r"\A(?:[ \t]*(?:#[^\n]*)?\n)*%")
_BLOCK_PREFIX = re.compile(r"^(?:[ ]|[-?:][ ])*", re.MULTILINE)

_PLAIN, _QUOTED, _COLLECTION = Tag(suffix="plain"), Tag(suffix="quoted"), Tag(suffix="collection")


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a text, at a line and column that count from 0."""

    code: str
    message: str
    line: int
    column: int
    hint: str = ""
    also: tuple[str, int, int] | None = None


class TextError(Exception):
    """Raised by `parse` with every fault that it found."""

    def __init__(self, faults: list[Fault]) -> None:
        self.faults = faults
        super().__init__("; ".join(f.message for f in faults))


class _Resolver:
    """Stands in for ruamel's resolver: says how a scalar was written, and leaves its type to `_scalar`.

    It is called for nodes without an explicit tag only, so that any other tag on a node was written by the user.
    """

    processing_version = None

    def __init__(self, version: Any = None, loader: Any = None, loadumper: Any = None) -> None:
        del version, loader, loadumper

    def resolve(self, kind: type[Node], value: Any, implicit: Any) -> Tag:
        del value
        if kind is ScalarNode:
            return _PLAIN if implicit[0] else _QUOTED
        return _COLLECTION

    def descend_resolver(self, *_: Any) -> None:
        """Path resolvers are not used."""

    ascend_resolver = descend_resolver


def compose(text: str) -> Node | None:
    """Return the tree of nodes of a text that `check_depth` has passed, or None for an empty one.

    Raises:
        TextError: the text is not YAML, or has more than one document.
    """
    yaml = YAML(typ="safe")
    yaml.Resolver = _Resolver
    try:
        return cast("Node | None", yaml.compose(text))
    except ReaderError as error:
        line = text.count("\n", 0, error.position)
        column = error.position - (text.rfind("\n", 0, error.position) + 1)
        fault = Fault("TF103", f"the control character U+{ord(text[error.position]):04X}", line, column)
        raise TextError([fault]) from error
    except MarkedYAMLError as error:
        raise TextError([_syntax_fault(text, error)]) from error
    except YAMLError as error:
        raise TextError([Fault("TF103", str(error).split("\n", 1)[0], 0, 0)]) from error


def parse(text: str) -> Any:
    """Turn the text of one file into dicts, lists, strings, integers, booleans and None.

    Raises:
        TextError: with all faults of the text, each with its place.
    """
    if directive := _DIRECTIVE.match(text):
        line = text.count("\n", 0, directive.end())
        raise TextError([Fault("TF105", "a directive ('%') is not allowed", line, 0, "remove this line")])
    check_depth(text)
    node = compose(text)
    if node is None:
        return None
    builder = _Builder()
    value = builder.build(node)
    if builder.faults:
        raise TextError(builder.faults)
    return value


def check_depth(text: str) -> None:
    """Refuse what nests deeper than `MAX_DEPTH`, before the C parser sees it: deep text crashes its process."""
    depth = deepest = 0
    for match in _BRACKET.finditer(text):
        depth += 1 if match[0] in "[{" else -1
        deepest = max(deepest, depth)
    prefix = max((len(m[0]) for m in _BLOCK_PREFIX.finditer(text)), default=0)
    if deepest + prefix <= MAX_DEPTH:
        return
    # Brackets may stand in strings, and blanks in long lines: now count what the parser itself meets.
    depth = 0
    try:
        parser = CParser(text)
        while parser.check_event():
            event = parser.get_event()
            kind = type(event).__name__
            depth += kind.endswith("StartEvent") - kind.endswith("EndEvent")
            if depth > MAX_DEPTH + 2:  # the stream and the document count too
                mark = event.start_mark
                message = f"more than {MAX_DEPTH} levels of nesting"
                raise TextError([Fault("TF106", message, mark.line, mark.column, "a spec needs about ten")])
    except YAMLError:
        return  # compose says what is wrong


class _Builder:
    """Builds plain values from nodes, counts what aliases expand to, and collects faults on the way."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.count = 0
        self._open: set[int] = set()

    def build(self, node: Node) -> Any:
        self.count += 1
        if self.count > MAX_NODES:
            message = f"aliases expand this to more than {MAX_NODES:,} values"
            raise TextError([self._fault(node, "TF106", message, "write it out, or use `defaults` or `from`")])
        if type(node) is ScalarNode:
            if node.ctag is _PLAIN:
                return scalar(node.value)
            if node.ctag is not _QUOTED:
                self._refuse_tag(node)
            return node.value
        if node.ctag is not _COLLECTION:
            self._refuse_tag(node)
        mark = id(node)
        if mark in self._open:
            raise TextError([self._fault(node, "TF106", "an alias refers to a value that contains it")])
        self._open.add(mark)
        value = self._mapping(node) if type(node) is MappingNode else [self.build(n) for n in node.value]
        self._open.discard(mark)
        return value

    def _mapping(self, node: MappingNode) -> dict[str, Any]:
        value: dict[str, Any] = {}
        merged: list[dict[str, Any]] = []
        first: dict[str, Node] = {}
        for key_node, value_node in node.value:
            if type(key_node) is not ScalarNode:
                self.faults.append(self._fault(key_node, "TF105", "a key must be a plain word"))
                continue
            if key_node.ctag is not _PLAIN and key_node.ctag is not _QUOTED:
                self._refuse_tag(key_node)
            key = key_node.value
            if key in first:
                earlier = first[key].start_mark
                self.faults.append(self._duplicate(key_node, earlier))
                continue
            first[key] = key_node
            if key == "<<" and key_node.ctag is _PLAIN:
                merged.extend(self._merge_sources(value_node))
            else:
                value[key] = self.build(value_node)
        for source in merged:  # an earlier source wins over a later one, and what is written here over both
            for key, inherited in source.items():
                value.setdefault(key, inherited)
        return value

    def _merge_sources(self, node: Node) -> list[dict[str, Any]]:
        built = self.build(node)
        sources = built if type(built) is list else [built]
        if all(type(source) is dict for source in sources):
            return sources
        self.faults.append(self._fault(node, "TF105", "`<<` takes a map, or a list of maps"))
        return []

    def _refuse_tag(self, node: Node) -> None:
        hint = "quote the value, and leave the tag out"
        self.faults.append(self._fault(node, "TF105", f"the tag {node.tag!r} is not allowed", hint))

    def _duplicate(self, node: Node, earlier: Any) -> Fault:
        start = node.start_mark
        message = f"the key '{node.value}' is given twice, in line {earlier.line + 1} and line {start.line + 1}"
        also = ("first given here", earlier.line, earlier.column)
        return Fault("TF104", message, start.line, start.column, "keep one of the two", also)

    def _fault(self, node: Node, code: str, message: str, hint: str = "") -> Fault:
        return Fault(code, message, node.start_mark.line, node.start_mark.column, hint)


def scalar(text: str) -> Any:
    """Give a plain scalar its value: text, unless it is one of the few typed forms."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    return int(text) if _INTEGER(text) else text


_SYNTAX = [
    (re.compile(pattern), message, hint)
    for pattern, message, hint in (
        ("cannot start any token", "a {char} cannot stand here", "quote the text"),
        ("tab", "a tab is used for indentation", "indent with blanks; YAML does not allow tabs"),
        ("mapping values are not allowed", "a second ':' in one entry", "quote the text if the ':' belongs to it"),
        ("could not find expected ':'", "an entry without ':'", "put a blank after the ':', as in `key: value`"),
        ("found unexpected ':'", "a ':' in a text between braces or brackets", "quote the text"),
        ("did not find expected key", "this entry does not line up with those above", "indent it like them"),
        ("did not find expected '-' indicator", "a list entry without '-'", "start it with '- '"),
        (r"expected ',' or '\]'", "a list '[' that is not closed", "close it with ']'"),
        (r"expected ',' or '\}'", "a map '{{' that is not closed", "close it with '}'"),
        ("unexpected end of stream", "a quoted text that is not closed", "close the quotes"),
        ("undefined alias", "an alias to an anchor that does not exist", "define it with '&' above"),
        ("duplicate anchor", "one anchor is defined twice", "give the second another name"),
        ("not allowed", "a block cannot start here", "begin it on a line of its own"),
    )
]
"""What libyaml says, and what we say for it."""


def _syntax_fault(text: str, error: MarkedYAMLError) -> Fault:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line, mark.column) if mark else (0, 0)
    problem = str(error.problem or error.context or error)
    if "expected a single document" in str(error.context):
        message = "a spec is one document; a second one starts here"
        return Fault("TF105", message, line, column, "one file for each environment")
    lines = text.split("\n")
    written = lines[line] if line < len(lines) else ""
    said = partial(Fault, "TF103", line=line, column=column)
    if written[column : column + 1] == "\t" or (written[:column].strip(" ") == "" and "\t" in written[: column + 1]):
        return said("a tab is used for indentation", hint="indent with blanks; YAML does not allow tabs")
    if slashes := _slashes(lines, line):
        return Fault("TF103", "'//' does not start a comment", *slashes, "comments start with '#'")
    if glued := _glued_colon(lines, line):
        message = f"no blank after the ':' of '{glued[2]}'"
        return Fault("TF103", message, glued[0], glued[1], f"write `{glued[2]}: …`")
    for pattern, message, hint in _SYNTAX:
        if pattern.search(problem):
            char = repr(written[column : column + 1])
            return said(message.format(char=char), hint=hint)
    return said(problem)


def _slashes(lines: list[str], line: int) -> tuple[int, int] | None:
    """Find a `//` comment in the line of an error, or just above it."""
    for number in (line, line - 1):
        if 0 <= number < len(lines) and (match := re.match(r"\s*//", lines[number])):
            return number, match.end() - 2
    return None


def _glued_colon(lines: list[str], line: int) -> tuple[int, int, str] | None:
    """Find `key:value` without its blank, in the line of an error or just above it."""
    for number in (line, line - 1):
        if 0 <= number < len(lines):
            match = re.match(r"\s*(?:- )?([A-Za-z][\w-]*):(?=[^\s:/])", lines[number])
            if match:
                return number, match.end() - 1, match[1]
    return None
