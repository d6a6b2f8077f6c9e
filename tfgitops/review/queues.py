"""What each queue of a cluster holds before and after a change, and whether its own change is taken."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

from tfgitops.planning.plan import level
from tfgitops.review.changes import is_job, is_queue
from tfgitops.review.reviewresult import Amount, QueueTotals
from tfgitops.targets.kubernetes import quantity
from tfgitops.targets.kubernetes.resources import pod_requests
from tfgitops.targets.volcano.queue import judge_queue

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.plugins.hookspecs import Accelerator
    from tfgitops.review.changes import Change
    from tfgitops.review.reviewresult import EnvironmentReview, QueueState
    from tfgitops.targets.kubernetes.fault import Fault

    Json = dict[str, Any]

_ROOT = "root"
_TITLES = {"cpu": "CPU", "memory": "memory"}


@dataclass(kw_only=True)
class _Side:
    """The queues and what the jobs in each ask for, either before or after."""

    queues: dict[str, Json] = field(default_factory=dict)
    jobs: Counter[str] = field(default_factory=Counter)
    amounts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, manifest: Json, sign: int = 1) -> None:
        """Count an object in, or out again."""
        if is_job(manifest):
            queue = manifest["spec"].get("queue", "default")
            self.jobs[queue] += sign
            for resource, amount in job_requests(manifest).items():
                self.amounts[queue][resource] += sign * amount
        elif is_queue(manifest):
            if sign > 0:
                self.queues[manifest["metadata"]["name"]] = manifest
            else:
                self.queues.pop(manifest["metadata"]["name"], None)

    def above(self, queue: str) -> Iterator[str]:
        """Yield a queue and those above it, Volcano's root left out."""
        seen: set[str] = set()
        while queue and queue != _ROOT and queue not in seen:
            yield queue
            seen.add(queue)
            queue = (self.queues.get(queue, {}).get("spec") or {}).get("parent", _ROOT)

    @cached_property
    def total_jobs(self) -> Counter[str]:
        """The jobs of each queue together with all below it; asked when all is added."""
        total: Counter[str] = Counter()
        for queue, number in self.jobs.items():
            total.update(dict.fromkeys(self.above(queue), number))
        return total

    @cached_property
    def total(self) -> dict[str, Counter[str]]:
        """What the jobs of each queue ask for, together with all below it; asked when all is added."""
        total: dict[str, Counter[str]] = defaultdict(Counter)
        for queue, amounts in self.amounts.items():
            for holder in self.above(queue):
                total[holder].update(amounts)
        return total

    def most(self, queue: str, resource: str) -> int | None:
        """Return a queue's own limit of a resource."""
        amounts = (self.queues.get(queue, {}).get("spec") or {}).get("capability") or {}
        return quantity.parse(amounts[resource]) if resource in amounts else None


def job_requests(manifest: Mapping[str, Any]) -> Counter[str]:
    """Return what all pods of a Job ask for together, by resource, in nanos of its unit."""
    total: Counter[str] = Counter()
    for task in manifest["spec"].get("tasks") or ():
        replicas = task.get("replicas", 1)
        for resource, amount in pod_requests((task.get("template") or {}).get("spec") or {}).items():
            total[resource] += amount * replicas
    return total


def queue_totals(
    environments: Sequence[EnvironmentReview], accelerators: Sequence[Accelerator], others: Iterable[Compiled] = ()
) -> list[QueueTotals]:
    """Return the totals of each queue that jobs use or environments write, by cluster, parents first.

    ``others`` are environments that are not reviewed, and have jobs in the same queues.
    """
    found: list[QueueTotals] = []
    for cluster in sorted({one.cluster for one in environments if one.state != "broken"}):
        before, after = _Side(), _Side()
        for other in others:
            if other.environment and other.environment.cluster == cluster:
                for planned in other.objects:
                    before.add(planned.manifest)
                    after.add(planned.manifest)
        _add(before, after, [one for one in environments if one.cluster == cluster])
        found += _of_cluster(cluster, before, after, accelerators)
    return found


def _add(before: _Side, after: _Side, environments: Iterable[EnvironmentReview]) -> None:
    """Count the objects of reviewed environments in, as they were and as they will be."""
    for one in environments:
        for planned in one.compiled.objects if one.compiled else ():
            before.add(planned.manifest)
            after.add(planned.manifest)
        for change in one.changes:
            if change.after is not None:
                before.add(change.after, -1)
        for change in one.changes:
            if change.before is not None:
                before.add(change.before)


