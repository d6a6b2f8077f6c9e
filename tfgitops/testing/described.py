"""What a schema fragment leaves undescribed: people read descriptions under their errors, and in their editors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes.schemafile import schema_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops.plugins.hookspecs import SchemaFragment

_MAPS = ("properties", "patternProperties")


def undescribed(fragment: SchemaFragment) -> Iterator[str]:
    """Yield a sentence for each property that has no description, and for each map that takes any key."""
    if not _described(fragment.schema):
        yield f"the key '{fragment.key}' has no description"
    yield from _below(fragment.schema, fragment.key)


def _below(schema: Any, name: str) -> Iterator[str]:
    for inner in schema if isinstance(schema, list) else ():
        yield from _below(inner, name)
    if not isinstance(schema, dict):
        return
    if "properties" in schema and "additionalProperties" not in schema:
        yield f"'{name}' takes any key: a typing mistake in it would pass; say `additionalProperties: false`"
    for keyword, value in schema.items():
        if keyword not in _MAPS:
            yield from _below(value, name)
            continue
        for key, inner in value.items():
            if not _described(inner):
                yield f"the property '{name}.{key}' has no description"
            yield from _below(inner, f"{name}.{key}")


def _described(schema: Any) -> bool:
    """Tell whether a schema has a description, be it that of what it refers to."""
    if not isinstance(schema, dict):
        return True
    document, marker, name = str(schema.get("$ref", "")).partition("#/$defs/")
    there = schema_file(document or "core.schema.json")["$defs"].get(name, {}) if marker else {}
    return bool(schema.get("description") or there.get("description") or document == "pod.schema.json")
