"""Judge the shape of a spec by its JSON Schema, and say what is wrong in the spec's own words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.diagnostics import Problem, did_you_mean
from tfgitops.document import odd_characters
from tfgitops.kubernetes.names import describe
from tfgitops.schema.complaint import Complaint
from tfgitops.schema.keywords import errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from jsonschema import ValidationError

    from tfgitops.diagnostics import Route

_SHOWN_AT_MOST = 60
_KEYS_SHOWN = 4
_TWO = 2
_TRUE, _FALSE = {"yes", "on", "y", "true"}, {"no", "off", "n", "false"}
_TYPE_NAMES = {
    "object": "a map", "array": "a list", "string": "text", "integer": "an integer",
    "number": "a number", "boolean": "true or false", "null": "nothing",
}  # fmt: skip


def validate(value: Any, schema: Mapping[str, Any], at: Route = (), *, part: bool) -> Iterator[Problem]:
    """Yield a problem for each place where a value has not the shape that a schema gives it.

    Args:
        value: a file's value, or a merged spec.
        schema: a schema without references, from `tfgitops.schema.spec.join`.
        at: the route of the value in the merged spec.
        part: whether this is one file, in which nothing is required, ``null`` removes, and short forms are allowed.
    """
    for error in errors(value, schema, part=part):
        yield from _problems(error, (*at, *error.absolute_path))


def _problems(error: ValidationError, at: Route) -> Iterator[Problem]:
    value, schema = error.instance, error.schema if isinstance(error.schema, dict) else {}
    if complaint := getattr(error, "complaint", None):
        yield _complaint(complaint, value, at, on_key=getattr(error, "on_key", False))
    elif say := _SAY.get(str(error.validator)):
        yield say(error, value, schema, at)
    else:
        message = f"{_show(value)} is not allowed for {_name(at)}"  # jsonschema's own speaks Python
        yield Problem(code="TF203", message=message, at=at, hint=schema.get("description", ""))


def _complaint(complaint: Complaint, value: Any, at: Route, *, on_key: bool) -> Problem:
    hint = _strange(str(value)) or complaint.hint
    if " //" in str(value):
        hint = "a comment starts with ' #'"
    return Problem(
        code=complaint.code, message=complaint.message, at=at, found=_show(value),
        expected=complaint.expected, hint=hint, on_key=on_key,
    )  # fmt: skip


def _unknown_key(error: ValidationError, value: Any, schema: Mapping[str, Any], at: Route) -> Problem:
    key = str(at[-1])
    known = schema.get("properties", {})
    hint = _strange(key) or schema.get("x-hints", {}).get(key, "")
    belongs = schema.get("x-elsewhere", {}).get(key) or schema.get("x-left-out")
    if not hint and belongs:  # unless it is nearly one of those here
        hint = did_you_mean(key, list(known), cutoff=0.8) or belongs
    hint = hint or _elsewhere(key, value, known)
    if not hint:
        hint = f"known here: {', '.join(sorted(known))}" if known else "no keys are known here"
    return Problem(code="TF201", message=f"unknown key '{key}'", at=at, hint=hint, on_key=True)


def _elsewhere(key: str, value: Any, known: Mapping[str, Any]) -> str:
    """Guess what an unknown key was meant to be."""
    if key.startswith("//"):
        return "comments start with '#'"
    roles = "chief" in known and "worker" in known
    role_like = roles and type(value) in (int, dict)
    if near := did_you_mean(key, list(known), cutoff=0.76 if role_like else 0.6):
        return near
    if raw := _raw(key, known):
        return raw
    if role_like:
        return "the roles are chief, ps, worker and evaluator; any other task goes under `tasks`"
    below = [name for name, inner in known.items() if type(inner) is dict and key in inner.get("properties", ())]
    return f"it belongs under `{below[0]}`" if below else ""


def _raw(key: str, known: Mapping[str, Any]) -> str:
    """Say where a field of Kubernetes's pods or containers belongs."""
    if "pod" not in known or "container" not in known:
        return ""
    if key in known["container"]["properties"]:
        return f"a field of Kubernetes's containers: `container: {{{key}: …}}`"
    if key in known["pod"]["properties"]["spec"]["properties"]:
        return f"a field of Kubernetes's pods: `pod: {{spec: {{{key}: …}}}}`"
    return ""


