"""The schema of one file of a spec for editors: the part form, in one piece, in standard JSON Schema.

Nothing is required, ``null`` and short forms are allowed. Of Kubernetes's rules for pods it has those of one value: an
overlay is a part, merged into others, so that nothing can be said of what it lacks, and ``null`` or empty removes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tfgitops.spec.schema.dialects import ONLY_WHOLE
from tfgitops.spec.schema.specschema import joined_source
from tfgitops.targets.kubernetes.schemafile import schema_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tfgitops.plugins.hookspecs import SchemaFragment

_POD = "pod."
_DROPPED = (*ONLY_WHOLE, "format", "$comment", "$defs")
"""What one file need not keep, or what only the compiler understands; so is all that begins with ``x-``."""
_OF_A_VALUE = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "maxLength", "maxItems", "uniqueItems")
_PATTERNS = {
    "dns-label": "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$",
    "dns-subdomain": "^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$",
}
"""Forms that editors do not know by their names."""

_EMPTY: tuple[Any, ...] = (None, "", [], {})


def as_text(fragments: Iterable[SchemaFragment], *, job: bool = False) -> str:
    """Return the text of a schema file for editors."""
    return json.dumps(for_editors(fragments, job=job), indent=2, ensure_ascii=False) + "\n"


def for_editors(fragments: Iterable[SchemaFragment], *, job: bool = False) -> dict[str, Any]:
    """Make the schema of an environment's file, or of a ``jobs/*.yaml`` file.

    Editors read ``1.10`` as a number, so that numbers are accepted where text is meant.
    """
    core = joined_source(fragments)
    definitions = {name: _part(schema, "") for name, schema in core["$defs"].items()}
    definitions |= {
        _POD + name: _with_rules(name, _part(schema, _POD))
        for name, schema in schema_file("pod.schema.json")["$defs"].items()
    }
    top = "job" if job else "environment"
    return {
        "$schema": core["$schema"],
        "title": f"tfgitops {top}",
        "$ref": f"#/$defs/{top}",
        "$defs": {name: definitions[name] for name in _reachable(top, definitions)},
    }


def _part(schema: Any, prefix: str) -> Any:
    """Loosen a schema to the form of one file; ``prefix`` stands before the names it refers to."""
    if type(schema) is list:
        return [_part(item, prefix) for item in schema]
    if type(schema) is not dict:
        return schema
    out: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _DROPPED or key.startswith("x-"):
            continue
        if key in ("properties", "patternProperties"):
            unread = schema.get("x-file", ())
            parts = {name: _nullable(_part(one, prefix)) for name, one in value.items() if name not in unread}
            former = {old: name for name, one in value.items() for old in one.get("x-formerly", ())}
            told = {old: {"deprecated": True, "description": f"the former name of {former[old]}"} for old in former}
            out[key] = {old: {**parts[former[old]], **told[old]} for old in former} | parts
        elif key == "additionalProperties" and type(value) is dict:
            out[key] = _nullable(_part(value, prefix))
        elif key == "$ref":
            document, _, name = value.partition("#/$defs/")
            out[key] = "#/$defs/" + {"": prefix, "core.schema.json": "", "pod.schema.json": _POD}[document] + name
        elif key == "type":
            kinds = value if type(value) is list else [value]
            out[key] = [*kinds, "number"] if "string" in kinds and "number" not in kinds else value
        else:
            out[key] = value if key == "enum" else _part(value, prefix)
    return _with_short_form(out, schema.get("x-shorthand"))


def _with_short_form(schema: dict[str, Any], shorthand: list[str] | None) -> dict[str, Any]:
    if not shorthand:
        return schema
    short = schema["properties"][shorthand[0]]
    return {**_description(schema), "if": {"type": "object"}, "then": schema, "else": short}


def _description(schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": schema["description"]} if "description" in schema else {}


def _nullable(schema: Any) -> Any:
    """Allow ``null``, which removes what a weaker file gave."""
    if type(schema) is not dict or schema.get("$ref", "").startswith(f"#/$defs/{_POD}"):
        return schema  # Kubernetes's own types allow it already
    if "enum" in schema:
        return {**schema, "enum": [*schema["enum"], None]}
    if "type" in schema and "if" not in schema:
        kinds = schema["type"] if type(schema["type"]) is list else [schema["type"]]
        return schema if "null" in kinds else {**schema, "type": [*kinds, "null"]}
    return {**_description(schema), "if": {"type": "null"}, "else": schema} if schema else schema


def _reachable(top: str, definitions: Mapping[str, Any]) -> list[str]:
    """List the definitions that one of them refers to, itself included, sorted."""
    found: set[str] = set()
    waiting: list[Any] = [{"$ref": f"#/$defs/{top}"}]
    while waiting:
        value = waiting.pop()
        if type(value) is dict:
            name = str(value.get("$ref", "")).removeprefix("#/$defs/")
            if name and name not in found:
                found.add(name)
                waiting.append(definitions[name])
        waiting += value.values() if type(value) is dict else value if type(value) is list else ()
    return sorted(found)


def _with_rules(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return one of Kubernetes's types with what its rules say of single values."""
    rules = schema_file("pod.rules.schema.json")["$defs"].get(name, {})
    limits = {key: _limits(rule) for key, rule in rules.get("properties", {}).items()}
    own = {key: _narrowed(one, limits.get(key)) for key, one in schema.get("properties", {}).items()}
    return {**schema, "properties": own} if own else schema


def _narrowed(schema: dict[str, Any], limits: dict[str, Any] | None) -> dict[str, Any]:
    """Join what two schemas say of a value; of two limits of one kind the rule's is the narrower."""
    own = dict(limits or {})
    inside = {key: own.pop(key) for key in ("items", "properties") if key in own}
    return {**schema, **own, **({"allOf": [inside]} if inside else {})}


def _limits(rule: dict[str, Any]) -> dict[str, Any]:
    """Take out of a rule what it says of a value alone, whatever stands beside it."""
    name = rule.get("$ref", "").removeprefix("#/$defs/")
    if name in schema_file("pod.schema.json")["$defs"]:
        return {}  # a type of its own, which gets its rules where it is defined
    if name:
        rule = schema_file("pod.rules.schema.json")["$defs"][name]
    if rule.get("not") == {}:
        return {"enum": [*_EMPTY], "description": f"not carried: {rule['x-message']}"}
    found = {key: rule[key] for key in _OF_A_VALUE if key in rule}
    if "enum" in rule:
        found["enum"] = [*rule["enum"], *(nothing for nothing in (None, "") if nothing not in rule["enum"])]
    if pattern := rule.get("pattern") or _PATTERNS.get(rule.get("format", "")):
        found["pattern"] = f"^$|{pattern}"
    if "items" in rule and (items := _limits(rule["items"])):
        found["items"] = items
    if inner := {key: one for key, value in rule.get("properties", {}).items() if (one := _limits(value))}:
        found["properties"] = inner
    return found
