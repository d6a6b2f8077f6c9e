"""Shapes are what the API server does to any object first: drop, default, and refuse what has the wrong type.

A shape is compiled from the JSON Schemas in `schemas/` (`shape_of`). `settle` gives a value as the server would
store it, and notes what it refused and dropped on the way. The fields of a few large types are judged one by one and
remembered by content, since a thousand jobs are made of the same few hundred fields.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from operator import is_
from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes.duration import is_duration
from tfgitops.targets.kubernetes.fault import Fault, Rules, show
from tfgitops.targets.kubernetes.limits import asks, judge_limits
from tfgitops.targets.kubernetes.quantity import explain
from tfgitops.targets.kubernetes.schemafile import schema_file
from tfgitops.targets.memo import by_content

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfgitops.targets.routes import Route

_PLAIN = {"string": str, "boolean": bool}
_REMEMBERED_MAX = 4096  # bytes; longer values, like scripts, are mostly met once
# Types whose fields are judged one by one; all others are judged, and remembered, as a whole.
_OPEN = frozenset(
    {"Job", "JobMetadata", "JobSpec", "TaskSpec", "PodTemplateSpec", "PodSpec", "Container", "EnvVar"}
    | {"Queue", "QueueSpec"}
    | {"Deployment", "DeploymentSpec", "ConfigMap", "NetworkPolicy", "ResourceQuota", "Service", "ServiceSpec"}
    | {"PodMonitor"}
)
_RULES_FILES = {f"{name}.schema.json": f"{name}.rules.schema.json" for name in ("pod", "object")}
"""Where a type's limits stand, if not beside its shape."""
_SPECIAL = {"Quantity": "quantity", "IntOrString": "int-or-string", "FileMode": "integer"}
_BITS = {"int32": 31}
RULES = Rules.read("""
    decode-wrong-type: {found} is not {wanted} | write {wanted} here
    decode-not-integer: {found} is not a whole number | write a whole number here
    decode-int-range: {found} is too large or too small | write a number of at most {bits} bits
    decode-duration: {found} is not a duration | write a number and a unit, like 90s, 10m or 1h30m
    decode-quantity-form: {found} is not a quantity | {hint}
    crd-required: {key} is missing | give {key}, or leave out the block that it belongs to
    crd-duplicate: {found} is listed twice | keep one of the two
    null-in-list: an item of the list is empty | take it out
""")


@dataclass(kw_only=True)
class Notes:
    """What was seen on the way through one object."""

    faults: list[Fault] = field(default_factory=list)  # of shape: nothing further can be said of such a value
    limits: list[Fault] = field(default_factory=list)
    pruned: list[Route] = field(default_factory=list)

    def add(self, found: Notes, at: Route) -> None:
        """Take over what was found in a part that stands at `at`."""
        self.faults.extend(fault.below(at) for fault in found.faults)
        self.limits.extend(fault.below(at) for fault in found.limits)
        self.pruned.extend(at + route for route in found.pruned)

    def refuse(self, value: Any, at: Route, wanted: str, *, rule: str = "decode-wrong-type", **words: object) -> Any:
        """Note that a value is none of what is wanted, and give it back."""
        self.faults.append(RULES.fault(rule, at, found=show(value), expected=wanted, wanted=wanted, **words))
        return value


@dataclass(kw_only=True, eq=False)
class Shape:
    """One place of an object: its kind, and the shapes of what it holds."""

    kind: str
    name: str = ""  # of its type
    fields: dict[str, Shape] | None = None  # of a mapping; None where any key may stand
    every: Shape | None = None  # of a list's items, or of a mapping's values
    required: tuple[str, ...] = ()
    defaults: dict[str, Any] = field(default_factory=dict)
    keys: tuple[str, ...] = ()  # no two items of a list may share these
    bits: int = 63
    duration: bool = False
    limits: str = ""  # where limits.py finds what else holds here
    remembered: bool = False
    is_open: bool = False  # its fields are judged one by one
    plain: type | None = field(init=False)  # values of this type need no look

    def __post_init__(self) -> None:
        self.plain = None if self.remembered or self.duration else _PLAIN.get(self.kind)


def settle(shape: Shape, value: Any, at: Route, notes: Notes) -> Any:
    """Return the value as the server would store it (the same object if unchanged); note what it refuses or drops."""
    if not shape.remembered:
        return _KINDS[shape.kind](shape, value, at, notes)
    stored, found = _look(value, shape)
    if found is not None:
        notes.add(found, at)
    return value if stored is None else stored


@by_content(1 << 13, _REMEMBERED_MAX)
def _look(value: Any, shape: Shape) -> tuple[Any, Notes | None]:
    """Settle and judge one value; None stands for the value itself, and for nothing to note."""
    notes = Notes()
    stored = _KINDS[shape.kind](shape, value, (), notes)
    if shape.limits and not notes.faults:
        notes.limits.extend(judge_limits(shape.limits, stored))
    return None if stored is value else stored, notes if notes != Notes() else None


def _mapping(shape: Shape, value: Any, at: Route, notes: Notes) -> Any:
    if not isinstance(value, dict):
        return notes.refuse(value, at, "a mapping")
    stored, same = {}, True
    for key, item in value.items():
        inner = shape.every if shape.fields is None else shape.fields.get(key)
        if item is None:  # null stands for absent
            same = False
        elif inner is None:
            notes.pruned.append((*at, key))
            same = False
        elif type(item) is inner.plain:
            stored[key] = item
        else:
            stored[key] = settle(inner, item, (*at, key), notes)
            same = same and stored[key] is item
    for key, default in shape.defaults.items():
        if key not in stored:
            stored[key], same = default, False
    for key in shape.required:
        if key not in stored:
            notes.faults.append(RULES.fault("crd-required", (*at, key), key=key))
    return value if same else stored


