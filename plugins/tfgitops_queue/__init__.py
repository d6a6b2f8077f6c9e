"""Queues: declared, external and hierarchical, and whether each gang fits its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops import Environment, Job, Object, Patch, Problem, SchemaFragment, hookimpl, read_schema
from tfgitops_queue.capacity import check_gangs
from tfgitops_queue.hierarchy import BUILT_IN, check_queue, check_use, levels, parents, with_kept
from tfgitops_queue.manifest import queue_manifest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

tfgitops_api = 1

CODES = {
    "QUEUE01": "a queue that is not known",
    "QUEUE02": "a queue in which no job can run",
    "QUEUE03": "a queue that Volcano makes itself",
    "QUEUE04": "queues whose parents lead round in a circle",
    "QUEUE05": "a gang that is larger than its queue",
}


@hookimpl
def tfgitops_schema() -> Iterator[SchemaFragment]:
    """Own `queues` at the top, and `queue` in jobs."""
    schema = read_schema(__name__)
    yield SchemaFragment("environment", "queues", schema["queues"])
    yield SchemaFragment("job", "queue", schema["queue"])


@hookimpl
def tfgitops_check_environment(environment: Environment) -> Iterator[Problem]:
    """Refuse queues that are not known, and queues in which no job can run."""
    queues = environment.get("queues") or {}
    for name in queues:
        yield from check_queue(name, queues)
    above_others = parents(queues)
    for job in environment.jobs:
        yield from check_use(job, queues, above_others)


@hookimpl
def tfgitops_contribute(job: Job) -> Iterator[Patch]:
    """Write the queue out, also where it is Volcano's own default."""
    queue = job.get("queue")
    if queue:
        yield job.patch({"spec": {"queue": queue}}, "queue")


@hookimpl
def tfgitops_objects(environment: Environment) -> Iterator[Object]:
    """Write each declared queue, children in a folder behind that of their parents."""
    queues = environment.get("queues") or {}
    for name, level in levels(queues).items():
        if not queues[name].get("external") and name not in BUILT_IN:
            folder = "cluster" if level == 1 else f"cluster-{level}"
            yield Object(queue_manifest(name, queues[name]), ("queues", name), folder=folder, keep=True)


@hookimpl
def tfgitops_check_manifests(environment: Environment, manifests: tuple[Mapping[str, Any], ...]) -> Iterator[Problem]:
    """Refuse gangs that are larger than their queue, or a queue above it: they would wait for ever."""
    queues = with_kept(environment.get("queues") or {}, manifests)
    if any("capability" in queue for queue in queues.values()):
        yield from check_gangs(environment, queues, manifests)