def _strange(text: str) -> str:
    """Name the characters of what should be plain ASCII, by their code points."""
    odd = odd_characters(text) or [describe(char) for char in dict.fromkeys(text) if not char.isascii()]
    return f"it holds {' and '.join(odd)}; type it anew" if odd else ""


def _wrong_type(error: ValidationError, value: Any, schema: Mapping[str, Any], at: Route) -> Problem:
    wanted: Any = error.validator_value
    kinds = [kind for kind in (wanted if isinstance(wanted, list) else [wanted]) if kind != "null"]
    kinds += ["object"] * getattr(error, "or_a_map", False)
    names = list(dict.fromkeys(_TYPE_NAMES[kind] for kind in kinds))
    expected = " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    hint = _type_hint(value, kinds, schema) or schema.get("description", "") or _keys_hint(kinds, schema)
    message = f"{_name(at)} must be {expected}"
    return Problem(code="TF202", message=message, at=at, found=_show(value), expected=expected, hint=hint)


def _keys_hint(kinds: list[str], schema: Mapping[str, Any]) -> str:
    required = schema.get("required") or schema.get("x-required") or ()
    first = [*required, *(key for key in sorted(schema.get("properties", ())) if key not in required)][:_KEYS_SHOWN]
    return f"a map with keys such as {', '.join(first)}" if kinds == ["object"] and first else ""


def _type_hint(value: Any, kinds: list[str], schema: Mapping[str, Any]) -> str:
    """Say how a value of the wrong type was probably meant."""
    text = str(value).strip()
    if value is True or value is False:
        return (
            f'quote it, if the text is meant: "{_show(value)}"' if "string" in kinds and "format" not in schema else ""
        )
    if "boolean" in kinds and text.lower() in _TRUE | _FALSE:
        return f"write {'true' if text.lower() in _TRUE else 'false'}"
    if "string" in kinds and type(value) is int:
        return f'quote it: "{value}"'
    if "integer" in kinds and type(value) is str and text.lstrip("-").isdigit():
        return f"write {int(text)}, a number without quotes"
    return _strange(value) if type(value) is str and odd_characters(value) else ""


def _not_listed(error: ValidationError, value: Any, schema: Mapping[str, Any], at: Route) -> Problem:
    listed: Any = error.validator_value
    allowed = [str(item) for item in listed if item is not None]
    hint = did_you_mean(str(value), allowed) or schema.get("description", "")
    message = f"{_show(value)} is not allowed for {_name(at)}"
    return Problem(code="TF203", message=message, at=at, found=_show(value), expected=", ".join(allowed), hint=hint)


def _not_constant(error: ValidationError, value: Any, schema: Mapping[str, Any], at: Route) -> Problem:
    wanted = str(error.validator_value)
    message = f"{_name(at)} must be {wanted}"
    return Problem(code="TF203", message=message, at=at, found=_show(value), expected=wanted)


def _range(error: ValidationError, value: Any, schema: Mapping[str, Any], at: Route) -> Problem:
    bound = error.validator_value
    low = "inimum" in str(error.validator)
    message = f"{value} is {'less than the minimum of' if low else 'more than the maximum of'} {bound}"
    expected = f"{bound} or {'more' if low else 'less'}"
    hint = schema.get("description", "")
    return Problem(code="TF203", message=message, at=at, found=_show(value), expected=expected, hint=hint)


def _empty(error: ValidationError, value: Any, schema: Mapping[str, Any], at: Route) -> Problem:
    if value:
        return _bounded(error, value, schema, at)
    hint = schema.get("description", "")
    found = str(value) or "''"
    return Problem(code="TF203", message=f"{_name(at)} is empty", at=at, found=found, hint=hint)


_BOUNDS = {
    "exclusiveMaximum": "be less than {}",
    "maxItems": "have at most {} entries",
    "maxLength": "have at most {} characters",
    "maxProperties": "have at most {} keys",
    "minItems": "have at least {} entries",
    "minLength": "have at least {} characters",
    "minProperties": "have at least {} keys",
    "multipleOf": "be a multiple of {}",
}


