"""Say what keeps a value from fitting its JSON Schema, as jsonschema's errors.

A few of jsonschema's keywords are replaced: each unknown or missing key gets an error of its own, and names are
reported on the key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from tfgitops.spec import bounds
from tfgitops.spec.schema.dialects import ONLY_WHOLE, PART, WHOLE, is_formatted
from tfgitops.spec.schema.formats import complain
from tfgitops.targets.fits import further
from tfgitops.targets.nearest import SURE, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Errors = Iterator[ValidationError]


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
                yield from _judge(validator, value, subschema, key)


def _additional(validator: Any, additional: Any, instance: Any, schema: Any) -> Errors:
    if type(instance) is not dict or additional is True:
        return
    unknown = 0
    for key in further(instance, schema):
        if additional is not False:
            yield from _judge(validator, instance[key], additional, key)
        elif "x-more" not in schema or did_you_mean(key, schema.get("properties", {}), cutoff=SURE):
            yield ValidationError("unknown key", path=[key], instance=instance[key])
            if (unknown := unknown + 1) == bounds.UNKNOWN:  # who reads a hundred knows about the others
                return


def _judge(validator: Any, value: Any, schema: Any, key: str) -> Errors:
    """Look for errors where there are some: of a thousand jobs, few are wrong."""
    if (value is None and validator.part) or validator.dialect.fits(value, schema):
        return
    yield from validator.descend(value, schema, path=key)


def _names(validator: Any, schema: Any, instance: Any, _: Any) -> Errors:
    if type(instance) is dict:
        for name in instance:
            for error in validator.descend(name, schema, path=name):
                error.on_key = True
                yield error


def _format(validator: Any, form: str, instance: Any, schema: Any) -> Errors:
    if is_formatted(instance, schema) and (complaint := complain(form, instance)):
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


def _unread(_: Any, keys: Any, instance: Any, __: Any) -> Errors:
    """Refuse the keys that the compiler itself fills in: the text of a file."""
    if type(instance) is dict:
        for key in [key for key in keys if key in instance]:
            yield ValidationError("unknown key", path=[key], instance=instance[key])


def _nothing(*_: Any) -> None:
    """Stands for a keyword that one file need not keep."""


_SHARED: dict[str, Callable[..., Any]] = {
    "additionalProperties": _additional, "format": _format, "properties": _properties, "propertyNames": _names,
    "required": _required, "type": _type,
}  # fmt: skip
_extend: Any = extend  # jsonschema does not type it
_Whole = _extend(Draft202012Validator, _SHARED)
_Part = _extend(Draft202012Validator, {**_SHARED, "x-file": _unread, **dict.fromkeys(ONLY_WHOLE, _nothing)})
for _kind, _dialect in ((_Whole, WHOLE), (_Part, PART)):
    _kind.part, _kind.dialect, _kind.made, _kind.descend = _kind is _Part, _dialect, {}, _descend
