"""The schema of one file of a spec for editors: the part form, in one piece, in standard JSON Schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.kubernetes.podschema import pod_schema
from tfgitops.schema import joined_source

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfgitops.hookspecs import SchemaFragment


def for_editors(fragments: Iterable[SchemaFragment], *, job: bool = False) -> dict[str, Any]:
    """Make the schema of one file for editors: the part form, in one piece, in standard JSON Schema.

    Editors read ``1.10`` as a number, so numbers are accepted where text is meant.
    """
    core = joined_source(fragments)
    pod = pod_schema()
    definitions = {**{f"pod.{k}": v for k, v in pod["$defs"].items()}, **core["$defs"]}
    out = {
        "$schema": core["$schema"],
        "title": "tfgitops job" if job else core["title"],
        "$ref": "#/$defs/job" if job else "#/$defs/environment",
        "$defs": {name: _part(value, "pod." if name.startswith("pod.") else "") for name, value in definitions.items()},
    }
    return _reachable(out)


def _part(schema: Any, prefix: str) -> Any:
    """Loosen a schema to the form of one file: nothing required, ``null`` allowed, short forms allowed."""
    if type(schema) is list:
        return [_part(item, prefix) for item in schema]
    if type(schema) is not dict:
        return schema
    out: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("required", "oneOf", "x-hints", "x-shorthand", "x-required", "format") or key.startswith("x-kub"):
            continue
        if key in ("properties", "patternProperties"):
            out[key] = {name: _nullable(_part(inner, prefix)) for name, inner in value.items()}
        elif key == "additionalProperties" and type(value) is dict:
            out[key] = _nullable(_part(value, prefix))
        elif key == "$ref":
            out[key] = value.replace("pod.schema.json#/$defs/", "#/$defs/pod.").replace(
                "#/$defs/", f"#/$defs/{prefix}" if "pod.schema" not in value else "#/$defs/"
            )
        elif key == "type":
            out[key] = _loose_type(value)
        else:
            out[key] = _part(value, prefix)
    short = schema.get("x-shorthand")
    if not short:
        return out
    description = {"description": out.pop("description")} if "description" in out else {}
    return {**description, "if": {"type": "object"}, "then": out, "else": out["properties"][short[0]]}


def _loose_type(kind: Any) -> Any:
    kinds = kind if type(kind) is list else [kind]
    if "string" in kinds:
        return [*kinds, *(k for k in ("number", "null") if k not in kinds)]
    return kind


def _nullable(schema: Any) -> Any:
    if type(schema) is not dict or not schema or ("$ref" in schema and schema["$ref"].startswith("#/$defs/pod.")):
        return schema
    description = {"description": schema["description"]} if "description" in schema else {}
    if set(schema) <= {"type", "description", "minimum", "maximum"} and "type" in schema:
        kinds = schema["type"] if type(schema["type"]) is list else [schema["type"]]
        return {**schema, "type": [*kinds, *(["null"] if "null" not in kinds else [])]}
    return {**description, "anyOf": [schema, {"type": "null"}]}


def _reachable(schema: dict[str, Any]) -> dict[str, Any]:
    """Drop definitions that nothing refers to."""
    found: set[str] = set()

    def walk(value: Any) -> None:
        if type(value) is dict:
            name = str(value.get("$ref", "")).removeprefix("#/$defs/")
            if name and name not in found:
                found.add(name)
                walk(schema["$defs"][name])
            for inner in value.values():
                walk(inner)
        elif type(value) is list:
            for inner in value:
                walk(inner)

    walk({key: value for key, value in schema.items() if key != "$defs"})
    return {**schema, "$defs": {name: schema["$defs"][name] for name in sorted(found)}}
