"""Tell whether a value fits a JSON Schema; jsonschema, whose import takes longer than a small build, says why not.

Schemas have no references, and may hold themselves. The tests of a dialect differ from JSON Schema's own where its
keywords do. A keyword that has no test here is jsonschema's to judge: such a schema counts as one that nothing fits.
"""

from __future__ import annotations

import re
from operator import ge, gt, le, lt
from typing import TYPE_CHECKING, Any

from tfgitops.targets.memo import packed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Test = Callable[["Dialect", Any, Any, Any], object]
    """Takes the dialect, the value, what the keyword says, and the schema that it stands in."""

_SMALL = 500  # bytes
_INERT = frozenset({"$comment", "$id", "$schema", "default", "deprecated", "description", "examples", "title"})
_TYPES = {"string": str, "boolean": bool, "integer": int, "object": dict, "array": list, "null": type(None)}


class UnsureError(Exception):
    """Raised for a keyword without a test."""


class Dialect:
    """The tests of one dialect by keyword; None stands for a keyword that it ignores."""

    def __init__(self, differing: Mapping[str, Test | None]) -> None:
        self._keywords = {**_KEYWORDS, **differing}
        self._read: dict[int, tuple[Any, list[tuple[Test, Any]]]] = {}  # by id; the schema is kept for its sake
        self._fitting: dict[int, set[bytes]] = {}  # likewise

    def fits(self, value: Any, schema: Any) -> bool:
        """Tell whether a value fits for certain."""
        try:
            return self.test(value, schema)
        except UnsureError:
            return False

    def test(self, value: Any, schema: Any) -> bool:
        """Tell whether a value fits; raise UnsureError if only jsonschema knows."""
        if type(schema) is bool:
            return schema
        for test, wanted in (self._read.get(id(schema)) or self._learn(schema))[1]:
            if not test(self, value, wanted, schema):
                return False
        return True

    def inner(self, value: Any, schema: Any) -> bool:
        """Test a value inside of another; small maps that fit are remembered, as a thousand jobs have the same few."""
        if type(value) is not dict or len(mark := packed(value)) > _SMALL:
            return self.test(value, schema)
        known = self._fitting.setdefault(id(schema), set())
        if mark not in known and self.test(value, schema):
            known.add(mark)
        return mark in known

    def _learn(self, schema: Mapping[str, Any]) -> tuple[Any, list[tuple[Test, Any]]]:
        known = [(self._keywords.get(key, _default(key)), wanted) for key, wanted in schema.items()]
        self._read[id(schema)] = schema, [(test, wanted) for test, wanted in known if test]
        return self._read[id(schema)]


def _default(keyword: str) -> Test | None:
    return None if keyword in _INERT or keyword.startswith("x-") else _unsure


def _unsure(*_: Any) -> bool:
    raise UnsureError


def has_type(_: Dialect, value: Any, types: Any, __: Any) -> bool:
    """Tell whether a value has one of the types; a number that is no int is rare, and jsonschema's to judge."""
    kind = type(value)
    if kind is float:
        raise UnsureError
    return kind is _TYPES.get(types) if type(types) is str else any(kind is _TYPES.get(one) for one in types)


def _properties(dialect: Dialect, value: Any, properties: Any, _: Any) -> bool:
    return type(value) is not dict or all(
        dialect.inner(inner, properties[key]) for key, inner in value.items() if key in properties
    )


def _patterns(dialect: Dialect, value: Any, patterns: Any, _: Any) -> bool:
    return type(value) is not dict or all(
        dialect.test(inner, schema)
        for key, inner in value.items() for pattern, schema in patterns.items() if re.search(pattern, key)
    )  # fmt: skip


def _additional(dialect: Dialect, value: Any, additional: Any, schema: Any) -> bool:
    return type(value) is not dict or all(dialect.inner(value[key], additional) for key in further(value, schema))


def further(value: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """Return the keys of a value that are neither properties of a schema nor matched by its patterns."""
    properties, patterns = schema.get("properties", ()), schema.get("patternProperties", ())
    unknown = [key for key in value if key not in properties]
    return [key for key in unknown if not any(re.search(one, key) for one in patterns)] if patterns else unknown


def matches(text: str, pattern: str) -> bool:
    """Tell whether a text matches as in JSON Schema's own regular expressions, where `$` is not before a line's end."""
    return bool(re.search(re.sub(r"\$$", r"\\Z", pattern), text))


def _is(value: Any, other: Any) -> bool:
    """Tell whether two values are equal, as JSON has it: true is not 1."""
    if not {type(value), type(other)}.isdisjoint({dict, list, float}):
        raise UnsureError
    return type(value) is type(other) and bool(value == other)


def _if(dialect: Dialect, value: Any, condition: Any, schema: Any) -> bool:
    return dialect.test(value, schema.get("then" if dialect.test(value, condition) else "else", True))


def _of(kind: type, test: Callable[[Any, Any], object]) -> Test:
    """Return the test of a keyword that asks something of one type alone."""

    def judge(_: Dialect, value: Any, wanted: Any, __: Any) -> object:
        if kind is int and type(value) is float:
            raise UnsureError
        return type(value) is not kind or test(value, wanted)

    return judge


def _at_least(value: Any, least: int) -> bool:
    return len(value) >= least


def _at_most(value: Any, most: int) -> bool:
    return len(value) <= most


def _differ(items: list[Any], unique: Any) -> bool:
    if unique and any(type(item) is not str for item in items):
        raise UnsureError
    return not unique or len(set(items)) == len(items)


_KEYWORDS: dict[str, Test | None] = {
    "type": has_type, "properties": _properties, "patternProperties": _patterns, "additionalProperties": _additional,
    "propertyNames": lambda judge, value, names, _: type(value) is not dict or all(judge.test(k, names) for k in value),
    "items": lambda judge, value, items, _: type(value) is not list or all(judge.test(item, items) for item in value),
    "contains": lambda judge, value, one, _: type(value) is not list or any(judge.test(item, one) for item in value),
    "allOf": lambda judge, value, schemas, _: all(judge.test(value, schema) for schema in schemas),
    "anyOf": lambda judge, value, schemas, _: any(judge.test(value, schema) for schema in schemas),
    "oneOf": lambda judge, value, schemas, _: sum(judge.test(value, schema) for schema in schemas) == 1,
    "not": lambda judge, value, schema, _: not judge.test(value, schema),
    "if": _if, "then": None, "else": None,
    "enum": lambda _, value, wanted, __: any(_is(value, one) for one in wanted),
    "const": lambda _, value, wanted, __: _is(value, wanted),
    "required": _of(dict, lambda value, keys: all(key in value for key in keys)),
    "uniqueItems": _of(list, _differ), "pattern": _of(str, lambda value, pattern: re.search(pattern, value)),
    "minLength": _of(str, _at_least), "minItems": _of(list, _at_least), "minProperties": _of(dict, _at_least),
    "maxLength": _of(str, _at_most), "maxItems": _of(list, _at_most), "maxProperties": _of(dict, _at_most),
    "minimum": _of(int, ge), "exclusiveMinimum": _of(int, gt),
    "maximum": _of(int, le), "exclusiveMaximum": _of(int, lt),
}  # fmt: skip
