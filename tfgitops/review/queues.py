"""The totals of each queue of a cluster before and after a change, and the changes of Queues that Volcano refuses."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cached_property
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
_JOBS = ""  # stands for the number of jobs among the amounts of resources
_TITLES = {"cpu": "CPU", "memory": "memory"}


@dataclass(kw_only=True)
class _Side:
    """The queues, the number of jobs in each and what they request, either before or after."""

    queues: dict[str, Json] = field(default_factory=dict)
    amounts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, manifest: Json, sign: int = 1) -> None:
        """Count an object in, or out again."""
        if is_job(manifest):
            amounts = self.amounts[manifest["spec"].get("queue", "default")]
            for resource, amount in {_JOBS: 1, **_job_requests(manifest)}.items():
                amounts[resource] += sign * amount
        elif is_queue(manifest):
            if sign > 0:
                self.queues[manifest["metadata"]["name"]] = manifest
            else:
                self.queues.pop(manifest["metadata"]["name"], None)

    def add_all(self, compiled: Compiled | None) -> None:
        """Count in the objects of a compiled environment."""
        for planned in compiled.objects if compiled else ():
            self.add(planned.manifest)

    def add_earlier(self, one: EnvironmentReview) -> None:
        """Count in the objects of an environment as they were before the change."""
        self.add_all(one.compiled)
        for change in one.changes:
            if change.after is not None:
                self.add(change.after, -1)
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
        """Return the capability of a queue by resource."""
        return (self.queues.get(queue, {}).get("spec") or {}).get("capability") or {}


def _job_requests(manifest: Mapping[str, Any]) -> Counter[str]:
    """Return the requests of all pods of a Job together, by resource, in nanos of its unit."""
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

    ``others`` are environments that are not reviewed but have jobs in the same queues.
    """
    found: list[QueueTotals] = []
    for cluster in sorted({one.cluster for one in environments if one.state != "broken"}):
        before, after = _Side(), _Side()
        for other in others:
            if other.environment and other.environment.cluster == cluster:
                for side in (before, after):
                    side.add_all(other)
        for one in environments:
            if one.cluster == cluster:
                after.add_all(one.compiled)
                before.add_earlier(one)
        found += _of_cluster(cluster, before, after, accelerators)
    return found


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


def refused_queues(environments: Sequence[EnvironmentReview]) -> dict[int, str]:
    """Return why Volcano will refuse some changes of Queues on the way, by the `id` of the change.

    Queues are applied one after the other, parents first. Volcano refuses to shrink one below its child's present size,
    and everything after it waits.
    """
    found: dict[int, str] = {}
    for cluster in sorted({one.cluster for one in environments}):
        reviews = [one for one in environments if one.cluster == cluster]
        changes = [change for one in reviews for change in one.changes if change.after and is_queue(change.after)]
        before = _Side()
        for one in reviews if changes else ():
            before.add_earlier(one)
        levels: dict[Any, list[Change]] = defaultdict(list)
        for change in changes:
            levels[level(change.path.partition("/")[0])].append(change)
        for key in sorted(levels):
            found.update(_refused(levels[key], before.queues))
    return found


def _refused(waiting: list[Change], state: dict[str, Json]) -> dict[int, str]:
    """Apply the changes of one level to the state of the cluster until Volcano refuses all that are left."""
    while True:
        refused = {}
        for change in waiting:
            if fault := _refusal(change, state):
                refused[id(change)] = f"while the queues below it are as they were: {fault.message}"
            else:
                assert change.after is not None
                state[change.new_name] = change.after
        if not refused or len(refused) == len(waiting):
            return refused
        waiting = [change for change in waiting if id(change) in refused]


def _refusal(change: Change, state: Mapping[str, Json]) -> Fault | None:
    parents = {(queue.get("spec") or {}).get("parent", _ROOT) for queue in (*state.values(), change.after or {})}
    others = [{"metadata": {"name": name}, "spec": {}} for name in sorted({*parents, _ROOT, "default"} - state.keys())]
    faults = judge_queue(change.after, [*state.values(), *others], "update" if change.before else "create")
    return faults[0] if faults else None
