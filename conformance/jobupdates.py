"""A model of what a cluster with Volcano refuses of a change of a Job, tried on real verdicts.

The compiler itself asks only which fields can change in place: `tfgitops.targets.volcano.defaults`, a part of this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes.fault import Fault, Rules
from tfgitops.targets.volcano.defaults import applied, immutable_fields, stored
from tfgitops.targets.volcano.job import judge_metadata
from tfgitops.targets.volcano.tasks import judge_partitions, judge_topologies, replicas_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Json = dict[str, Any]

RULES = Rules(
    {
        "update-immutable": ("{found} cannot change in a job that exists", "give the job a new name"),
        "update-task-count": (
            "the job has {old} tasks, and would have {found}",
            "tasks are added or removed only under a new name",
        ),
        "update-task-min-over-replicas": (
            "minAvailable is {found}, but this task has {replicas} replicas",
            "ask for at most {replicas}",
        ),
        "update-min-over-total": (
            "minAvailable is {found}, but all tasks together have {total} replicas",
            "ask for at most {total}",
        ),
    }
)


def judge_update(old: object, new: object) -> list[Fault]:
    """List what the cluster would refuse of a change from one applied manifest of a Job to the next.

    :param old: the manifest as it was applied last; it must have been admitted.
    :param new: the manifest to be applied, any JSON value.
    """
    if faults := stored(new).notes.faults:
        return faults
    assert isinstance(old, dict)
    assert isinstance(new, dict)
    live, after = applied(old, new)
    return [*after.notes.faults, *after.notes.limits, *_judge(live, after.manifest)]


def _judge(live: Json, after: Json) -> Iterator[Fault]:
    spec = after.get("spec", {})
    before, tasks = live.get("spec", {}).get("tasks", []), spec.get("tasks", [])
    yield from judge_metadata(after.get("metadata", {}), namespaced=True)
    yield from _judge_sizes(spec, tasks)
    yield from judge_partitions(tasks, ("spec", "tasks"))
    yield from judge_topologies(spec)
    if len(before) != len(tasks):
        yield RULES.fault("update-task-count", ("spec", "tasks"), found=len(tasks), old=len(before))
        return
    for route in immutable_fields(live, after):
        yield RULES.fault("update-immutable", route, found=route[-1])


def _judge_sizes(spec: Json, tasks: Sequence[Json]) -> Iterator[Fault]:
    for i, task in enumerate(tasks):
        least, replicas = task.get("minAvailable", 0), replicas_of(task)
        if least > replicas:
            at = ("spec", "tasks", i, "minAvailable")
            yield RULES.fault("update-task-min-over-replicas", at, found=least, replicas=replicas)
    total, least = sum(map(replicas_of, tasks)), spec.get("minAvailable", 0)
    if least > total:
        yield RULES.fault("update-min-over-total", ("spec", "minAvailable"), found=least, total=total)
