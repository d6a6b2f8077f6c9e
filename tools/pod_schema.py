"""Writes `schemas/pod.schema.json` and `schemas/object.schema.json`: the fields of Kubernetes's pods and other objects.

The facts come from the development dependency kubernetes-validate. They are adapted to our reader of YAML,
which gives all but plain decimal integers, booleans and null as text, and to parts of objects: `null` is
allowed, since it removes a field, and nothing is required but the keys by which the elements of a list merge.
What Kubernetes requires of a whole object stands in `x-required`.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

KUBERNETES = "1.36.0"
ROOTS = ("io.k8s.api.core.v1.PodTemplateSpec", "io.k8s.api.core.v1.Container")
OBJECTS = (
    "io.k8s.api.apps.v1.Deployment",
    "io.k8s.api.core.v1.ConfigMap",
    "io.k8s.api.core.v1.ResourceQuota",
    "io.k8s.api.core.v1.Service",
    "io.k8s.api.networking.v1.NetworkPolicy",
)
"""Kinds that are judged; a row of `WRITTEN` in `tfgitops/targets/kubernetes/objectkinds.py` each."""
METADATA = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
SCHEMAS = Path(__file__).resolve().parent.parent / "schemas"

Schema = dict[str, Any]

_REWRITTEN: dict[str, Schema] = {
    "Quantity": {"description": "an amount such as 500m, 4 or 16Gi", "type": ["string", "integer", "null"]},
    "IntOrString": {"type": ["string", "integer", "null"]},
    # A plain 400 is rejected: it may be meant as octal, and YAML reads it as decimal.
    "FileMode": {
        "description": "a file mode in octal, such as 0400 or 0o400, at most 0777",
        "type": ["string", "integer", "null"],
        "format": "file-mode",
    },
}
_IMAGES = {"Container": "image", "ImageVolumeSource": "reference"}
"""The fields that name an image: Kubernetes takes any text, and then the pod waits for ever (InvalidImageName)."""
_RANGES = {"int32": 1 << 31, "int64": 1 << 63}
_KEPT = ("x-kubernetes-list-map-keys", "x-kubernetes-list-type", "x-kubernetes-patch-merge-key")
_NOT_NULL = ["object", "string", "integer", "boolean", "array", "number"]


def pod_schema() -> Schema:
    """Make the schema of pods in memory."""
    return _schema("pod", "a pod template and a container say, whole or in part", _definitions(ROOTS) | _REWRITTEN)


def object_schema() -> Schema:
    """Make the schema of further objects in memory; their types of pods are those of the other schema."""
    apart = [*_closure(_upstream(), ROOTS), METADATA]
    definitions = _definitions(OBJECTS, apart)
    for name in OBJECTS:
        properties = definitions[name.rsplit(".", 1)[-1]]["properties"]
        properties["metadata"] = {"$ref": "volcano.schema.json#/$defs/JobMetadata"}
    return _schema("object", "objects beside Jobs say", definitions)


def _schema(name: str, what: str, definitions: Schema) -> Schema:
    """Return a whole schema; its `$defs` are sorted, so that the same facts give the same bytes."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"https://tfgitops.dev/schemas/{name}.schema.json",
        "title": f"what Kubernetes {KUBERNETES} lets {what}",
        "x-source": f"kubernetes-validate, Kubernetes {KUBERNETES}",
        "$defs": dict(sorted(definitions.items())),
    }


@cache
def _upstream() -> dict[str, Schema]:
    source = files("kubernetes_validate") / "kubernetes-json-schema" / f"v{KUBERNETES}-local-strict"
    upstream: dict[str, Schema] = json.loads((source / "_definitions.json").read_text(encoding="utf-8"))["$defs"]
    for name in OBJECTS:  # the status is the controllers' to write
        upstream[name]["properties"].pop("status", None)
    return upstream | {METADATA: _template_metadata(upstream[METADATA])}


def _definitions(roots: Iterable[str], apart: Sequence[str] = ()) -> dict[str, Schema]:
    """Return the types that some roots refer to, by their short names, but for those of another file."""
    upstream = _upstream()
    names = [name for name in _closure(upstream, roots) if name not in apart]
    short = _short_names([*names, *apart])
    elsewhere = {name: f"pod.schema.json#/$defs/{short[name]}" for name in apart}
    adapter = _Adapter(upstream, short, _list_keys(upstream[name] for name in [*names, *apart]), elsewhere)
    return adapter.all(names)


def render(schema: Schema) -> str:
    """Return the schema as JSON, one definition per line, so that a diff names the changes of a new Kubernetes."""
    header = {key: value for key, value in schema.items() if key != "$defs"}
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}," for key, value in header.items()]
    compact = [
        f"    {json.dumps(name)}: {json.dumps(definition, separators=(',', ':'), sort_keys=True)}"
        for name, definition in schema["$defs"].items()
    ]
    return "\n".join(["{", *lines, '  "$defs": {', ",\n".join(compact), "  }", "}", ""])


