"""Merges parts of pod templates and containers by Kubernetes's own list keys: one over another, or as equals.

What is merged must be of the shape that the schemas say. Nothing that is given is changed; results share with
it what they have in common.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Final, Literal

SchemaName = Literal["Job", "PodTemplateSpec", "Container"]
Part = Mapping[str, Any]
Given = list[tuple[int, Any]]
"""The values for one field, each with the index of the part that gave it."""


@dataclass(frozen=True, kw_only=True)
class Conflict:
    """One field that several parts want to have different values.

    `path` names elements of lists by their keys: `("spec", "containers", "tf", "ports", "80/TCP", "name")`.
    `values` holds each different value with the index of the first part that gave it, in the parts' order.
    """

    path: tuple[str, ...]
    values: tuple[tuple[int, Any], ...]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """How one field merges; without `keys` or `unite`, maps merge field by field, and lists are one value."""

    keys: tuple[str, ...] = ()
    """What tells a list's elements apart."""
    one_of: bool = False
    """Of the fields other than `keys` there may be one: a new one ousts the old."""
    unite: Callable[[list[list[Any]]], list[Any]] | None = None
    """How lists of equal rank become one."""
    fields: Mapping[str, "Rule"] = field(default_factory=dict)
    every: "Rule | None" = None
    """The rule of all fields that `fields` does not name."""

    def of(self, key: str) -> "Rule":
        """Find the rule of one field."""
        return self.fields.get(key) or self.every or _PLAIN


def merge(base: Part, patch: Part, schema_name: SchemaName) -> dict[str, Any]:
    """Lay a patch over a base: maps merge key by key, lists by their keys if they have any, `null` removes.

    New elements follow the base's. Of several fields that exclude each other (a volume's sources), the patch's stays.
    """
    return _merge_map(base, patch, RULES[schema_name])


def union(parts: Sequence[Part], schema_name: SchemaName) -> tuple[dict[str, Any], list[Conflict]]:
    """Merge parts of equal rank; their order does not matter, and neither does how they are cut.

    Elements of merging lists are sorted by their keys. Tolerations, capabilities and arguments of Volcano's plugins
    unite; requirements of node affinity all hold (those of one part are added to every term of the others), and any
    other field must have one value. A field in conflict is left out of the result.
    """
    conflicts: list[Conflict] = []
    return _unite_maps(list(enumerate(parts)), RULES[schema_name], (), conflicts), conflicts


def repeated(part: Part, schema_name: SchemaName) -> list[tuple[str | int, ...]]:
    """List the elements of merging lists that have the keys of an earlier one: a merge would lose one of the two."""
    return _repeated(part, RULES[schema_name], ())


def _repeated(value: Any, rule: Rule, at: tuple[str | int, ...]) -> list[tuple[str | int, ...]]:
    found: list[tuple[str | int, ...]] = []
    if isinstance(value, Mapping):
        for key, inner in value.items():
            found += _repeated(inner, rule.of(key), (*at, key))
    elif isinstance(value, list) and rule.keys:
        seen = set()
        for index, element in enumerate(value):
            identity = identity_of(element, rule)
            if identity in seen:
                found.append((*at, index))
            seen.add(identity)
            for key, inner in element.items():
                found += _repeated(inner, rule.of(key), (*at, index, key))
    return found


def _merge_map(base: Part, patch: Part, rule: Rule) -> dict[str, Any]:
    merged = _without_rivals(base, patch, rule.keys) if rule.one_of else dict(base)
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merge_value(merged.get(key), value, rule.of(key))
    return merged


def _merge_value(old: Any, value: Any, rule: Rule) -> Any:
    if isinstance(value, Mapping):
        return _merge_map(old if isinstance(old, Mapping) else {}, value, rule)
    if not isinstance(value, list):
        return value
    if rule.keys:
        return _merge_list(old if isinstance(old, list) else [], value, rule)
    return [_merge_value(None, item, _PLAIN) for item in value]


