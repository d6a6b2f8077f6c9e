"""Draws values for the keys of a spec and of Kubernetes's pods: mostly legal, now and then slightly illegal.

The shapes come from the schemas, what a text may be from `tables.py`. `specs.py` draws with Python's own random
numbers: with hypothesis's in their place, 2,000 specs took 20 times as long and came to 294 keys and 157 kinds of
refusal, where these come to 447 and 530, since it repeats small values. `tests/test_generated_specs.py` has
hypothesis draw seeds of the same specs, wherever there is no Go.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import tables

from tfgitops.targets.kubernetes.schemafile import schema_file

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from random import Random

Json = dict[str, Any]


# Types that are no maps.
SCALARS = {
    "Quantity": (tables.QUANTITIES, tables.ODD_QUANTITIES),
    "FileMode": tables.POOLS["mode"],
    "IntOrString": (tables.PORTS, tables.ODD_PORTS),
}


class Draw:
    """Draws usual values from the tables, and odd values in a few numbered places."""

    def __init__(self, random: Random, odd: Collection[int] = ()) -> None:
        self.random = random
        self.places = 0  # number of places so far where a value could be odd
        self._odd = odd

    def chance(self, percent: int) -> bool:
        """Return true in so many of 100 draws."""
        return self.random.randrange(100) < percent

    def pick(self, usual: Sequence[Any], odd: Sequence[Any]) -> Any:
        """Draw a usual value, or now and then an odd one or any short text."""
        if not self.slips():
            return self.random.choice(usual)
        if type(odd[0]) is str and self.chance(40):
            return "".join(self.random.choices("aZ09-._/:$()@= é", k=self.random.randint(1, 6)))
        return self.random.choice(odd)

    def some(self, keys: Iterable[str], most: int = 2) -> dict[str, None]:
        """Draw up to so many of some keys."""
        keys = sorted(keys)
        return dict.fromkeys(self.random.sample(keys, min(self.random.randint(0, most), len(keys))))

    def slips(self) -> bool:
        """Tell whether the value at this place is odd."""
        self.places += 1
        return self.places in self._odd


@cache
def definition(name: str) -> Json:
    """Return the schema of one of Kubernetes's types."""
    found: Json = schema_file("pod.schema.json")["$defs"][name]
    return found


@cache
def _weight(name: str) -> int:
    """Count the types below a type, as the weight of a key that has it."""
    below, rest = {name}, [name]
    while rest:
        found = {ref for schema in definition(rest.pop()).get("properties", {}).values() if (ref := reference(schema))}
        rest += found - below
        below |= found
    return len(below)


def reference(schema: Json) -> str:
    """Return the name of the Kubernetes type that a key holds, alone or in a list, or nothing."""
    inner = schema.get("items", schema)
    return str(inner.get("$ref", "")).rpartition("/")[2]


def pod_keys(draw: Draw, name: str) -> list[str]:
    """Draw one to three keys of a large type; keys with more types below them come more often."""
    properties = definition(name)["properties"]
    keys = sorted(properties.keys() - (set() if draw.slips() else tables.REFUSED))
    weights = [2 + _weight(ref) if (ref := reference(properties[key])) else 2 for key in keys]
    return list(dict.fromkeys(draw.random.choices(keys, weights, k=draw.random.randint(1, 3))))


def pod_value(draw: Draw, name: str, holder: str = "", only: Sequence[str] = ()) -> Any:
    """Draw a value of one of Kubernetes's types by the name of its schema, from the keys `only` if there are some.

    `holder` is the key that it stands under.
    """
    if name == "ResourceRequirements" and not only and not draw.slips():
        return _requirements(draw)
    schema = definition(name)
    keys = dict.fromkeys(only) or _keys(draw, name, schema)
    fields = {key: _pod_field(draw, schema["properties"][key], name, key, holder) for key in keys}
    if name in MENDERS and not draw.slips():
        MENDERS[name](fields)
    return fields


def _keys(draw: Draw, name: str, schema: Json) -> dict[str, None]:
    names = schema["properties"].keys() - (set() if draw.slips() else tables.REFUSED)
    keys = dict.fromkeys([*schema.get("x-required", ()), *tables.ALSO.get(name, ())])
    if name in tables.ONE_OF and not draw.slips():
        names = {"name"} if name == "Volume" else names - {*tables.ONE_OF[name]}
        keys[draw.random.choice(tables.ONE_OF[name])] = None
    for key in list(keys):
        if draw.chance(20) and draw.slips():
            del keys[key]
    return keys | draw.some(names)


