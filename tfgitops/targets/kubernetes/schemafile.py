"""The JSON Schemas that ship with the compiler, and what users write by the pod schema in Kubernetes's own form."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, cast

from tfgitops.targets.kubernetes import quantity
from tfgitops.targets.memo import by_content

_PACKAGE = Path(__file__).resolve().parents[2]
FOLDERS = (_PACKAGE / "schemas", _PACKAGE.parent / "schemas")


@cache
def schema_file(name: str) -> dict[str, Any]:
    """Read one of our schemas by its file name, which is also its `$id`."""
    path = next(folder / name for folder in FOLDERS if (folder / name).is_file())
    return cast("dict[str, Any]", json.loads(path.read_text(encoding="utf-8")))


@by_content(1024)
def prepare(value: Any, schema_name: str) -> Any:
    """Return a valid part of a pod in Kubernetes's own form: ``1Gi`` for ``1024Mi``, numbers for octal file modes.

    Do not change the result: roles with the same overlay share it.
    """
    return _convert(value, {"$ref": f"#/$defs/{schema_name}"})


def _convert(value: Any, schema: dict[str, Any]) -> Any:
    name = schema.get("$ref", "").removeprefix("#/$defs/")
    if name == "Quantity":
        return value if value is None or quantity.explain(value) else quantity.canonical(value)
    if name == "FileMode":
        return int(value.removeprefix("0o"), 8) if type(value) is str else value
    if name:
        schema = schema_file("pod.schema.json")["$defs"][name]
    if type(value) is dict:
        properties, others = schema.get("properties", {}), schema.get("additionalProperties")
        return {key: _convert(inner, properties.get(key, others) or {}) for key, inner in value.items()}
    if type(value) is list:
        return [_convert(item, schema.get("items") or {}) for item in value]
    return value