def _bounded(error: ValidationError, value: Any, schema: Mapping[str, Any], at: Route) -> Problem:
    bound: Any = error.validator_value
    message = f"{_name(at)} must {_BOUNDS[str(error.validator)].format(bound)}"
    if bound == 1:
        message = message.replace("entries", "entry").removesuffix("s")
    return Problem(code="TF203", message=message, at=at, found=_show(value), hint=schema.get("description", ""))


def _incomplete(error: ValidationError, value: Any, schema: Mapping[str, Any], at: Route) -> Problem:
    wanted: Any = error.validator_value
    pairs = ((key, other) for key, others in wanted.items() for other in others if key in value and other not in value)
    key, other = next(pairs)
    hint = f"add `{other}`, or leave `{key}` out"
    return Problem(code="TF204", message=f"{_name(at)} has '{key}' and no '{other}'", at=at, hint=hint)


def _missing(error: ValidationError, value: Any, schema: Mapping[str, Any], at: Route) -> Problem:
    key = str(at[-1])
    inner = schema.get("properties", {}).get(key)
    inner = inner if isinstance(inner, dict) else {}
    hint = f"add `{key}: {inner['const']}`" if "const" in inner else inner.get("description", "")
    where = _name(at[:-1]) if at[:-1] else "the environment"
    return Problem(code="TF204", message=f"{where} has no '{key}'", at=at, hint=hint)


def _alternatives(error: ValidationError, value: Any, schema: Mapping[str, Any], at: Route) -> Problem:
    choices: Any = error.validator_value
    ways = "; or ".join(" and ".join(way.get("required", ())) for way in choices)
    given = " and ".join(value) if isinstance(value, dict) and value else _show(value)
    message = f"{_name(at)} has {given}, which do not go together"
    if len(value) < _TWO:
        message = f"{_name(at)} has only {given}" if value else f"{_name(at)} is empty"
    hint = schema.get("description", "")
    return Problem(code="TF204", message=message, at=at, found=given, expected=f"exactly one of: {ways}", hint=hint)


def _repeated(error: ValidationError, value: Any, schema: Mapping[str, Any], at: Route) -> Problem:
    twice = next(item for index, item in enumerate(value) if item in value[:index])
    return Problem(code="TF203", message=f"{_name(at)} holds {_show(twice)} twice", at=at, hint="name it once")


def _pattern(error: ValidationError, value: Any, schema: Mapping[str, Any], at: Route) -> Problem:
    return _complaint(
        Complaint(f"{_show(value)} is not allowed for {_name(at)}", schema.get("description", "")),
        value, at, on_key=getattr(error, "on_key", False),
    )  # fmt: skip


_SAY: dict[str, Callable[[ValidationError, Any, Mapping[str, Any], Route], Problem]] = {
    "additionalProperties": _unknown_key,
    "const": _not_constant,
    "dependentRequired": _incomplete,
    "enum": _not_listed,
    "exclusiveMinimum": _range,
    "maximum": _range,
    "minItems": _empty,
    "minLength": _empty,
    "minProperties": _empty,
    "minimum": _range,
    "oneOf": _alternatives,
    "pattern": _pattern,
    "required": _missing,
    "type": _wrong_type,
    "uniqueItems": _repeated,
    **{keyword: _bounded for keyword in _BOUNDS if not keyword.startswith("min")},
}


def _name(at: Route) -> str:
    """Name a place by its last two keys, with the indices between: `policies[0].action`."""
    keys = [index for index, key in enumerate(at) if isinstance(key, str)][-2:]
    parts = [f"[{key}]" if isinstance(key, int) else f".{key}" for key in at[keys[0] :]] if keys else []
    return f"'{''.join(parts).lstrip('.')}'" if parts else "the file"


def _show(value: Any) -> str:
    if value is None or type(value) is bool:
        return {None: "null", True: "true", False: "false"}[value]
    if type(value) is dict:
        return "a map"
    if type(value) is list:
        return "a list"
    text = str(value)
    short = text if len(text) <= _SHOWN_AT_MOST else f"{text[:_SHOWN_AT_MOST]}…"
    return f"'{short}'" if type(value) is str else short
