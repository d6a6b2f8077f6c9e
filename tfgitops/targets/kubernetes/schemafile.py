"""The JSON Schemas that ship with the compiler, and what users write by the pod schema in Kubernetes's own form."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tfgitops.targets.kubernetes import quantity
from tfgitops.targets.memo import by_content

if TYPE_CHECKING:
    from collections.abc import Callable

_PACKAGE = Path(__file__).resolve().parents[2]
_FOLDERS = (_PACKAGE / "schemas", _PACKAGE.parent / "schemas")


@cache
def schema_file(name: str) -> dict[str, Any]:
    """Read one of our schemas by its file name, which is also its `$id`."""
    path = next(folder / name for folder in _FOLDERS if (folder / name).is_file())
    return cast("dict[str, Any]", json.loads(path.read_text(encoding="utf-8")))


@by_content(1024)
def prepare(value: Any, schema_name: str) -> Any:
    """Return a partial object of the pod schema in the form in which Kubernetes would give it back.

    The value must have been validated. Quantities become canonical (``1024Mi`` is ``1Gi``), octal file modes become
    numbers. The same overlay comes back in role after role, and is prepared once: the result is not to be changed.
    """
    return _convert(value, {"$ref": f"#/$defs/{schema_name}"})


def _convert(value: Any, schema: Any) -> Any:
    name = _target(schema)
    if name in _CONVERTERS:
        return _CONVERTERS[name](value)
    if name:
        schema = _definition(name)
    if type(value) is dict:
        properties, others = schema.get("properties", {}), schema.get("additionalProperties")
        return {key: _convert(inner, properties.get(key, others) or {}) for key, inner in value.items()}
    if type(value) is list:
        return [_convert(item, schema.get("items") or {}) for item in value]
    return value


def _target(schema: Any) -> str:
    return str(schema.get("$ref", "")).removeprefix("#/$defs/") if type(schema) is dict else ""


@cache
def _definition(name: str) -> dict[str, Any]:
    definition: dict[str, Any] = schema_file("pod.schema.json")["$defs"][name]
    return definition


def _quantity(value: Any) -> Any:
    return value if value is None or quantity.explain(value) else quantity.canonical(value)


def _file_mode(value: Any) -> Any:
    return int(value.removeprefix("0o"), 8) if type(value) is str else value


_CONVERTERS: dict[str, Callable[[Any], Any]] = {"Quantity": _quantity, "FileMode": _file_mode}
