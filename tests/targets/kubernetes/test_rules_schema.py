"""The hand-written schemas are legal, refer only to what is there, and name only fields that Kubernetes has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from tfgitops.targets.kubernetes.schemafile import schema_file
from tfgitops.targets.kubernetes.schemawords import TEXT_FORMATS
from tfgitops.targets.kubernetes.shape import shape_of

if TYPE_CHECKING:
    from collections.abc import Iterator

RULES = schema_file("pod.rules.schema.json")["$defs"]
TYPES = schema_file("pod.schema.json")["$defs"]
FILES = ["pod.rules.schema.json", "object.rules.schema.json", "volcano.schema.json"]


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from nodes(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from nodes(value)


@pytest.mark.parametrize("file", FILES)
def test_the_schema_is_legal(file: str) -> None:
    Draft202012Validator.check_schema(schema_file(file))


@pytest.mark.parametrize("file", FILES)
def test_all_references_and_formats_are_there(file: str) -> None:
    for node in nodes(schema_file(file)):
        if isinstance(reference := node.get("$ref"), str):
            other, _, name = reference.partition("#/$defs/")
            assert name in schema_file(other or file)["$defs"], reference
        if isinstance(form := node.get("format"), str):
            assert form in {*TEXT_FORMATS, "int64", "duration"}, form


@pytest.mark.parametrize("name", sorted(RULES.keys() & TYPES.keys()))
def test_rules_are_about_fields_that_the_type_has(name: str) -> None:
    fields = TYPES[name].get("properties", {})
    known = {"name", "namespace", "finalizers"} if name == "ObjectMeta" else set()
    assert RULES[name].get("properties", {}).keys() <= fields.keys() | known


@pytest.mark.parametrize("name", sorted(TYPES))
def test_every_type_has_a_shape(name: str) -> None:
    assert shape_of("pod.schema.json", name).kind
