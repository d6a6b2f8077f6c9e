"""A value fits only if jsonschema finds nothing wrong with it, in each of our dialects, and right specs do fit."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from tfgitops.spec.schema import dialects, shapeerrors
from tfgitops.targets.fits import Dialect
from tfgitops.targets.kubernetes import limits
from tfgitops.targets.kubernetes.limitfaults import faults
from tfgitops.targets.kubernetes.schemafile import schema_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops import Plugins

ODD = (
    None,
    True,
    0,
    -1,
    1,
    1.0,
    2.5,
    1 << 40,
    "",
    "a",
    "A_",
    "1Gi",
    "x" * 300,
    [],
    [1, True],
    ["a", "a"],
    {},
    {"a": None},
)
TRIES = 12


def subschemas(schema: Any, seen: set[int]) -> Iterator[Any]:
    """Yield each mapping of a graph of schemas that may be one, once."""
    if id(schema) in seen or not isinstance(schema, (dict, list)):
        return
    seen.add(id(schema))
    if isinstance(schema, dict):
        yield schema
    for inner in schema.values() if isinstance(schema, dict) else schema:
        yield from subschemas(inner, seen)


def instance(random: Random, schema: Any, depth: int = 4) -> Any:
    """Return a value that may fit a schema."""
    if isinstance(schema, dict) and "format" in schema and "type" not in schema:  # of a key, which is a text
        return random.choice([text for text in ODD if isinstance(text, str)])
    if not isinstance(schema, dict) or not depth or random.random() < 0.15:
        return random.choice(ODD)
    if "const" in schema or "enum" in schema:
        return random.choice(schema.get("enum") or [schema["const"]])
    if "items" in schema:
        return [instance(random, schema["items"], depth - 1) for _ in range(random.randrange(3))]
    known = {**schema.get("properties", {}), **schema.get("then", {}).get("properties", {})}
    keys = random.sample([*known, "other"], min(len(known) + 1, random.randrange(5)))
    if known or "additionalProperties" in schema:
        others = schema.get("additionalProperties")
        return {
            key: instance(random, known.get(key, others), depth - 1) for key in {*keys, *schema.get("required", ())}
        }
    near = [schema[key] + step for key in ("minimum", "maximum") if key in schema for step in (-1, 0, 1)]
    return random.choice([*near, *ODD])


@pytest.mark.parametrize("part", [True, False])
def test_what_fits_a_spec_has_no_errors(plugins: Plugins, part: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    dialect = dialects.PART if part else dialects.WHOLE
    schemas = [*subschemas(plugins.schema.environment, set())]
    tried = [(schema, instance(Random(seed), schema)) for schema in schemas for seed in range(TRIES)]  # noqa: S311
    fitting = [dialect.fits(value, schema) for schema, value in tried]
    monkeypatch.setattr(Dialect, "fits", lambda *_: False)
    for fits, (schema, value) in zip(fitting, tried, strict=True):
        if fits:
            assert not [*shapeerrors.errors(value, schema, part=part)], (value, schema)
    assert sum(fitting) > len(tried) // 10


@pytest.mark.parametrize("file", ["pod.rules.schema.json", "volcano.schema.json"])
def test_what_fits_a_limit_has_no_faults(file: str) -> None:
    fitting = 0
    for name in schema_file(file)["$defs"]:
        place = f"{file}#/$defs/{name}"
        schema = limits._schema(place)
        for seed in range(10 * TRIES):
            value = instance(Random(seed), schema)  # noqa: S311
            if limits._LIMITS.fits(value, schema):
                fitting += 1
                assert not [*faults(place, value, schema)], (value, place)
    assert fitting


def test_a_keyword_that_is_not_known_is_jsonschemas_to_judge() -> None:
    assert Dialect({}).fits(1, {"type": "integer", "x-hint": "any"})
    assert not Dialect({}).fits(1, {"unevaluatedItems": False})
    assert not Dialect({}).fits(1, {"not": {"unevaluatedItems": False}})
    assert not Dialect({}).fits(1.0, {"not": {"type": "integer"}})
