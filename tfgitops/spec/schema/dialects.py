"""The two dialects of a spec's schema: a merged spec's, and one file's, which allows short forms and ``null``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.spec.schema.formats import complain
from tfgitops.targets.fits import Dialect, further, has_type

if TYPE_CHECKING:
    from collections.abc import Mapping

ONLY_WHOLE = ("required", "oneOf", "dependentRequired", "minProperties", "not")
"""Keywords that one file need not keep, since what it lacks may stand in another."""

_FORMATTED = {str: "string", int: "integer"}


def _properties(judge: Dialect, value: Any, properties: Any, _: Any) -> bool:
    return type(value) is not dict or all(
        judge.inner(inner, properties[key])
        for key, inner in value.items() if key in properties and (inner is not None or judge is WHOLE)
    )  # fmt: skip


def _additional(judge: Dialect, value: Any, additional: Any, schema: Any) -> bool:
    return type(value) is not dict or all(
        judge.inner(value[key], additional)
        for key in further(value, schema) if value[key] is not None or judge is WHOLE or additional is False
    )  # fmt: skip


def _type(judge: Dialect, value: Any, types: Any, schema: Any) -> bool:
    if "x-shorthand" in schema and type(value) is not dict:
        return judge.test(value, schema["properties"][schema["x-shorthand"][0]])
    return has_type(judge, value, types, schema)


def _format(_: Dialect, value: Any, form: str, schema: Any) -> bool:
    return not is_formatted(value, schema) or complain(form, value) is None


def is_formatted(value: Any, schema: Mapping[str, Any]) -> bool:
    """Tell whether a format asks something of a value: one of another type has its own error."""
    return _FORMATTED.get(type(value), "other") in schema.get("type", ("string", "integer"))


WHOLE = Dialect({"format": _format})
PART = Dialect({
    "format": _format, "properties": _properties, "additionalProperties": _additional, "type": _type,
    "x-file": lambda _, value, keys, __: type(value) is not dict or not any(key in value for key in keys),
    **dict.fromkeys(ONLY_WHOLE),
})  # fmt: skip