def _merge_list(base: list[Any], patch: list[Any], rule: Rule) -> list[Any]:
    merged = list(base)
    places = {identity_of(element, rule): place for place, element in reversed(list(enumerate(base)))}
    for element in patch:
        place = places.setdefault(identity_of(element, rule), len(merged))
        if place == len(merged):
            merged.append({})
        merged[place] = _merge_map(merged[place], element, rule)
    return merged


def _without_rivals(base: Part, patch: Part, keys: tuple[str, ...]) -> dict[str, Any]:
    chosen = _choice(patch, keys)
    return {key: value for key, value in base.items() if key in keys or key in chosen or not chosen}


def _choice(part: Part, keys: tuple[str, ...]) -> frozenset[str]:
    return frozenset(key for key, value in part.items() if value is not None and key not in keys)


def name_of(element: Any) -> str | None:
    """Return what tells an element of a list apart for people: the value of its first key in `ELEMENT_NAMES`."""
    if isinstance(element, Mapping):
        return next((str(element[key]) for key in ELEMENT_NAMES if key in element), None)
    return None


def identity_of(element: Part, rule: Rule) -> tuple[Any, ...]:
    """Return what tells an element of a merging list apart; a port without a protocol is one for TCP."""
    return tuple("TCP" if key == "protocol" and not element.get(key) else element.get(key) for key in rule.keys)


def _unite_maps(given: Given, rule: Rule, path: tuple[str, ...], conflicts: list[Conflict]) -> dict[str, Any]:
    if rule.one_of and len({choice for _, part in given if (choice := _choice(part, rule.keys))}) > 1:
        choosing = [(index, part) for index, part in given if _choice(part, rule.keys)]
        conflicts.append(Conflict(path=path, values=_different(choosing)))
        return {key: value for _, part in given for key, value in part.items() if key in rule.keys}
    united = {}
    for key in sorted({key for _, part in given for key in part}):
        values = [(index, part[key]) for index, part in given if key in part]
        value = _unite_values(values, rule.of(key), (*path, key), conflicts)
        if value is not _CONFLICT:
            united[key] = value
    return united


def _unite_values(given: Given, rule: Rule, path: tuple[str, ...], conflicts: list[Conflict]) -> Any:
    if all(isinstance(value, Mapping) for _, value in given):
        return _unite_maps(given, rule, path, conflicts)
    if all(isinstance(value, list) for _, value in given):
        if rule.unite:
            return rule.unite([value for _, value in given])
        if rule.keys:
            return _unite_lists(given, rule, path, conflicts)
    different = _different(given)
    if len(different) == 1:
        return given[0][1]
    conflicts.append(Conflict(path=path, values=different))
    return _CONFLICT


def _unite_lists(given: Given, rule: Rule, path: tuple[str, ...], conflicts: list[Conflict]) -> list[Any]:
    elements: dict[tuple[Any, ...], Given] = {}
    for index, value in given:
        for element in value:
            elements.setdefault(identity_of(element, rule), []).append((index, element))
    return [
        _unite_maps(elements[identity], rule, (*path, "/".join(map(str, identity))), conflicts)
        for identity in sorted(elements, key=lambda identity: [(isinstance(key, str), key) for key in identity])
    ]


def _different(given: Given) -> tuple[tuple[int, Any], ...]:
    if len(given) == 1:
        return (given[0],)
    first: dict[str, tuple[int, Any]] = {}
    for index, value in given:
        first.setdefault(_canonical(value), (index, value))
    return tuple(first.values())


def _canonical(value: Any) -> str:
    """Write a value so that equal ones, and only those, are equal texts; True and 1 are not equal here."""
    return json.dumps(value, sort_keys=True)


def _as_set(lists: list[list[Any]]) -> list[Any]:
    elements = {_canonical(element): element for elements in lists for element in elements}
    return [elements[key] for key in sorted(elements)]


