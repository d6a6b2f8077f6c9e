"""Pools of nodes alike: what each node offers, and whether it has the labels that a pod selects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from tfgitops import Route, is_extended, quantity

if TYPE_CHECKING:
    from collections.abc import Mapping

UNLIMITED = 1 << 200
"""More than any pod can ask for, in nanos; a whole number, so that all counting is exact."""

_ONLY_WHERE_LISTED = ("volcano.sh/vgpu-memory", "volcano.sh/vgpu-memory-percentage", "volcano.sh/vgpu-cores")
"""Amounts of a share, which not every version of Volcano takes for resources of a node; `vgpu-number` always counts."""

HOST_NAME = "kubernetes.io/hostname"
"""The one label that every node has, and no two alike; a pool cannot say it, so it decides nothing here."""


class Requirement(NamedTuple):
    """One expression of a node selector; a plain pair of labels is ``In`` with one value."""

    key: str
    operator: str
    values: tuple[str, ...]

    def __str__(self) -> str:
        if self.operator == "In" and len(self.values) == 1:
            return f"{self.key}: {self.values[0]}"
        return " ".join(filter(None, (self.key, self.operator, ", ".join(self.values))))

    def is_met(self, labels: Mapping[str, str]) -> bool:
        """Tell whether labels meet the requirement, as Kubernetes's `labels.Requirement` decides."""
        value, values = labels.get(self.key), self.values
        match self.operator:
            case "In":
                return value in values
            case "NotIn":
                return value not in values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
        try:
            number, bound = int(value or ""), int(values[0])
        except ValueError:
            return False
        return number > bound if self.operator == "Gt" else number < bound


Amounts = tuple[tuple[str, int], ...]
"""Resources and how much of each, in nanos of its unit, and slots (`slots.py`), one of each; none of nothing."""

Wish = tuple[tuple[Requirement, ...], ...]
"""What the labels of a pod's node must be: every requirement of any one term."""


@dataclass(frozen=True, slots=True)
class Pool:
    """So many nodes alike; ``amounts`` are what pods may have of each, in nanos of the resource's unit."""

    name: str
    count: int
    amounts: Mapping[str, int] = field(hash=False)
    labels: Mapping[str, str] = field(hash=False)

    def has(self, resource: str) -> int:
        """Return what one node offers: each slot once; a device only if it is listed, all else without limit if not."""
        if is_slot(resource):
            return quantity.NANO
        listed = self.amounts.get(resource)
        if listed is not None:
            return listed
        return 0 if is_extended(resource) and resource not in _ONLY_WHERE_LISTED else UNLIMITED

    def route(self, *keys: str) -> Route:
        """Return where the spec says something of the pool: a key, a label, or how much of a resource it has."""
        if is_slot(keys[0]):
            return ("nodes", self.name, "count")
        return ("nodes", self.name, *(("accelerators",) if is_extended(keys[0]) else ()), *keys)

    def unmet(self, wish: Wish) -> tuple[Requirement, ...]:
        """Return what the nodes lack of the nearest term; nothing if a pod with this wish may run here."""
        unsaid = {HOST_NAME} - self.labels.keys()
        terms = [tuple(one for one in term if one.key not in unsaid and not one.is_met(self.labels)) for term in wish]
        return min(terms, key=len)


def is_slot(resource: str) -> bool:
    """Tell whether the name of an amount is a slot's: no resource has blanks in its name."""
    return " " in resource


def read_pools(nodes: Mapping[str, Any]) -> tuple[Pool, ...]:
    """Return the pools of an environment's `nodes`, by name."""
    return tuple(
        Pool(
            name=name,
            count=pool["count"],
            amounts={
                resource: quantity.parse(amount)
                for resource, amount in {**pool, **(pool.get("accelerators") or {})}.items()
                if resource not in ("count", "labels", "accelerators")
            },
            labels={key: str(value) for key, value in (pool.get("labels") or {}).items()},
        )
        for name, pool in sorted(nodes.items())
    )


def wish_of(spec: Mapping[str, Any]) -> Wish:
    """Return what a PodSpec asks of the labels of its node, by nodeSelector and by required node affinity."""
    pairs = sorted((spec.get("nodeSelector") or {}).items())
    selected = tuple(Requirement(key, "In", (value,)) for key, value in pairs)
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if not required:
        return (selected,)
    return tuple(  # the `matchFields` of a term name a node, which a pool cannot
        (*selected, *(Requirement(one["key"], one["operator"], tuple(one.get("values") or ())) for one in expressions))
        for expressions in (term.get("matchExpressions") or () for term in required["nodeSelectorTerms"])
    )