def _of_cluster(
    cluster: str, before: _Side, after: _Side, accelerators: Sequence[Accelerator]
) -> Iterator[QueueTotals]:
    names = {*before.total_jobs, *after.total_jobs, *before.queues, *after.queues}
    for name in sorted(names, key=lambda name: [*(after if name in after.queues else before).above(name)][::-1]):
        yield QueueTotals(
            cluster=cluster, name=name, jobs_before=before.total_jobs[name], jobs_after=after.total_jobs[name],
            amounts=tuple(_amounts(name, before, after, accelerators)), state=_state(name, before, after),
        )  # fmt: skip


def _state(name: str, before: _Side, after: _Side) -> QueueState:
    if name in after.queues:
        return "ours" if name in before.queues else "new"
    return "gone" if name in before.queues else "external"


def _amounts(name: str, before: _Side, after: _Side, accelerators: Sequence[Accelerator]) -> Iterator[Amount]:
    were, are = before.total[name], after.total[name]
    limits = {resource for side in (before, after) for resource in _limits(side.queues.get(name))}
    for resource in sorted({*were, *are, *limits}, key=lambda resource: ("/" not in resource, resource)):
        if resource not in _TITLES and "/" not in resource:
            continue
        title, devices = title_of(resource, accelerators)
        was_most, most = before.most(name, resource), after.most(name, resource)
        yield Amount(
            resource=resource, title=title, before=were[resource] * devices, after=are[resource] * devices,
            most=None if most is None else most * devices, was_most=None if was_most is None else was_most * devices,
        )  # fmt: skip


def _limits(queue: Json | None) -> Iterable[str]:
    return ((queue or {}).get("spec") or {}).get("capability") or ()


def title_of(resource: str, accelerators: Sequence[Accelerator]) -> tuple[str, int]:
    """Return the name of a resource for people, and how many devices one of it is."""
    for one in accelerators:
        if one.is_of(resource):
            exact = one.resource == resource
            return one.title if exact else f"{one.title} ({resource})", one.devices
    return _TITLES.get(resource, resource), 1


def refused_queues(environments: Sequence[EnvironmentReview]) -> dict[int, Fault]:
    """Return the changes of Queues that Volcano will refuse, by their identity, though all fits in the end.

    Queues are applied one after the other, parents first: one that shrinks below what its child still has is refused,
    and what comes behind it waits.
    """
    found: dict[int, Fault] = {}
    for cluster in sorted({one.cluster for one in environments}):
        reviews = [one for one in environments if one.cluster == cluster]
        changes = [change for one in reviews for change in one.changes if is_queue(change.manifest)]
        changed = [change for change in changes if change.after is not None]
        if not changed:
            continue
        state = _before(reviews, changes)
        for _, group in groupby(sorted(changed, key=_level), key=_level):
            found.update(_refused(list(group), state))
    return found


def _level(change: Change) -> Any:
    return level(change.path.partition("/")[0])


def _refused(changes: list[Change], state: dict[str, Json]) -> dict[int, Fault]:
    """Apply the changes of one level to the state of the cluster, again and again, until the rest is refused."""
    waiting = changes
    while True:
        refused = {}
        for change in waiting:
            if fault := _refusal(change, state):
                refused[id(change)] = fault
            else:
                assert change.after is not None
                state[change.new_name] = change.after
        if not refused or len(refused) == len(waiting):
            return refused
        waiting = [change for change in waiting if id(change) in refused]


def _before(reviews: Iterable[EnvironmentReview], changes: Iterable[Change]) -> dict[str, Json]:
    objects = [planned.manifest for one in reviews if one.compiled for planned in one.compiled.objects]
    state = {manifest["metadata"]["name"]: manifest for manifest in objects if is_queue(manifest)}
    for change in changes:
        state.pop(change.new_name, None)
    state.update({change.old_name: change.before for change in changes if change.before is not None})
    return state


def _refusal(change: Change, state: Mapping[str, Json]) -> Fault | None:
    parents = {(queue.get("spec") or {}).get("parent", _ROOT) for queue in (*state.values(), change.after or {})}
    others = [{"metadata": {"name": name}, "spec": {}} for name in sorted({*parents, _ROOT, "default"} - state.keys())]
    faults = judge_queue(change.after, [*state.values(), *others], "update" if change.before else "create")
    return faults[0] if faults else None