def _all_hold(selectors: list[list[Any]]) -> list[Any]:
    """Combine lists of node selector terms, each an OR of ANDs, by AND; redundant terms are dropped."""
    terms = reduce(_both_hold, map(_requirements, selectors))
    return [_term(requirements) for requirements in sorted(terms, key=sorted)]


Requirements = frozenset[tuple[str, str]]


def _requirements(terms: list[Any]) -> set[Requirements]:
    """Turn each term into its requirements: pairs of the field that holds it and its canonical text."""
    texts = {frozenset((key, _canonical(item)) for key in term for item in term[key] or ()) for term in terms}
    return _necessary(texts)


def _both_hold(left: set[Requirements], right: set[Requirements]) -> set[Requirements]:
    # A term without requirements matches no node at all, so neither does what it is combined with.
    return _necessary({one | other if one and other else frozenset() for one in left for other in right})


def _necessary(terms: set[Requirements]) -> set[Requirements]:
    """Drop the terms that match no more than another one does."""
    some = {term for term in terms if term}
    return {term for term in some if not any(other < term for other in some)} or terms


def _term(requirements: Iterable[tuple[str, str]]) -> dict[str, Any]:
    term: dict[str, Any] = {}
    for key, text in sorted(requirements):
        term.setdefault(key, []).append(json.loads(text))
    return term


_CONFLICT: Final = object()
_PLAIN: Final = Rule()
_NAMED: Final = Rule(keys=("name",))
_SOURCE: Final = Rule(keys=("name",), one_of=True)
_RESOURCES: Final = Rule(fields={"claims": _NAMED})
_CAPABILITIES: Final = Rule(fields={"add": Rule(unite=_as_set), "drop": Rule(unite=_as_set)})
_CONTAINER: Final = {
    "env": Rule(keys=("name",), one_of=True, fields={"valueFrom": Rule(one_of=True)}),
    "ports": Rule(keys=("containerPort", "protocol")),
    "resources": _RESOURCES,
    "securityContext": Rule(fields={"capabilities": _CAPABILITIES}),
    "volumeDevices": Rule(keys=("devicePath",)),
    "volumeMounts": Rule(keys=("mountPath",)),
}
_CONTAINERS: Final = Rule(keys=("name",), fields=_CONTAINER)
_NODE_SELECTOR: Final = Rule(fields={"nodeSelectorTerms": Rule(unite=_all_hold)})
_NODE_AFFINITY: Final = Rule(fields={"requiredDuringSchedulingIgnoredDuringExecution": _NODE_SELECTOR})

ELEMENT_NAMES: Final = ("name", "mountPath", "containerPort", "devicePath", "ip", "topologyKey", "key", "event")
"""Keys that tell elements of Kubernetes's and Volcano's lists apart, be it that a list does not merge by them."""

# Written out because the schema takes longer to load than a small build; a test compares the two.
RULES: Final[Mapping[SchemaName, Rule]] = {
    "Container": Rule(fields=_CONTAINER),
    # Volcano's Job: the arguments of a plugin such as svc unite; its tasks' pods are parts of their own.
    "Job": Rule(fields={"spec": Rule(fields={"plugins": Rule(every=Rule(unite=_as_set))})}),
    "PodTemplateSpec": Rule(
        fields={
            "spec": Rule(
                fields={
                    "affinity": Rule(fields={"nodeAffinity": _NODE_AFFINITY}),
                    "containers": _CONTAINERS,
                    "ephemeralContainers": _CONTAINERS,
                    "hostAliases": Rule(keys=("ip",)),
                    "imagePullSecrets": _NAMED,
                    "initContainers": _CONTAINERS,
                    "resourceClaims": _SOURCE,
                    "resources": _RESOURCES,
                    "schedulingGates": _NAMED,
                    "tolerations": Rule(unite=_as_set),
                    "topologySpreadConstraints": Rule(keys=("topologyKey", "whenUnsatisfiable")),
                    "volumes": _SOURCE,
                }
            )
        }
    ),
}
"""How each type merges, by its name in the pod schema."""
