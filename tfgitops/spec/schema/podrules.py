"""What an editor can tell of Kubernetes's rules for pods: those that say what one value must be.

An overlay is a part, merged into what others give, so that nothing can be said of what it lacks or holds together; and
``null`` in it removes, as does what is empty.
"""

from __future__ import annotations

from typing import Any

from tfgitops.targets.kubernetes.schemafile import schema_file

_OF_A_VALUE = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "maxLength", "maxItems", "uniqueItems")
_PATTERNS = {
    "dns-label": "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$",
    "dns-subdomain": "^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$",
}
"""Forms that editors do not know by their names."""

_EMPTY: tuple[Any, ...] = (None, "", [], {})


def with_rules(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return one of Kubernetes's types with what its rules say of single values."""
    rules = schema_file("pod.rules.schema.json")["$defs"].get(name, {})
    limits = {key: _limits(rule) for key, rule in rules.get("properties", {}).items()}
    if "properties" not in schema or not any(limits.values()):
        return schema
    return {**schema, "properties": {key: _both(inner, limits.get(key)) for key, inner in schema["properties"].items()}}


def _both(schema: dict[str, Any], limits: dict[str, Any] | None) -> dict[str, Any]:
    """Join what two schemas say of a value; of two limits of one kind the rule's is the narrower."""
    if not limits:
        return schema
    inside = {key: limits[key] for key in ("items", "properties") if key in limits}
    own = {key: value for key, value in limits.items() if key not in inside}
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