def _requirements(draw: Draw) -> Json:
    """Draw resources with requests at or below their limits."""
    limits = {
        draw.pick(tables.RESOURCES, tables.ODD_RESOURCES): draw.pick(("2", 4), tables.ODD_QUANTITIES) for _ in range(2)
    }
    if any(name.startswith("hugepages") for name in limits):
        limits["memory"] = "4"
    return draw.random.choice([{"limits": limits}, {"requests": limits, "limits": limits}])


def _mend_operator(fields: Json) -> None:
    if fields.get("operator") in ("Exists", "DoesNotExist"):
        fields.pop("values", None)
    elif fields.get("operator") in ("Gt", "Lt"):
        fields["values"] = ["1"]


def _mend_node_field(fields: Json) -> None:
    if "matchFields" in fields:
        fields["matchFields"] = [{"key": "metadata.name", "operator": "In", "values": ["a"]}]


def _mend_constraint(fields: Json) -> None:
    if "minDomains" in fields:
        fields["whenUnsatisfiable"] = "DoNotSchedule"
    if "matchLabelKeys" in fields:
        fields.setdefault("labelSelector", {"matchLabels": {"a": "b"}})


def _mend_toleration(fields: Json) -> None:
    if fields.get("operator") == "Exists":
        fields.pop("value", None)
    if "tolerationSeconds" in fields:
        fields["effect"] = "NoExecute"


def _mend_profile(fields: Json) -> None:
    if fields.get("type") != "Localhost":
        fields.pop("localhostProfile", None)
    elif "localhostProfile" not in fields:
        fields["localhostProfile"] = "a.json"


def _mend_mount(fields: Json) -> None:
    if fields.get("recursiveReadOnly") in ("Enabled", "IfPossible"):
        fields["readOnly"] = True
        fields.pop("mountPropagation", None)
    if "subPathExpr" in fields:
        fields.pop("subPath", None)


def _mend_resource(fields: Json) -> None:
    cpu = str(fields.get("resource")).endswith("cpu")
    if "divisor" in fields:
        fields["divisor"] = "1m" if cpu else "1Mi"


# Functions that make the fields of one type fit each other.
MENDERS: dict[str, Callable[[Json], None]] = {
    "AppArmorProfile": _mend_profile,
    "LabelSelectorRequirement": _mend_operator,
    "NodeSelectorRequirement": _mend_operator,
    "NodeSelectorTerm": _mend_node_field,
    "PodAffinityTerm": _mend_constraint,
    "ResourceFieldSelector": _mend_resource,
    "SeccompProfile": _mend_profile,
    "Toleration": _mend_toleration,
    "TopologySpreadConstraint": _mend_constraint,
    "VolumeMount": _mend_mount,
}


def _pod_field(draw: Draw, schema: Json, owner: str, key: str, holder: str) -> Any:
    if draw.chance(10) and draw.slips():
        return draw.random.choice([None, None, "", "a", 0, True, [], {}, [""], [None]])
    if "$ref" in schema and reference(schema) not in SCALARS:
        return pod_value(draw, reference(schema), key)
    if "items" in schema:
        count = draw.random.choice([1, 1, 1, 2])
        return [_pod_field(draw, schema["items"], owner, key, holder) for _ in range(count)]
    if isinstance(schema.get("additionalProperties"), dict):
        return _pod_map(draw, schema["additionalProperties"], owner)
    return _pod_scalar(draw, schema, owner, key, holder)


def _pod_scalar(draw: Draw, schema: Json, owner: str, key: str, holder: str) -> Any:
    usual, odd = pools(schema, owner, key, holder)
    return draw.pick(usual, odd) if odd else draw.random.choice(usual)


def pools(schema: Json, owner: str, key: str, holder: str) -> tuple[tables.Pool, tables.Pool]:
    """Return the usual and the odd values of a key that holds no map and no list; `owner` is the type that has it."""
    kinds = schema.get("type", ())
    if "boolean" in kinds:
        return (False, True), ()
    names = (f"{owner}.{key}", f"{holder}.{key}", key)
    if found := next((tables.POOLS[name] for name in names if name in tables.POOLS), None):
        return found
    if "$ref" in schema:
        return SCALARS[reference(schema)]
    if "integer" in kinds:
        return tables.SIGNED, tables.ODD_SIGNED
    if key.lower().endswith("name"):
        return tables.NAMES, tables.ODD_NAMES
    return tables.TEXTS, ("", " ", "é", "a/b", "x" * 300)


