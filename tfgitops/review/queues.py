"""The totals of each queue of a cluster before and after a change, and the changes of Queues that Volcano refuses."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tfgitops.review.changes import changes_of, identity, is_job, is_queue
from tfgitops.review.environmentreview import sort_changes
from tfgitops.review.queuesteps import Rollout
from tfgitops.review.reviewresult import Amount, QueueTotals
from tfgitops.targets.kubernetes import quantity
from tfgitops.targets.kubernetes.resources import claimed_devices, pod_requests

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.plugins.hookspecs import Accelerator
    from tfgitops.review.changes import Change
    from tfgitops.review.reviewresult import EnvironmentReview, QueueState

    Json = dict[str, Any]
    Kept = dict[str, dict[Any, Json]]

_ROOT = "root"
_JOBS = ""  # stands for the number of jobs among the amounts of resources
_CLAIMS = "resource.k8s.io/claims"  # stands for what jobs ask for by claims (DRA)
_TITLES = {"cpu": "CPU", "memory": "memory", _CLAIMS: "claimed devices"}


@dataclass(kw_only=True)
class _Side:
    """The queues, the number of jobs in each and what they request, either before or after."""

    queues: dict[str, Json] = field(default_factory=dict)
    amounts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, manifest: Json) -> None:
        """Count an object in."""
        if is_job(manifest):
            amounts = self.amounts[manifest["spec"].get("queue", "default")]
            for resource, amount in {_JOBS: 1, **_job_requests(manifest)}.items():
                amounts[resource] += amount
        elif is_queue(manifest):
            self.queues[manifest["metadata"]["name"]] = manifest

    def add_all(self, compiled: Compiled | None, but: Container[str] = ()) -> None:
        """Count in the objects of a compiled environment, but for those of some paths."""
        for planned in compiled.objects if compiled else ():
            if planned.path not in but:
                self.add(planned.manifest)

    def add_earlier(self, one: EnvironmentReview) -> None:
        """Count in the objects of an environment as they were before the change."""
        self.add_all(one.compiled, {change.path for change in one.changes if change.after is not None})
        for change in one.changes:
            if change.before is not None:
                self.add(change.before)

    def above(self, queue: str) -> Iterator[str]:
        """Yield a queue and its parents, without Volcano's root."""
        seen: set[str] = set()
        while queue and queue != _ROOT and queue not in seen:
            yield queue
            seen.add(queue)
            queue = (self.queues.get(queue, {}).get("spec") or {}).get("parent", _ROOT)

    @cached_property
    def total(self) -> dict[str, Counter[str]]:
        """The amounts of each queue with those of all queues below it; read it when all is added."""
        total: dict[str, Counter[str]] = defaultdict(Counter)
        for queue, amounts in self.amounts.items():
            for holder in self.above(queue):
                total[holder].update(amounts)
        return total

    def limits(self, queue: str) -> Mapping[str, Any]:
        """Return the capability of a queue by resource; the queue above it limits what it leaves out."""
        found: dict[str, Any] = {}
        for name in self.above(queue):
            own = (self.queues.get(name, {}).get("spec") or {}).get("capability") or {}
            named = {key: most for key, most in own.items() if "/" in key or quantity.parse(most)}
            found = named | found
        return found


def _job_requests(manifest: Mapping[str, Any]) -> Counter[str]:
    """Return the requests of all pods of a Job together, by resource, in nanos of its unit."""
    total: Counter[str] = Counter()
    for task in manifest["spec"].get("tasks") or ():
        replicas, pod = task.get("replicas", 1), (task.get("template") or {}).get("spec") or {}
        for resource, amount in pod_requests(pod).items():
            total[resource] += amount * replicas
        total.update({_CLAIMS: number * quantity.NANO} if (number := claimed_devices(pod, replicas)) else {})
    return total


def queue_totals(
    environments: Sequence[EnvironmentReview], accelerators: Sequence[Accelerator], others: Iterable[Compiled] = ()
) -> list[QueueTotals]:
    """Return the totals of each queue that jobs use or environments write, by cluster, parents first.

    ``others`` are environments that are not reviewed but have jobs in the same queues.
    """
    found: list[QueueTotals] = []
    for cluster in sorted({one.cluster for one in environments if one.state != "broken"}):
        found += _of_cluster(cluster, *_sides(cluster, environments, others), accelerators)
    return found


