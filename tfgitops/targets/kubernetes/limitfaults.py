"""Say what keeps a value from Kubernetes's limits (`limits.py`), as faults made of jsonschema's errors."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from tfgitops.targets.fits import matches
from tfgitops.targets.kubernetes.fault import Fault, show
from tfgitops.targets.kubernetes.schemafile import schema_file
from tfgitops.targets.kubernetes.schemawords import TEXT_FORMATS, listed, says

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfgitops.targets.routes import Route

_RULES = {
    "minimum": ("min", "write {} or more"), "maximum": ("max", "write {} or less"),
    "exclusiveMinimum": ("above-zero", "write more than {}"), "maxProperties": ("two-sources", "keep one kind"),
    **dict.fromkeys(("minItems", "minLength", "minProperties"), ("required", "fill it in, or leave it out")),
    "maxLength": ("too-long", "shorten it"), "maxItems": ("too-long", "take some out"),
    "enum": ("enum", "use one of {}"), "const": ("enum", "change it"), "pattern": ("form", "change it"),
    "required": ("required", "add it"), "not": ("not-allowed", "leave it out"),
}  # fmt: skip
"""By the keyword that failed, the last word of the rule's name, and what to do."""


def faults(place: str, value: Any, schema: Any) -> list[Fault]:
    """Return what a value breaks of the schema that stands at a place."""
    errors = _JUDGE.descend(value, schema)
    return list(dict.fromkeys(fault for error in errors for fault in _faults(place, error)))


def _faults(place: str, error: ValidationError) -> Iterator[Fault]:
    """Turn one of jsonschema's errors into faults, one for each key that is missing."""
    route: Route = tuple(error.absolute_path)
    if "propertyNames" in error.absolute_schema_path:  # the value judged is a key
        route = (*route, str(error.instance))
    if error.validator == "required":
        wanted: Any = error.validator_value
        found: Any = error.instance
        yield from (_fault(place, error, (*route, key)) for key in wanted if key not in found)
    else:
        yield _fault(place, error, route)


def _fault(place: str, error: ValidationError, route: Route) -> Fault:
    keyword, wanted = str(error.validator), error.validator_value
    word, hint = _rule(keyword, wanted, error.instance, error.schema)
    # In these schemas a map is limited to one key beside its name: one kind of content.
    kinds = "must have only one kind of content"
    sentence = kinds if keyword == "maxProperties" else says(keyword, wanted, error.instance)
    family, fields, words = _trace(place, error.absolute_schema_path)
    if keyword == "required":
        fields = [*fields, str(route[-1])]
    subject = next((step for step in reversed(route) if isinstance(step, str)), place.rpartition("/")[2])
    return Fault(
        rule=words.get("x-rule") or "-".join([family, *map(_kebab, fields), word]), at=route,
        message=words.get("x-message", f"{subject} {sentence}"), hint=words.get("x-hint", hint),
        found="" if keyword == "required" else show(error.instance),
    )  # fmt: skip


def _rule(keyword: str, wanted: Any, found: Any, schema: Any) -> tuple[str, str]:
    """Return the last word of the name of the rule that a value breaks, and what to do."""
    if keyword == "format":
        return str(wanted), TEXT_FORMATS[wanted].hint(found)
    if keyword == "oneOf":
        given = any(way["required"][0] in found for way in wanted)
        return ("two-sources", "keep one of them") if given else ("no-source", "add one of them")
    if keyword in {"minimum", "maximum"} and {"minimum", "maximum"} <= schema.keys():
        return "range", f"write a number between {schema['minimum']} and {schema['maximum']}"
    word, hint = _RULES[keyword]
    return word, hint.format(listed(wanted))


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


def _pattern(_validator: Any, pattern: str, value: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(value, str) and not matches(value, pattern):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _format(_validator: Any, form: str, value: Any, _schema: Any) -> Iterator[ValidationError]:
    if form in TEXT_FORMATS and not TEXT_FORMATS[form].accepts(value):
        yield ValidationError(f"{value!r} is not a {form}")


_extend: Any = extend  # jsonschema does not type it
_JUDGE = _extend(Draft202012Validator, {"format": _format, "pattern": _pattern})({})