def _list(shape: Shape, value: Any, at: Route, notes: Notes) -> Any:
    if not isinstance(value, list):
        return notes.refuse(value, at, "a list")
    inner = shape.every
    assert inner is not None
    stored = [settle(inner, item, (*at, i), notes) for i, item in enumerate(value) if item is not None]
    if len(stored) < len(value):
        notes.faults.append(RULES.fault("null-in-list", (*at, value.index(None))))
    elif shape.keys and len(stored) > 1:
        _note_repeats(shape.keys, stored, at, notes)
    return value if len(stored) == len(value) and all(map(is_, stored, value)) else stored


def _note_repeats(keys: tuple[str, ...], items: list[Any], at: Route, notes: Notes) -> None:
    seen = set()
    for i, item in enumerate(items):
        parts = [item.get(key) for key in keys] if isinstance(item, dict) else [item]
        identity = " and ".join(map(show, parts))
        if identity in seen:
            notes.faults.append(RULES.fault("crd-duplicate", (*at, i), found=identity))
        seen.add(identity)


def _string(shape: Shape, value: Any, at: Route, notes: Notes) -> Any:
    if not isinstance(value, str):
        return notes.refuse(value, at, "text")
    if shape.duration and not is_duration(value):
        return notes.refuse(value, at, "a duration", rule="decode-duration")
    return value


def _integer(shape: Shape, value: Any, at: Route, notes: Notes) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return notes.refuse(value, at, "a whole number")
    if isinstance(value, float) and not value.is_integer():
        return notes.refuse(value, at, "a whole number", rule="decode-not-integer")
    number = int(value)
    if not _fits(number, shape.bits):
        return notes.refuse(value, at, "a smaller number", rule="decode-int-range", bits=shape.bits + 1)
    return number


def _fits(number: int, bits: int) -> bool:
    return -(1 << bits) <= number < 1 << bits


def _boolean(_shape: Shape, value: Any, at: Route, notes: Notes) -> Any:
    return value if isinstance(value, bool) else notes.refuse(value, at, "true or false")


def _quantity(_shape: Shape, value: Any, at: Route, notes: Notes) -> Any:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, str | int):
        hint = "write a number, such as 500m, 2 or 4Gi"
    elif type(value) is int and not _fits(value, 63):
        return notes.refuse(value, at, "a smaller number", rule="decode-int-range", bits=64)
    elif not (hint := explain(value) or ""):
        return value
    return notes.refuse(value, at, "a quantity", rule="decode-quantity-form", hint=hint)


def _int_or_string(shape: Shape, value: Any, at: Route, notes: Notes) -> Any:
    return value if isinstance(value, str) else _integer(shape, value, at, notes)


def _anything(_shape: Shape, value: Any, _at: Route, _notes: Notes) -> Any:
    return value


_KINDS: dict[str, Callable[[Shape, Any, Route, Notes], Any]] = {
    "object": _mapping, "array": _list, "string": _string, "integer": _integer, "boolean": _boolean,
    "quantity": _quantity, "int-or-string": _int_or_string, "any": _anything,
}  # fmt: skip


@cache
def shape_of(file: str, name: str) -> Shape:
    """Compile one type of a schema file, as in `shape_of("pod.schema.json", "PodSpec")`."""
    if name in _SPECIAL:
        return Shape(kind=_SPECIAL[name], bits=31)
    rules = _RULES_FILES.get(file, file)
    if schema_file(rules)["$defs"].get(name, {}).get("x-replaces"):
        file = rules
    return _compile(file, name, schema_file(file)["$defs"][name])


def _compile(file: str, name: str, schema: dict[str, Any]) -> Shape:
    """Compile a schema; `name` is that of the type that it defines, or empty inside one."""
    if "$ref" in schema:
        other, _, target = schema["$ref"].partition("#/$defs/")
        return shape_of(other or file, target)
    shape = Shape(
        kind=_kind_of(schema.get("type", "any")), name=name, required=tuple(schema.get("x-required", ())),
        keys=tuple(schema.get("x-kubernetes-list-map-keys", ())), bits=_BITS.get(schema.get("format", ""), 63),
        duration=schema.get("format") == "duration", is_open=name in _OPEN,
    )  # fmt: skip
    if schema.get("x-kubernetes-list-type") == "set":
        shape.keys = ("",)
    if inner := schema.get("items", schema.get("additionalProperties")):
        shape.every = _compile(file, "", inner)
    elif shape.kind == "object":
        _give_fields(shape, file, name, schema.get("properties", {}))
    return shape


def _give_fields(shape: Shape, file: str, name: str, properties: dict[str, Any]) -> None:
    rules_file = _RULES_FILES.get(file, file)
    limited = schema_file(rules_file)["$defs"].get(name, {}).get("properties", {})
    shape.fields = {}
    for key, schema in properties.items():
        inner = _compile(file, "", schema)
        if shape.is_open and not (inner.every or inner).is_open:
            limits = f"{rules_file}#/$defs/{name}/properties/{key}" if asks(limited.get(key)) else ""
            inner = replace(inner, limits=limits, remembered=bool(limits) or _is_deep(inner))
        shape.fields[key] = inner
    sources = {**properties, **limited}
    shape.defaults = {key: sources[key]["default"] for key in shape.fields if "default" in sources[key]}


def _kind_of(named: str | list[str]) -> str:
    """Give the one type that a field has besides null, which stands for absent everywhere."""
    return named if isinstance(named, str) else next(name for name in named if name != "null")


def _is_deep(shape: Shape) -> bool:
    """Tell whether a value is more than a scalar, or one list or mapping of them."""
    every = shape.every
    return shape.fields is not None or (every is not None and (every.fields is not None or every.every is not None))
