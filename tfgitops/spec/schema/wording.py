"""What a JSON Schema finds wrong, in the spec's own words: read only where something is."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tfgitops.spec.diagnostics import Problem, quoted
from tfgitops.spec.schema.mistyped import meant, strange
from tfgitops.spec.schema.unknownkeys import answer, brought, misplaced
from tfgitops.targets.kubernetes.schemawords import SENTENCES, says
from tfgitops.targets.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from jsonschema import ValidationError

    from tfgitops.targets.routes import Route

_MOUNT = re.compile(r"([a-z0-9-]+):(/[^\s:/][^\s:]*)")  # as Docker has it
_KEYS_SHOWN = 4
_TYPE_NAMES = {
    "object": "a map", "array": "a list", "string": "text", "integer": "an integer", "number": "a number",
    "boolean": "true or false", "null": "nothing",
}  # fmt: skip
_EXPECTED = {
    "const": "{}", "exclusiveMaximum": "less than {}", "exclusiveMinimum": "more than {}", "maximum": "{} or less",
    "minimum": "{} or more",
}  # fmt: skip
_SHARED = SENTENCES.keys() - {"enum", "not", "pattern", "required"}
"""Keywords of which manifests are told in the same sentences.

Of the others a spec shows more: the wrong value in the message and all that is expected below it, and for a missing key
the map that lacks the key, on whose line the message stands.
"""


def problems(found: Iterable[ValidationError], value: Any, schema: Mapping[str, Any], at: Route) -> Iterator[Problem]:
    """Yield a problem for each error of a value, which stands at a route of the merged spec."""
    slips: set[Route] = set()
    for error in found:
        if slip := misplaced(value, schema, error.absolute_path, at):  # what is wrong in it follows from where it is
            if slip.at not in slips:
                yield slip
            slips.add(slip.at)
        else:
            yield _problem(error, (*at, *error.absolute_path))


def _problem(error: ValidationError, at: Route) -> Problem:
    value, schema = error.instance, error.schema if isinstance(error.schema, dict) else {}
    complaint: Problem | None = getattr(error, "complaint", None)
    on_key: bool = getattr(error, "on_key", False)
    if error.validator == "pattern":
        expected = schema.get("description", "")
        complaint = Problem(code="TF203", message=_not_allowed(value, at), at=at, expected=expected)
    if complaint:
        hint = _another_form(str(value)) or complaint.hint
        return replace(complaint, at=at, found=_show(value), hint=hint, on_key=on_key)
    general = Problem(
        code="TF203", message=_not_allowed(value, at), at=at, hint=schema.get("description", ""), on_key=on_key
    )
    say = _SAY.get(str(error.validator))  # jsonschema's own messages speak Python
    return replace(general, **say(error, value, schema, at)) if say else general


def _not_allowed(value: Any, at: Route) -> str:
    return f"{_show(value)} is not allowed for {_name(at)}"


def _another_form(text: str) -> str:
    """Say what is odd about a text that has not the form that it must have."""
    if " //" in text:
        return "a comment starts with ' #'"
    mount = _MOUNT.fullmatch(text)
    return f"write {{name: {mount[1]}, path: {mount[2]}}}" if mount else strange(text)


def _unknown_key(error: ValidationError, value: Any, schema: Mapping[str, Any], at: Route) -> dict[str, Any]:
    key = str(at[-1])
    hint = strange(key) or answer(key, value, schema)
    return {"code": "TF201", "message": f"unknown key '{key}'", "hint": hint, "on_key": True}


def _wrong_type(error: ValidationError, value: Any, schema: Mapping[str, Any], at: Route) -> dict[str, Any]:
    wanted: Any = error.validator_value
    kinds = [kind for kind in (wanted if isinstance(wanted, list) else [wanted]) if kind != "null"]
    kinds += ["object"] * getattr(error, "or_a_map", False)
    names = list(dict.fromkeys(_TYPE_NAMES[kind] for kind in kinds))
    expected = " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    hint = meant(value, kinds, schema) or schema.get("description", "") or _keys_hint(kinds, schema)
    message = f"{_name(at)} must be {expected}"
    return {"code": "TF202", "message": message, "found": _show(value), "expected": expected, "hint": hint}


def _keys_hint(kinds: list[str], schema: Mapping[str, Any]) -> str:
    required = schema.get("required") or schema.get("x-required") or ()
    first = [*required, *(key for key in sorted(schema.get("properties", ())) if key not in required)][:_KEYS_SHOWN]
    return f"a map with keys such as {', '.join(first)}" if kinds == ["object"] and first else ""


def _not_listed(error: ValidationError, value: Any, schema: Mapping[str, Any], at: Route) -> dict[str, Any]:
    listed: Any = error.validator_value
    allowed = [str(item) for item in listed if item is not None]
    hint = brought(str(value), schema) or _nearest(str(value), allowed) or schema.get("description", "")
    return {"found": _show(value), "expected": ", ".join(allowed), "hint": hint}


def _nearest(text: str, allowed: list[str]) -> str:
    """Guess what a value was meant to be; no guesses at versions, which look alike and do not mean each other."""
    if len(allowed) == 1:
        return f"only {allowed[0]} is supported"
    return did_you_mean(text, allowed) if any(map(str.isalpha, text)) else ""


def _shared(error: ValidationError, value: Any, schema: Mapping[str, Any], at: Route) -> dict[str, Any]:
    keyword, wanted = str(error.validator), error.validator_value
    said = {
        "message": f"{_name(at)} {says(keyword, wanted, value)}",
        "found": str(value) or "''" if value in ("", [], {}) else _show(value),
        "expected": _EXPECTED.get(keyword, "").format(wanted),
    }
    if keyword == "const" or (hint := brought(str(value), schema)):
        said["hint"] = "" if keyword == "const" else hint
    return said


def _incomplete(error: ValidationError, value: Any, schema: Mapping[str, Any], at: Route) -> dict[str, Any]:
    wanted: Any = error.validator_value
    pairs = ((key, other) for key, others in wanted.items() for other in others if key in value and other not in value)
    key, other = next(pairs)
    message = f"{_name(at)} has '{key}' and no '{other}'"
    return {"code": "TF204", "message": message, "hint": f"add `{other}`, or leave `{key}` out"}


def _missing(error: ValidationError, value: Any, schema: Mapping[str, Any], at: Route) -> dict[str, Any]:
    key = str(at[-1])
    inner = schema.get("properties", {}).get(key)
    inner = inner if isinstance(inner, dict) else {}
    hint = f"add `{key}: {inner['const']}`" if "const" in inner else inner.get("description", "")
    where = _name(at[:-1]) if at[:-1] else "the environment"
    return {"code": "TF204", "message": f"{where} has no '{key}'", "hint": hint}


def _alternatives(error: ValidationError, value: Any, schema: Mapping[str, Any], at: Route) -> dict[str, Any]:
    choices: Any = error.validator_value
    if not isinstance(value, dict) or not all("required" in way for way in choices):
        return {}
    ways = "; or ".join(" and ".join(way["required"]) for way in choices)
    message = f"{_name(at)} {says('oneOf', choices, value)}"
    found = " and ".join(value) or _show(value)
    return {"code": "TF204", "message": message, "found": found, "expected": f"exactly one of: {ways}"}


def _repeated(error: ValidationError, value: Any, schema: Mapping[str, Any], at: Route) -> dict[str, Any]:
    twice = next(item for index, item in enumerate(value) if item in value[:index])
    return {"message": f"{_name(at)} holds {_show(twice)} twice", "hint": "name it once"}


_SAY: dict[str, Callable[[ValidationError, Any, Mapping[str, Any], Route], dict[str, Any]]] = {
    "additionalProperties": _unknown_key, "dependentRequired": _incomplete, "enum": _not_listed,
    "oneOf": _alternatives, "required": _missing, "type": _wrong_type, "uniqueItems": _repeated,
    "x-file": _unknown_key,
    **dict.fromkeys(_SHARED, _shared),
}  # fmt: skip
"""By jsonschema's keyword, the fields of a problem in which it differs from the general one."""


def _name(at: Route) -> str:
    """Name a place by its last two keys, with the indices between: `policies[0].action`."""
    keys = [index for index, key in enumerate(at) if isinstance(key, str)][-2:]
    parts = [f"[{key}]" if isinstance(key, int) else f".{key}" for key in at[keys[0] :]] if keys else []
    return f"'{''.join(parts).lstrip('.')}'" if parts else "the file"


def _show(value: Any) -> str:
    if value is None or type(value) is bool:
        return {None: "null", True: "true", False: "false"}[value]
    if type(value) in (dict, list):
        return "a map" if type(value) is dict else "a list"
    return quoted(value) if type(value) is str else quoted(str(value)).strip("'")
