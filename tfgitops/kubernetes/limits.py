"""Limits are what Kubernetes asks of a value of the right type: said in JSON Schema, judged by jsonschema.

The schemas are `schemas/pod.rules.schema.json` and `schemas/volcano.schema.json`. `x-rules` on a type is the family
name of its rules. Where a keyword does not explain itself, its subschema carries `x-rule`, `x-message`, `x-hint`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from tfgitops.kubernetes.fault import Fault, Route, show
from tfgitops.kubernetes.formats import FORMATS
from tfgitops.kubernetes.schemafile import schema_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from jsonschema import ValidationError
    from jsonschema.protocols import Validator

# What a failed keyword says: the last word of the rule's name, and the rest of the sentence.
_SAYINGS = {
    "minimum": ("min", "must be at least {limit}"),
    "exclusiveMinimum": ("above-zero", "must be above {limit}"),
    "maximum": ("range", "must be at most {limit}"),
    "minLength": ("required", "must not be empty"),
    "maxLength": ("too-long", "must not be longer than {limit} characters"),
    "minItems": ("required", "must not be empty"),
    "maxItems": ("too-long", "must not have more than {limit} items"),
    "minProperties": ("no-source", "must not be empty"),
    "maxProperties": ("two-sources", "must have only one kind of content"),
    "enum": ("enum", "must be one of {limit}"),
    "const": ("enum", "must be {limit}"),
    "pattern": ("form", "does not have the right form"),
    "uniqueItems": ("duplicate", "must not list anything twice"),
    "required": ("required", "is missing"),
    "not": ("not-allowed", "must be left out here"),
}


def judge_limits(place: str, value: Any) -> list[Fault]:
    """Judge a value by one place of our schemas, as in `pod.rules.schema.json#/$defs/Probe`."""
    faults = [fault for error in _validator(place).iter_errors(value) for fault in _faults(place, error)]
    return list(dict.fromkeys(faults))


def _faults(place: str, error: ValidationError) -> Iterator[Fault]:
    """Turn one of jsonschema's errors into faults, one for each key that is missing."""
    route: Route = tuple(error.absolute_path)
    if "propertyNames" in error.absolute_schema_path:  # the value judged is a key
        route = (*route, str(error.instance))
    if error.validator == "required":
        for key in error.validator_value:
            if key not in error.instance:
                yield _fault(place, error, (*route, key))
    else:
        yield _fault(place, error, route)


def _fault(place: str, error: ValidationError, route: Route) -> Fault:
    word, sentence = _say(error)
    family, fields, words = _trace(place, error.absolute_schema_path)
    if error.validator == "required":
        fields = [*fields, str(route[-1])]
    subject = next((step for step in reversed(route) if isinstance(step, str)), fields[-1] if fields else "it")
    return Fault(
        rule=words.get("x-rule") or "-".join([family, *map(_kebab, fields), word]),
        at=route,
        message=words.get("x-message", f"{subject} {sentence}"),
        hint=words.get("x-hint", ""),
        found="" if error.validator == "required" else show(error.instance),
    )


def _say(error: ValidationError) -> tuple[str, str]:
    """Give the last word of the rule's name, and what must be the case."""
    if error.validator == "format":
        return error.validator_value, FORMATS[error.validator_value].sentence
    if error.validator == "oneOf":
        names = [branch["required"][0] for branch in error.validator_value]
        given = [name for name in names if name in error.instance]
        if given:
            return "two-sources", f"must not have both {given[0]} and {given[-1]}"
        return "no-source", f"needs one of {_listed(names)}"
    word, sentence = _SAYINGS[str(error.validator)]
    limit = error.validator_value
    return word, sentence.format(limit=_listed(limit) if isinstance(limit, list) else limit)


def _listed(names: Iterable[object]) -> str:
    return ", ".join(map(str, names))


def _trace(place: str, path: Iterable[str | int]) -> tuple[str, list[str], dict[str, str]]:
    """Follow a path through the schemas: the last type's family, the fields below it, and the words said there.

    jsonschema leaves `$ref` out of its paths, so each one on the way is followed as it comes.
    """
    file, _, inside = place.partition("#/")
    family, fields, previous = "", [], ""
    words: dict[str, str] = {}
    node: Any = schema_file(file)
    for step in (*inside.split("/"), *path):
        node = node[step]
        if previous == "properties":
            fields.append(str(step))
        if step == "items":
            words = {}
        while isinstance(node, dict):
            words.update({key: node[key] for key in ("x-rule", "x-message", "x-hint") if key in node})
            if "x-rules" in node:
                family, fields = node["x-rules"], []
            if "$ref" not in node:
                break
            file, node = _resolve(node["$ref"], file)
            words = {}
        previous = str(step)
    return family, fields, words


def _resolve(reference: str, file: str) -> tuple[str, Any]:
    other, _, name = reference.partition("#/$defs/")
    return other or file, schema_file(other or file)["$defs"][name]


def _kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()


@cache
def _validator(place: str) -> Validator:
    from jsonschema import Draft202012Validator, FormatChecker, validators  # noqa: PLC0415 - 0.1 s, not always needed
    from referencing import Registry, Resource  # noqa: PLC0415

    checker = FormatChecker(formats=())
    for name, form in FORMATS.items():
        checker.checks(name)(form.accepts)
    files = ("volcano.schema.json", "pod.rules.schema.json", "pod.schema.json")
    registry = Registry().with_resources((file, Resource.from_contents(schema_file(file))) for file in files)
    judge = validators.extend(Draft202012Validator, {"pattern": _whole_pattern})
    return judge({"$ref": place}, registry=registry, format_checker=checker)


def _whole_pattern(_validator: Validator, pattern: str, value: Any, _schema: Any) -> Iterator[ValidationError]:
    """Match as JSON Schema's own regular expressions do, where `$` is the end and not the line before it."""
    from jsonschema import ValidationError  # noqa: PLC0415

    if isinstance(value, str) and not re.search(re.sub(r"\$$", r"\\Z", pattern), value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")
