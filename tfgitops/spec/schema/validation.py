"""Judge the shape of a spec by its JSON Schema, and say what is wrong in the spec's own words.

A few of jsonschema's keywords are replaced: each unknown or missing key gets an error of its own, names are reported on
the key, and a value that stands in a thousand jobs is judged once.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from tfgitops.spec.places import Places
from tfgitops.spec.schema.formats import complain
from tfgitops.targets.memo import packed
from tfgitops.targets.nearest import SURE, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from tfgitops.spec.diagnostics import Diagnostic, Problem
    from tfgitops.spec.document import Document
    from tfgitops.spec.schema.specschema import SpecSchema
    from tfgitops.targets.routes import Route

    Errors = Iterator[ValidationError]

ONLY_WHOLE = ("required", "oneOf", "dependentRequired", "minProperties", "not")
"""Keywords that one file need not keep, since what it lacks may stand in another."""

_UNKNOWN_MAX = 100
_FORMATTED = {str: "string", int: "integer"}


def validate_parts(documents: Iterable[Document], schema: SpecSchema) -> Iterator[Diagnostic]:
    """Judge each file by itself: what is wrong in one is shown there, also where a stronger one overrides it."""
    for document in documents:
        yield from Places(documents=(document,)).diagnose(validate_file(document, schema))


def validate_file(document: Document, schema: SpecSchema) -> Iterator[Problem]:
    """Yield what is wrong with one file of a spec by itself."""
    shape = schema.job if document.prefix else schema.environment
    return validate(document.value, shape, document.prefix, part=True)


def validate(value: Any, schema: Mapping[str, Any], at: Route = (), *, part: bool) -> Iterator[Problem]:
    """Yield a problem for each place where a value, which stands at a route of the spec, has not its schema's shape.

    The schema has no references. ``part`` is whether the value is one file's: nothing is then required, ``null``
    removes, and short forms are allowed.
    """
    if found := [*errors(value, schema, part=part)]:
        from tfgitops.spec.schema.wording import problems  # noqa: PLC0415 - most specs are right

        yield from problems(found, value, schema, at)


def errors(value: Any, schema: Mapping[str, Any], *, part: bool) -> Errors:
    """Yield jsonschema's errors of a value, as the form of one file (``part``) or of the merged spec.

    An error may have more attributes than jsonschema's own: ``complaint``, what a format has against a text;
    ``on_key``, that the key is wrong and not its value; ``or_a_map``, that a short form was meant.
    """
    return iter(_made(_Part if part else _Whole, schema).iter_errors(value))


def _made(kind: Any, schema: Any) -> Any:
    """Return the validator of a schema, made once: the validator keeps the schema, so that its id stays its own."""
    validator = kind.made.get(id(schema))
    if validator is None:
        validator = kind.made[id(schema)] = kind(schema)
    return validator


def _descend(validator: Any, instance: Any, schema: Any, path: Any = None, **_: Any) -> Errors:
    """Judge a part of a value as jsonschema's own method of this name does, which makes a validator for each value."""
    for error in _made(type(validator), schema).iter_errors(instance):
        if path is not None:
            error.path.appendleft(path)
        yield error


def _properties(validator: Any, properties: Any, instance: Any, schema: Any) -> Errors:
    if type(instance) is dict:
        for key, value in instance.items():
            subschema = properties.get(key)
            if subschema is not None:
                yield from _judge_once(validator, value, subschema, key)


def _additional(validator: Any, additional: Any, instance: Any, schema: Any) -> Errors:
    if type(instance) is not dict or additional is True:
        return
    known = schema.get("properties", {})
    patterns = schema.get("patternProperties", ())
    unknown = 0
    for key, value in instance.items():
        if key in known or any(re.search(pattern, key) for pattern in patterns):
            continue
        if additional is not False:
            yield from _judge_once(validator, value, additional, key)
        elif "x-more" not in schema or did_you_mean(key, known, cutoff=SURE):
            yield ValidationError("unknown key", path=[key], instance=value)
            if (unknown := unknown + 1) == _UNKNOWN_MAX:  # who reads a hundred knows about the others
                return


def _judge_once(validator: Any, value: Any, schema: Any, key: str) -> Errors:
    """Judge a value unless it was found clean before; `by_content` would copy each value, which costs a third more."""
    if value is None and validator.part:
        return
    mark = (id(schema), value if type(value) is str else packed(value))
    if mark in validator.seen:
        return
    clean = True
    for error in validator.descend(value, schema, path=key):
        clean = False
        yield error
    if clean:
        validator.seen[mark] = schema  # the schema is kept, so that its id stays its own


def _names(validator: Any, schema: Any, instance: Any, _: Any) -> Errors:
    if type(instance) is dict:
        for name in instance:
            for error in validator.descend(name, schema, path=name):
                error.on_key = True
                yield error


def _format(validator: Any, form: str, instance: Any, schema: Any) -> Errors:
    wanted = schema.get("type", ("string", "integer"))
    if _FORMATTED.get(type(instance), "other") not in wanted:  # of another type: that has its own error
        return
    if complaint := complain(form, instance):
        error = ValidationError(complaint.message)
        error.complaint = complaint  # type: ignore[attr-defined]
        yield error


def _type(validator: Any, types: Any, instance: Any, schema: Any) -> Errors | None:
    if "x-shorthand" in schema and type(instance) is not dict and validator.part:
        return _short_form(validator, instance, schema)
    return Draft202012Validator.VALIDATORS["type"](validator, types, instance, schema)  # type: ignore[no-any-return]


def _short_form(validator: Any, instance: Any, schema: Any) -> Errors:
    for error in validator.descend(instance, schema["properties"][schema["x-shorthand"][0]]):
        error.or_a_map = not error.path
        yield error


def _required(validator: Any, required: Any, instance: Any, schema: Any) -> Errors:
    if type(instance) is dict:
        yield from (ValidationError("missing key", path=[key]) for key in required if key not in instance)


def _nothing(*_: Any) -> None:
    """Stands for a keyword that one file need not keep."""


_SHARED: dict[str, Callable[..., Any]] = {
    "additionalProperties": _additional, "format": _format, "properties": _properties, "propertyNames": _names,
    "required": _required, "type": _type,
}  # fmt: skip
_extend: Any = extend  # jsonschema does not type it
_Whole = _extend(Draft202012Validator, _SHARED)
_Part = _extend(Draft202012Validator, {**_SHARED, **dict.fromkeys(ONLY_WHOLE, _nothing)})
for _kind in (_Whole, _Part):
    _kind.part, _kind.seen, _kind.made, _kind.descend = _kind is _Part, {}, {}, _descend
