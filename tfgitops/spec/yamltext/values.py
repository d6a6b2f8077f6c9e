"""Build plain values from the events of a text.

Only ``true``, ``false``, ``null``, ``~``, an empty value and plain decimal integers are typed; ``1.10``, ``no``,
``25921e05`` and ``2026-01-01`` stay text (docs/spec.md, *Scalars*).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NoReturn

from ruamel.yaml.events import AliasEvent, MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent
from ruamel.yaml.events import StreamEndEvent as _StreamEnd

from tfgitops.spec.bounds import DEPTH, EACH, ENTRIES, EXPANDED, FAULTS, SCALAR
from tfgitops.spec.yamltext.textfaults import TextError, also_at, fault, refused_characters
from tfgitops.spec.yamltext.tree import Events, read

if TYPE_CHECKING:
    from tfgitops.spec.diagnostics import Diagnostic
    from tfgitops.spec.yamltext.textfaults import Also

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})\Z").match
_DIGITS = frozenset("-0123456789")
_CONSTANTS = {"": None, "~": None, "null": None, "true": True, "false": False}
_MINE, _THEIRS = "<" * 7, ">" * 7
_CONFLICT = re.compile(r"^(<{7}|>{7})(?: .*)?$", re.MULTILINE).search
_DIRECTIVE = re.compile(r"\A(?:[ \t]*+(?:#[^\n]*+)?\n)*+(%[^\n]*)")
_TAG = re.compile(r"(?:&\S+\s+)?(!<[^>\n]*>|![^\s,\[\]{}]*)")
_GLUED_KEY = re.compile(r"([A-Za-z][\w-]*) ?:(?!/)")
_SHAPES: dict[type, str] = {dict: "map", list: "list"}
_OPEN = object()
_TOO_DEEP = (f"more than {DEPTH} levels of nesting", "a spec needs about ten")
_TOO_MANY = (f"more than {ENTRIES:,} entries in one map or list", "split it, such as into several environments")
_TOO_LONG = (f"a text of more than {SCALAR:,} characters", "put it into a file, the image or a volume")
_TOO_LARGE = (
    f"the file holds more than {EXPANDED >> 20} MiB, where each value counts {EACH} bytes",
    "split it into jobs/*.yaml; write aliases out, or use `defaults` or `from`",
)


def parse(text: str, name: str = "") -> Any:
    """Turn the text of one file into dicts, lists, strings, integers, booleans and None; ``name`` is for faults.

    Raises TextError with all faults of the text, each with its place.
    """
    return measured(text, name)[0]


def measured(text: str, name: str) -> tuple[Any, int]:
    """Return the value of a text as `parse` does, and its size: that of `bounds.expanded`, but for the keys."""
    try:
        _refuse(text)
        return read(text, lambda events: _Builder(text, events).document())
    except TextError as error:
        raise error.placed(text, name) from error


def _refuse(text: str) -> None:
    """Refuse a text that need not be parsed to see that it is none of ours."""
    if (_MINE in text or _THEIRS in text) and (conflict := _CONFLICT(text)):
        line = text.count("\n", 0, conflict.start())
        hint = "resolve the merge, then build"
        raise TextError([fault("TF107", "Git left its conflict markers here", line, 0, hint, len(conflict[0]))])
    if faults := [*refused_characters(text)]:
        raise TextError(faults)
    if directive := _DIRECTIVE.match(text):
        line = text.count("\n", 0, directive.start(1))
        message = f"the directive '{directive[1].split()[0]}' is not allowed"
        raise TextError([fault("TF105", message, line, 0, "leave this line out", len(directive[1]))])


def scalar(text: str) -> Any:
    """Give a plain scalar its value: text, unless it is one of the few typed forms."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    return int(text) if text[:1] in _DIGITS and _INTEGER(text) else text