def _sides(
    cluster: str, environments: Iterable[EnvironmentReview], others: Iterable[Compiled]
) -> tuple[_Side, _Side]:  # fmt: skip
    """Count in what a cluster has before and after a change."""
    before, after = _Side(), _Side()
    for other in others:
        if other.environment and other.environment.cluster == cluster:
            for side in (before, after):
                side.add_all(other)
    for one in environments:
        if one.cluster == cluster:
            after.add_all(one.compiled)
            before.add_earlier(one)
    return before, after


def _of_cluster(
    cluster: str, before: _Side, after: _Side, accelerators: Sequence[Accelerator]
) -> Iterator[QueueTotals]:
    names = {*before.total, *after.total, *before.queues, *after.queues}
    for name in sorted(names, key=lambda name: [*(after if name in after.queues else before).above(name)][::-1]):
        state: QueueState = "gone" if name in before.queues else "external"
        if name in after.queues:
            state = "ours" if name in before.queues else "new"
        yield QueueTotals(
            cluster=cluster, name=name, jobs_before=before.total[name][_JOBS], jobs_after=after.total[name][_JOBS],
            amounts=tuple(_amounts(name, before, after, accelerators)), state=state,
        )  # fmt: skip


def _amounts(name: str, before: _Side, after: _Side, accelerators: Sequence[Accelerator]) -> Iterator[Amount]:
    were, are, limited, limits = before.total[name], after.total[name], before.limits(name), after.limits(name)
    for resource in sorted({*were, *are, *limited, *limits}, key=lambda resource: ("/" not in resource, resource)):
        if resource not in _TITLES and "/" not in resource:
            continue
        title, devices = _title_of(resource, accelerators)
        was_most, most = (
            quantity.parse(side[resource]) * devices if resource in side else None for side in (limited, limits)
        )
        yield Amount(
            resource=resource, title=title, before=were[resource] * devices, after=are[resource] * devices,
            most=most, was_most=was_most,
        )  # fmt: skip


def _title_of(resource: str, accelerators: Sequence[Accelerator]) -> tuple[str, int]:
    """Return the name of a resource for people, and the number of devices in one unit of it."""
    for one in accelerators:
        if one.is_of(resource):
            return one.title if one.resource == resource else f"{one.title} ({resource})", one.devices
    return _TITLES.get(resource, resource), 1


def with_refused(
    environments: Iterable[EnvironmentReview], kept: Kept, others: Iterable[Compiled] = ()
) -> list[EnvironmentReview]:  # fmt: skip
    """Mark the changes that Volcano refuses on the way, and what the cluster kept and refuses to change.

    ``kept`` are the objects of each cluster that went from Git before the base.
    """
    found = [
        replace(one, changes=tuple(_against_kept(change, kept.get(one.cluster, {})) for change in one.changes))
        for one in environments
    ]
    refused: dict[int, dict[str, Any]] = {}
    for cluster in {one.cluster for one in found}:
        changes = [
            (one.folder if one.controller == "flux" else id(change), change)
            for one in found
            for change in one.changes
            if one.cluster == cluster
            and (is_queue(change.manifest) or (change.is_job and change.new_name != change.old_name))
        ]
        queues = {queue["metadata"]["name"]: queue for queue in kept.get(cluster, {}).values() if is_queue(queue)}
        if queues or any(is_queue(change.manifest) for _, change in changes):
            before, after = _sides(cluster, found, others)
            queues |= before.queues
            for queue in queues.keys() & {name for name, amounts in before.amounts.items() if amounts[_JOBS]}:
                queues[queue] = queues[queue] | {"status": {"allocated": {"pods": 1}}}
            refused |= Rollout(changes, queues, kept=queues.keys() - after.queues.keys()).refused()
    return [
        replace(one, changes=tuple(sort_changes(replace(two, **refused.get(id(two), {})) for two in one.changes)))
        for one in found
    ]


def _against_kept(change: Change, kept: Mapping[Any, Json]) -> Change:
    """Compare an object that is new to Git with the one that the cluster has kept, which it may refuse to change."""
    old = kept.get(identity(change.manifest)) if change.verdict == "added" else None
    again = changes_of(change.path, old, change.after)[0] if old else change
    if again is change or again.verdict != "refused":
        return change
    return replace(
        again, way_out="it went from Git and stayed in the cluster: take another name, unless you deleted it"
    )