def _pod_map(draw: Draw, values: Json, owner: str) -> Json:
    names, amounts = map_pools(values, owner)
    return {draw.pick(*names): draw.pick(*amounts) for _ in range(draw.random.randint(1, 2))}


def map_pools(values: Json, owner: str) -> tuple[tuple[tables.Pool, tables.Pool], tuple[tables.Pool, tables.Pool]]:
    """Return the usual and the odd keys of a map, and the usual and the odd values."""
    if "$ref" not in values:
        return (tables.KEYS, tables.ODD_KEYS), (tables.VALUES, tables.ODD_VALUES)
    usual = ("storage",) if owner == "VolumeResourceRequirements" else tables.RESOURCES
    return (usual, tables.ODD_RESOURCES), (tables.QUANTITIES, tables.ODD_QUANTITIES)


def spec_value(draw: Draw, schema: Mapping[str, Any], key: str) -> Any:
    """Draw a value for one key of the spec by its schema, with the references of the schema resolved."""
    if key in _KUBERNETES:
        return _KUBERNETES[key](draw)
    if "enum" in schema or "const" in schema:
        return draw.random.choice(schema.get("enum") or [schema["const"]])
    if "else" in schema:
        form = draw.random.choice([name for name in ("then", "else") if name in schema])
        return spec_value(draw, {"type": schema["if"]["type"], **schema[form]}, key)
    kinds = schema.get("type", "object")
    kind = kinds if isinstance(kinds, str) else draw.random.choice(kinds)
    if kind == "object":
        return _spec_map(draw, schema, key)
    if kind == "array":
        count = draw.random.randint(schema.get("minItems", 0), 2)
        return [spec_value(draw, schema["items"], key) for _ in range(count)]
    return _spec_scalar(draw, schema, key, kind)


def _spec_map(draw: Draw, schema: Mapping[str, Any], key: str) -> Json:
    if properties := schema.get("properties"):
        chosen = dict.fromkeys(schema.get("required", ())) | draw.some(properties, most=3)
        if key == "policies" and "exitCode" not in chosen:
            chosen["event"] = None
        uses = key in ("volumes", "configMaps") and not properties.keys() & {"size", "files"}
        under = "file." if "x-file" in schema else f"{key}." if uses else ""
        unread = schema.get("x-file", ())
        return {name: spec_value(draw, properties[name], under + name) for name in chosen if name not in unread}
    form = schema.get("propertyNames", {}).get("format", "")
    names = tables.FORMATS.get(form, (("svc", "env", "ssh"), ("tensorflow", "pytorch", "")))
    values, count = schema["additionalProperties"], draw.random.randint(1, 2)
    return {draw.pick(*names): spec_value(draw, values, key) for _ in range(count)}


def _spec_scalar(draw: Draw, schema: Mapping[str, Any], key: str, kind: str) -> Any:
    if kind == "boolean":
        return draw.random.choice([False, True])
    form = schema.get("format", "")
    pool = tables.SPEC_POOLS.get("" if form == "peer" else key) or tables.FORMATS.get(form)
    if pool is None and kind == "integer":
        pool = tables.SIGNED, (*tables.ODD_SIGNED, schema.get("minimum", 0), schema.get("maximum", 0))
    return draw.pick(*(pool or (tables.TEXTS, ("", " ", "é", "x" * 300))))


def _variables(draw: Draw) -> Json:
    kind = draw.random.choice(["text", "number", "secret", "configMap", "field"])
    value: Any = {kind: draw.pick(tables.NAMES, tables.ODD_NAMES), "key": draw.pick(*tables.FORMATS["config-key"])}
    if kind == "text":
        value = draw.random.choice(["a", "$(TASK_INDEX)", "$$(A)", "yes", "1e3", "", "é\n"])
    elif kind == "number":
        value = draw.random.choice([0, 7, -1])
    elif kind == "field":
        value = {"field": draw.pick(tables.FIELDS, tables.ODD_FIELDS)}
    return {draw.pick(*tables.FORMATS["env-name"]): value}


_KUBERNETES: dict[str, Callable[[Draw], Any]] = {
    "container": lambda draw: pod_value(draw, "Container", "container", pod_keys(draw, "Container")),
    "env": _variables,
    "pod": lambda draw: {"spec": pod_value(draw, "PodSpec", "pod", pod_keys(draw, "PodSpec"))},
    "tolerations": lambda draw: [pod_value(draw, "Toleration")],
}