class _Builder:
    """Builds one value, counts what it is made of as it grows, and collects faults on the way."""

    def __init__(self, text: str, events: Events) -> None:
        self._source = text
        self._next, self._text, self._spelled = events.next, events.text, events.spelled
        self._faults: list[Diagnostic] = []
        self._size = self._depth = 0
        self._anchors: dict[str, Any] = {}
        self._end: Any = None

    def document(self) -> tuple[Any, int]:
        self._next()  # the stream begins
        if type(self._next()) is _StreamEnd:
            return None, 0
        value = self._value(self._next())
        self._next()  # the document ends
        after = self._next()
        if type(after) is not _StreamEnd:
            from tfgitops.spec.yamltext.reasons import second_document  # noqa: PLC0415 - for faulty texts alone

            self._note(second_document(after.start_mark.line, after.start_mark.column))
        if self._faults:
            raise TextError(self._faults)
        return value, self._size

    def _note(self, fault: Diagnostic) -> None:
        self._faults.append(fault)
        if len(self._faults) == FAULTS:
            raise TextError(self._faults)

    def _blame(self, event: Any, code: str, message: str, hint: str, also: Also | None = None) -> None:
        """Note a fault that covers a scalar or an alias, or else the character with which a collection begins."""
        start, end = event.start_mark, event.end_mark
        width = end.column - start.column if end.line == start.line else 1
        self._note(fault(code, message, start.line, start.column, hint, max(1, width), also))

    def _give_up(self, event: Any, message: str, hint: str) -> NoReturn:
        self._blame(event, "TF106", message, hint)
        raise TextError(self._faults)

    def _value(self, event: Any) -> Any:
        kind = type(event)
        if kind is not AliasEvent and event.ctag is not None:
            self._refuse_tag(event)
        if kind is ScalarEvent:
            value = self._text(event) if self._spelled else event.value
            self._size += EACH + len(value)
            if len(value) > SCALAR or self._size > EXPANDED:
                self._refuse_size(len(value), event)
            if event.implicit[0]:
                value = scalar(value)
        elif kind is AliasEvent:
            return self._alias(event)
        else:
            value = self._collection(event, kind)
        if event.anchor:
            self._anchors[event.anchor] = value
        return value

    def _refuse_size(self, length: int, event: Any) -> NoReturn:
        self._give_up(event, *(_TOO_LONG if length > SCALAR else _TOO_LARGE))

    def _collection(self, event: Any, kind: type) -> Any:
        self._size += EACH
        if self._size > EXPANDED:
            self._refuse_size(0, event)
        self._depth += 1
        if self._depth > DEPTH:
            self._give_up(event, *_TOO_DEEP)
        if event.anchor:
            self._anchors[event.anchor] = _OPEN
        value: Any = self._mapping(event) if kind is MappingStartEvent else []
        if kind is not MappingStartEvent:
            while type(last := self._next()) is not SequenceEndEvent:
                value.append(self._value(last))
                if len(value) > ENTRIES:
                    self._give_up(last, *_TOO_MANY)
            self._end = last.end_mark
        self._depth -= 1
        return value

    def _mapping(self, start: Any) -> dict[str, Any]:
        value: dict[str, Any] = {}
        merged: list[dict[str, Any]] = []
        first: dict[str, Any] = {}
        following, value_of, spelled = self._next, self._value, self._spelled
        while type(event := following()) is not MappingEndEvent:
            plain = type(event) is ScalarEvent and event.ctag is event.anchor is None and not spelled
            key = event.value if plain else self._key(event)
            inner_event = following()
            inner = value_of(inner_event)
            if key is None:
                continue
            if first.setdefault(key, event) is not event:
                self._refuse_duplicate(key, event, first[key].start_mark)
            if key == "<<" and type(event) is ScalarEvent and event.implicit[0]:
                merged.extend(self._merge_sources(inner, inner_event))
            else:
                value[key] = inner
            if len(first) > ENTRIES:
                self._give_up(event, *_TOO_MANY)
            if spelled and start.flow_style and inner is None:
                self._refuse_glued(key, event, inner_event)
        self._end = event.end_mark
        for source in merged:  # an earlier source wins over a later one, and what is written here over both
            for key, inherited in source.items():
                value.setdefault(key, inherited)
        return value

    def _key(self, event: Any) -> str | None:
        """Return a key's text; None, and a fault, if it is none."""
        if type(event) is ScalarEvent:
            if event.ctag is not None:
                self._refuse_tag(event)
            text = self._text(event)
            if event.anchor:
                self._anchors[event.anchor] = text
            return text
        value = self._value(event)
        if type(event) is AliasEvent and type(value) is str:
            return value
        from tfgitops.spec.yamltext.scene import template_at  # noqa: PLC0415 - for faulty texts alone

        start, end = event.start_mark, self._end
        message = f"a key must be text, and this is a {_SHAPES.get(type(value), 'value')}"
        width = end.column - start.column if end and end.line == start.line and end.column > start.column else 1
        hint = "write `key: value`, with the key in quotes if need be"
        no_key = fault("TF105", message, start.line, start.column, hint, width)
        self._note(template_at(self._source, start.index - 1) or no_key)
        return None

    def _alias(self, event: Any) -> Any:
        value = self._anchors.get(name := event.anchor, self)
        if value is self:
            message = f"'*{name}' is an alias, and no anchor '&{name}' is above"
            return self._blame(event, "TF103", message, "define the anchor above, or quote the text")
        if value is _OPEN:
            message = f"the alias '*{name}' stands inside the value that it stands for"
            return self._blame(event, "TF106", message, "write the value out here")
        return self._copied(value, self._depth, event)

    def _copied(self, value: Any, depth: int, alias: Any) -> Any:
        """Copy what an alias stands for: two places of a spec share nothing."""
        self._size += EACH + (len(value) if type(value) is str else 0)
        if self._size > EXPANDED:
            self._refuse_size(0, alias)
        if not isinstance(value, dict | list):
            return value
        if depth >= DEPTH:
            self._give_up(alias, *_TOO_DEEP)
        if isinstance(value, list):
            return [self._copied(inner, depth + 1, alias) for inner in value]
        return {key: self._copied(inner, depth + 1, alias) for key, inner in value.items()}

    def _merge_sources(self, value: Any, event: Any) -> list[dict[str, Any]]:
        sources = value if type(value) is list else [value]
        if not all(type(source) is dict for source in sources):
            hint = "write `<<: *name`, where `&name` stands before a map above"
            self._blame(event, "TF105", "'<<' takes a map, or a list of maps", hint)
            return []
        return sources

    def _refuse_tag(self, event: Any) -> None:
        start = event.start_mark
        written = _TAG.match(self._source, start.index)
        tag, skipped = (written[1], written.start(1) - start.index) if written else (str(event.ctag), 0)
        message, hint = f"the tag '{tag}' is not allowed", "leave the tag out; quote the value, if it is text"
        self._note(fault("TF105", message, start.line, start.column + skipped, hint, len(tag)))

    def _refuse_glued(self, key: str, event: Any, value: Any) -> None:
        """Refuse `{image:tf}`, which YAML takes for a key `image:tf` without a value."""
        word = _GLUED_KEY.match(key)
        if word and event.implicit[0] and value.start_mark.index == value.end_mark.index:
            message, hint = f"no blank after the ':' of '{word[1]}'", f"write `{word[1]}: {key[word.end() :]}`"
            self._note(fault("TF103", message, event.start_mark.line, event.start_mark.column + word.end() - 1, hint))

    def _refuse_duplicate(self, key: str, event: Any, earlier: Any) -> None:
        message = f"the key '{key}' is given twice, in line {earlier.line + 1} and line {event.start_mark.line + 1}"
        quotes = 2 if self._source[earlier.index] in "'\"" else 0
        also = also_at("first given here", earlier.line, earlier.column, len(key) + quotes)
        self._blame(event, "TF104", message, "keep one of the two", also)
