"""jsonschema's keywords as a spec needs them: an error for each key, on the key, and no value judged twice.

jsonschema's own keywords do the judging. These few are replaced so that each unknown or missing key gets an error of
its own, names are reported on the key, and a value that stands in a thousand jobs is judged once: what a schema says of
a value depends on nothing else.
"""

from __future__ import annotations

import marshal
import re
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from tfgitops.spec.schema.formats import complain
from tfgitops.targets.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

_SURE = 0.8
"""How near to a known key one must be to be taken for it where there are further keys that nobody knows."""

_FORMATTED = {str: "string", int: "integer"}


def errors(value: Any, schema: Mapping[str, Any], *, part: bool) -> Iterator[ValidationError]:
    """Yield jsonschema's errors of a value, as the form of one file (``part``) or of the merged spec.

    An error may say more than jsonschema's own do: ``complaint``, what a format has against a text; ``on_key``, that
    the key is wrong and not its value; ``or_a_map``, that a short form was meant.
    """
    return iter(_made(_Part if part else _Whole, schema).iter_errors(value))


def _made(kind: Any, schema: Any) -> Any:
    """Return the validator of a schema, made once: the validator keeps the schema, so that its id stays its own."""
    validator = kind.made.get(id(schema))
    if validator is None:
        validator = kind.made[id(schema)] = kind(schema)
    return validator


def _descend(validator: Any, instance: Any, schema: Any, path: Any = None, **_: Any) -> Iterator[ValidationError]:
    """Judge a part of a value as jsonschema's own method of this name does, which makes a validator for each value."""
    for error in _made(type(validator), schema).iter_errors(instance):
        if path is not None:
            error.path.appendleft(path)
        yield error


def _properties(validator: Any, properties: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if type(instance) is dict:
        for key, value in instance.items():
            subschema = properties.get(key)
            if subschema is not None:
                yield from _judge_once(validator, value, subschema, key)


def _additional(validator: Any, additional: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if type(instance) is not dict or additional is True:
        return
    known = schema.get("properties", {})
    patterns = schema.get("patternProperties", ())
    for key, value in instance.items():
        if key in known or any(re.search(pattern, key) for pattern in patterns):
            continue
        if additional is False:
            if "x-more" not in schema or did_you_mean(key, known, cutoff=_SURE):
                yield ValidationError("unknown key", path=[key], instance=value)
        else:
            yield from _judge_once(validator, value, additional, key)


def _judge_once(validator: Any, value: Any, schema: Any, key: str) -> Iterable[ValidationError]:
    if value is None and validator.part:
        return ()
    mark = (id(schema), value if type(value) is str else marshal.dumps(value, 2))
    return () if mark in validator.seen else _judge_anew(validator, value, schema, key, mark)


def _judge_anew(validator: Any, value: Any, schema: Any, key: str, mark: Any) -> Iterator[ValidationError]:
    clean = True
    for error in validator.descend(value, schema, path=key):
        clean = False
        yield error
    if clean:
        validator.seen[mark] = schema  # the schema is kept, so that its id stays its own


def _names(validator: Any, schema: Any, instance: Any, _: Any) -> Iterator[ValidationError]:
    if type(instance) is dict:
        for name in instance:
            for error in validator.descend(name, schema):
                error.path.appendleft(name)
                error.on_key = True
                yield error


def _format(validator: Any, form: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    wanted = schema.get("type", ("string", "integer"))
    if _FORMATTED.get(type(instance), "other") not in wanted:  # of another type: that has its own error
        return
    if complaint := complain(form, instance):
        error = ValidationError(complaint.message)
        error.complaint = complaint  # type: ignore[attr-defined]
        yield error


def _type(validator: Any, types: Any, instance: Any, schema: Any) -> Iterator[ValidationError] | None:
    if "x-shorthand" in schema and type(instance) is not dict and validator.part:
        return _short_form(validator, instance, schema)
    return Draft202012Validator.VALIDATORS["type"](validator, types, instance, schema)  # type: ignore[no-any-return]


def _short_form(validator: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    for error in validator.descend(instance, schema["properties"][schema["x-shorthand"][0]]):
        error.or_a_map = not error.path
        yield error


def _required(validator: Any, required: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if type(instance) is dict:
        for key in required:
            if key not in instance:
                yield ValidationError("missing key", path=[key])


def _nothing(*_: Any) -> None:
    """Stands for a keyword that one file need not keep."""


ONLY_WHOLE = ("required", "oneOf", "dependentRequired", "minProperties", "not")
"""What one file need not keep, since what it lacks may stand in another."""

_SHARED: dict[str, Callable[..., Any]] = {
    "additionalProperties": _additional,
    "format": _format,
    "properties": _properties,
    "propertyNames": _names,
    "required": _required,
    "type": _type,
}
_extend: Any = extend  # jsonschema does not type it
_Whole = _extend(Draft202012Validator, _SHARED)
_Part = _extend(Draft202012Validator, {**_SHARED, **dict.fromkeys(ONLY_WHOLE, _nothing)})
for _kind in (_Whole, _Part):
    _kind.part, _kind.seen, _kind.made, _kind.descend = _kind is _Part, {}, {}, _descend
