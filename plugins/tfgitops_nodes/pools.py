"""The node pools of a cluster, what a node offers and a pod takes of it, and which pods never share a node."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from tfgitops import Route, is_extended, quantity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Json = Mapping[str, Any]
    Takers = Mapping[str, tuple[int, ...]]

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
"""Resources and how much of each, in nanos of its unit, and slots, one of each; none of nothing."""

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


_ANY = "0.0.0.0"  # noqa: S104 - the hostIP that stands for all addresses of a node; nothing is bound here
_KEEP = "to keep"
_VOLCANO = "volcano.sh/"
"""What the labels begin with that Volcano gives to pods, some of them other values for each pod."""


class _Port(NamedTuple):
    """A port of the node, at one of its addresses or at all of them."""

    number: int
    protocol: str
    address: str

    def __str__(self) -> str:
        protocol = f"/{self.protocol}" if self.protocol != "TCP" else ""
        return f"{self.number}{protocol}" + (f" of {self.address}" if self.address != _ANY else "")


def slots_of(manifest: Json) -> list[Amounts]:
    """Return for each task of a planned Job the slots of its pods; a name says what nodes have: `with … free`."""
    tasks = manifest["spec"]["tasks"]
    takers = {**_by_ports([task["template"]["spec"] for task in tasks]), **_by_terms(manifest)}
    return [
        tuple((slot, quantity.NANO) for slot, indices in takers.items() if index in indices)
        for index in range(len(tasks))
    ]


def routes_of(slot: str) -> list[tuple[str, ...]]:
    """Return where a role or a job may ask for a slot, as `Job.written` takes it, the most telling first."""
    if slot.startswith(_KEEP):
        return [("pod", "spec", "affinity", "podAntiAffinity")]
    containers = [("container", "ports"), ("pod", "spec", "initContainers"), ("pod", "spec", "containers")]
    return [("pod", "spec", "hostNetwork"), *containers]


def _by_ports(specs: Sequence[Json]) -> Takers:
    """Return who takes ports of the node; those that the same tasks take are one slot.

    A port at all addresses is in the way of the same at any: it takes each that somebody names.
    """
    asked = [set(_host_ports(spec)) for spec in specs]
    ports: set[_Port] = set().union(*asked)
    named = {port._replace(address=_ANY) for port in ports if port.address != _ANY}
    together: dict[tuple[int, ...], list[_Port]] = {}
    for port in sorted(ports - named):
        takers = tuple(index for index, own in enumerate(asked) if {port, port._replace(address=_ANY)} & own)
        together.setdefault(takers, []).append(port)
    return {f"with host port{'s' * (len(free) > 1)} {_and(free)} free": takers for takers, free in together.items()}


def _host_ports(spec: Json) -> Iterator[_Port]:
    """Yield the ports that a pod takes of its node, of the containers that run as long as the pod does.

    So Kubernetes's scheduler counts them (pkg/scheduler/util, `GetHostPorts`); with hostNetwork the API server makes
    each port of a container one of the node (pkg/apis/core/v1, `SetDefaults_Pod`).
    """
    sidecars = [one for one in spec.get("initContainers") or () if one.get("restartPolicy") == "Always"]
    for container in (*spec["containers"], *sidecars):
        for port in container.get("ports") or ():
            if number := port.get("hostPort") or (spec.get("hostNetwork") and port["containerPort"]):
                yield _Port(number, port.get("protocol") or "TCP", port.get("hostIP") or _ANY)


def _by_terms(manifest: Json) -> Takers:
    """Return which pods never share a node: they have one term of required anti-affinity, which selects them."""
    takers: dict[str, tuple[int, ...]] = {}
    for index, task in enumerate(manifest["spec"]["tasks"]):
        affinity = (task["template"]["spec"].get("affinity") or {}).get("podAntiAffinity") or {}
        terms = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
        labels = _labels(manifest, task) if terms else {}
        for slot in dict.fromkeys(_apart(term, manifest["metadata"]["namespace"], labels) for term in terms):
            takers[slot] = (*takers.get(slot, ()), index)
    takers.pop("", None)
    return takers


def _labels(manifest: Json, task: Json) -> dict[str, str]:
    """Return the labels that all pods of a task have, Volcano's among them (its job controller's `createJobPod`)."""
    return {
        **((task["template"].get("metadata") or {}).get("labels") or {}),
        f"{_VOLCANO}job-name": manifest["metadata"]["name"],
        f"{_VOLCANO}job-namespace": manifest["metadata"]["namespace"],
        f"{_VOLCANO}queue-name": manifest["spec"]["queue"],
        f"{_VOLCANO}task-spec": task["name"],
    }


def _apart(term: Json, namespace: str, labels: Mapping[str, str]) -> str:
    """Return the slot of a term that keeps pods with these labels on nodes of their own; nothing if that is unsure."""
    selector, wanted = term.get("labelSelector"), _wanted(term, labels)
    keys = {*(one.key for one in wanted), *(term.get("matchLabelKeys") or ()), *(term.get("mismatchLabelKeys") or ())}
    if (
        term["topologyKey"] != HOST_NAME
        or selector is None  # which selects no pod, where {} selects all
        or not _is_about(term, namespace)
        or any(key.startswith(_VOLCANO) and key not in labels for key in keys)
        or not all(one.is_met(labels) for one in wanted)
    ):
        return ""
    return f"{_KEEP} pods{' with ' * bool(wanted)}{_and(wanted)} apart"


def _is_about(term: Json, namespace: str) -> bool:
    """Tell whether a term is certain to be about the pods of a namespace, its own."""
    named, chosen = term.get("namespaces") or (), term.get("namespaceSelector")
    return namespace in named or (not chosen and (chosen is not None or not named))


def _wanted(term: Json, labels: Mapping[str, str]) -> list[Requirement]:
    """Return what a term asks of the labels of other pods; its label keys ask for the values of the pod's own."""
    selector = term.get("labelSelector") or {}
    given = [
        *((key, "In", (value,)) for key, value in (selector.get("matchLabels") or {}).items()),
        *((one["key"], one["operator"], one.get("values") or ()) for one in selector.get("matchExpressions") or ()),
        *((key, "In", (labels[key],)) for key in term.get("matchLabelKeys") or () if key in labels),
        *((key, "NotIn", (labels[key],)) for key in term.get("mismatchLabelKeys") or () if key in labels),
    ]
    return sorted({Requirement(key, operator, tuple(sorted(values))) for key, operator, values in given})


def _and(given: Iterable[object]) -> str:
    return " and ".join(map(str, given))