def _template_metadata(schema: Schema) -> Schema:
    """Reduce ObjectMeta to the fields of a template; Volcano names the pods."""
    return {**schema, "properties": {key: schema["properties"][key] for key in ("annotations", "labels")}}


def _closure(upstream: dict[str, Schema], roots: Iterable[str]) -> list[str]:
    """Follow references from the roots, and return the sorted names."""
    found: set[str] = set()
    waiting = [*roots]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _references(upstream[name])
    return sorted(found)


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield _target(schema)
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            yield from _references(part)


def _target(schema: Schema) -> str:
    return str(schema["$ref"]).removeprefix("#/$defs/")


def _short_names(names: list[str]) -> dict[str, str]:
    """Map `io.k8s.api.core.v1.Container` to `Container`; a name that stands for two types is an error."""
    short = {name: name.rsplit(".", 1)[-1] for name in names}
    if len(set(short.values())) < len(short):
        raise ValueError("two of Kubernetes's types have the same last name; find them longer ones")
    return short


def _list_keys(definitions: Iterator[Schema]) -> dict[str, set[str]]:
    """Map each type that merging lists hold to the keys by which they merge."""
    keys: dict[str, set[str]] = {}
    for definition in definitions:
        for field in definition.get("properties", {}).values():
            if merging := field.get("x-kubernetes-list-map-keys"):
                keys.setdefault(_target(field["items"]), set()).update(merging)
    return keys


@dataclass(frozen=True)
class _Adapter:
    upstream: dict[str, Schema]
    short: dict[str, str]
    list_keys: dict[str, set[str]]
    elsewhere: dict[str, str]

    def all(self, names: Iterable[str]) -> dict[str, Schema]:
        """Adapt some types, under their short names."""
        return {self.short[name]: self._definition(name) for name in names if self.short[name] not in _REWRITTEN}

    def _definition(self, name: str) -> Schema:
        schema = self.upstream[name]
        adapted = self._shape(schema)
        if "properties" in schema:
            adapted["properties"] = {key: self._field(key, field) for key, field in schema["properties"].items()}
        if field := _IMAGES.get(self.short[name]):
            adapted["properties"][field]["format"] = "image"
        for key in self._identity(name):
            adapted["properties"][key] = _not_null(adapted["properties"][key])
        if "required" in schema:
            adapted["x-required"] = sorted(schema["required"])
        return adapted

    def _identity(self, name: str) -> list[str]:
        """Return the fields that identify an element of a merging list."""
        return sorted(self.list_keys.get(name, set()).intersection(self.upstream[name].get("required", ())))

    def _field(self, key: str, field: Schema) -> Schema:
        if key in {"mode", "defaultMode"} and field.get("format") == "int32":
            return {"$ref": "#/$defs/FileMode"}
        return self._shape(field)

    def _shape(self, schema: Schema) -> Schema:
        """Adapt a schema but for its properties: a reference, a list, a map or a scalar."""
        if "$ref" in schema:
            target = _target(schema)
            return {"$ref": self.elsewhere.get(target, f"#/$defs/{self.short[target]}")}
        shape = {key: schema[key] for key in _KEPT if key in schema}
        if "retainKeys" in schema.get("x-kubernetes-patch-strategy", ""):
            shape["x-kubernetes-patch-strategy"] = schema["x-kubernetes-patch-strategy"]
        kind = schema["type"]
        shape["type"] = kind if isinstance(kind, list) else [kind, "null"]
        if limit := _RANGES.get(schema.get("format", "")):
            shape |= {"format": schema["format"], "minimum": -limit, "maximum": limit - 1}
        if "items" in schema:
            shape["items"] = self._item(schema["items"], merging="x-kubernetes-list-map-keys" in schema)
        if isinstance(schema.get("additionalProperties"), dict):
            shape["additionalProperties"] = self._shape(schema["additionalProperties"])
        elif schema.get("additionalProperties") is False:
            shape["additionalProperties"] = False
        return shape

    def _item(self, schema: Schema, *, merging: bool) -> Schema:
        """Adapt the elements of a list: without `null`, which could remove nothing."""
        item = _not_null(self._shape(schema))
        if merging and (identity := self._identity(_target(schema))):
            item["required"] = identity
        return item


def _not_null(shape: Schema) -> Schema:
    if "$ref" in shape:
        return {**shape, "type": _NOT_NULL}
    kinds = [kind for kind in shape["type"] if kind != "null"]
    return {**shape, "type": kinds[0] if len(kinds) == 1 else kinds}


if __name__ == "__main__":
    for target, schema in (("pod", pod_schema()), ("object", object_schema())):
        (SCHEMAS / f"{target}.schema.json").write_text(render(schema), encoding="utf-8", newline="\n")
        print(SCHEMAS / f"{target}.schema.json")
