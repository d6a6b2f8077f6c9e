"""Limits are what Kubernetes asks of a value of the right type: said in JSON Schema, judged by `tfgitops.targets.fits`.

The schemas are `schemas/pod.rules.schema.json` and `schemas/volcano.schema.json`. `x-rules` on a type is the family
name of its rules. Where a keyword does not explain itself, its subschema carries `x-rule`, `x-message`, `x-hint`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from tfgitops.targets.fits import Dialect, matches
from tfgitops.targets.kubernetes.schemafile import schema_file
from tfgitops.targets.kubernetes.schemawords import TEXT_FORMATS

if TYPE_CHECKING:
    from tfgitops.targets.kubernetes.fault import Fault

_STRUCTURE = {"type", "properties", "items", "additionalProperties", "default", "x-rules"}


def asks(schema: Any) -> bool:
    """Tell whether a schema may ask for more than types, which are a shape's to judge."""
    if not isinstance(schema, dict):
        return False
    inner = (*schema.get("properties", {}).values(), schema.get("items"), schema.get("additionalProperties"))
    return not schema.keys() <= _STRUCTURE or any(map(asks, inner))


def judge_limits(place: str, value: Any) -> list[Fault]:
    """Judge a value by one place of our schemas, as in `pod.rules.schema.json#/$defs/Probe`."""
    if _LIMITS.fits(value, schema := _schema(place)):
        return []
    from tfgitops.targets.kubernetes.limitfaults import faults  # noqa: PLC0415 - most manifests are right

    return faults(place, value, schema)


@cache
def _schema(place: str) -> Any:
    """Give the schema at one place, with every reference in it replaced by what it refers to."""
    file, _, inside = place.partition("#/")
    node: Any = schema_file(file)
    for step in inside.split("/"):
        node = node[step]
    return _without_references(node, file)


def _without_references(node: Any, file: str) -> Any:
    if isinstance(node, list):
        return [_without_references(item, file) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        other, _, name = node["$ref"].partition("#/$defs/")
        return _schema(f"{other or file}#/$defs/{name}")
    return {key: _without_references(value, file) for key, value in node.items()}


_LIMITS = Dialect({
    "format": lambda _, value, form, __: form not in TEXT_FORMATS or TEXT_FORMATS[form].accepts(value),
    "pattern": lambda _, value, pattern, __: type(value) is not str or matches(value, pattern),
})  # fmt: skip
