"""Compiles the types of the JSON Schemas in `schemas/` to shapes, each once."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from tfgitops.targets.kubernetes.limits import asks
from tfgitops.targets.kubernetes.schemafile import schema_file
from tfgitops.targets.kubernetes.shape import Shape

# Types whose fields are judged one by one; all others are judged, and remembered, as a whole.
_OPEN = frozenset(
    {"Job", "JobMetadata", "JobSpec", "TaskSpec", "PodTemplateSpec", "PodSpec", "Container", "EnvVar"}
    | {"Queue", "QueueSpec"}
)
_RULES = {"pod.schema.json": "pod.rules.schema.json"}  # where a type's limits stand, if not beside its shape
_SPECIAL = {"Quantity": "quantity", "IntOrString": "int-or-string", "FileMode": "integer"}
_BITS = {"int32": 31}


@cache
def shape_of(file: str, name: str) -> Shape:
    """Compile one type of a schema file, as in `shape_of("pod.schema.json", "PodSpec")`."""
    if name in _SPECIAL:
        return Shape(kind=_SPECIAL[name], bits=31)
    rules = _RULES.get(file, file)
    if schema_file(rules)["$defs"].get(name, {}).get("x-replaces"):
        file = rules
    return _compile(file, name, schema_file(file)["$defs"][name])


def _compile(file: str, name: str, schema: dict[str, Any]) -> Shape:
    """Compile a schema; `name` is that of the type that it defines, or empty inside one."""
    if "$ref" in schema:
        other, _, target = schema["$ref"].partition("#/$defs/")
        return shape_of(other or file, target)
    shape = Shape(
        kind=_kind(schema.get("type", "any")),
        required=tuple(schema.get("x-required", ())),
        keys=tuple(schema.get("x-kubernetes-list-map-keys", ())),
        bits=_BITS.get(schema.get("format", ""), 63),
        duration=schema.get("format") == "duration",
        is_open=name in _OPEN,
    )
    if schema.get("x-kubernetes-list-type") == "set":
        shape.keys = ("",)
    if inner := schema.get("items", schema.get("additionalProperties")):
        shape.every = _compile(file, "", inner)
    elif shape.kind == "object":
        _give_fields(shape, file, name, schema.get("properties", {}))
    return shape


def _give_fields(shape: Shape, file: str, name: str, properties: dict[str, Any]) -> None:
    rules_file = _RULES.get(file, file)
    rules = schema_file(rules_file)["$defs"].get(name, {})
    limited = rules.get("properties", {})
    shape.fields = {}
    for key, schema in properties.items():
        inner = _compile(file, "", schema)
        if shape.is_open and not _holds_open(inner):
            limits = f"{rules_file}#/$defs/{name}/properties/{key}" if asks(limited.get(key)) else ""
            inner = replace(inner, limits=limits, remembered=bool(limits) or _is_deep(inner))
        shape.fields[key] = inner
    sources = {**properties, **limited}
    shape.defaults = {key: sources[key]["default"] for key in shape.fields if "default" in sources[key]}


def _kind(named: str | list[str]) -> str:
    """Give the one type that a field has besides null, which stands for absent everywhere."""
    return named if isinstance(named, str) else next(name for name in named if name != "null")


def _is_deep(shape: Shape) -> bool:
    """Tell whether a value is more than a scalar, or one list or mapping of them."""
    every = shape.every
    return shape.fields is not None or (every is not None and (every.fields is not None or every.every is not None))


def _holds_open(shape: Shape) -> bool:
    return shape.is_open or (shape.every is not None and shape.every.is_open)
