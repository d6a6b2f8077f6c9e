"""Queues: declared, external and hierarchical, and whether each gang fits its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops import Environment, Job, Object, Patch, Problem, SchemaFragment, hookimpl, quantity, read_schema
from tfgitops_queue.capability import check_capability
from tfgitops_queue.queuechecks import BUILT_IN, check_queue, check_use, drained, levels, parents

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfgitops import Accelerator

tfgitops_api = 1

CODES = {
    "QUEUE01": "a queue that is not known",
    "QUEUE02": "a queue in which no job can run",
    "QUEUE03": "a queue that Volcano makes itself",
    "QUEUE04": "queues whose parents lead round in a circle",
    "QUEUE05": "a gang that is larger than its queue",
    "QUEUE06": "a capability that limits less than it seems to",
    "QUEUE07": "a job that would start in a queue which is drained",
    "QUEUE08": "queues on more levels than Volcano has",
}


_FLUX_SKIPS = "kustomize.toolkit.fluxcd.io/reconcile"
"""Volcano refuses each write to a Closing queue, and one refused object blocks all of Flux's Kustomization."""


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
            manifest = _queue_manifest(name, queues[name])
            if environment.gitops == "flux" and drained(name, queues):
                manifest["metadata"].setdefault("annotations", {})[_FLUX_SKIPS] = "disabled"
            yield Object(manifest, ("queues", name), folder=folder, keep=True)


@hookimpl
def tfgitops_check_manifests(
    environment: Environment, manifests: tuple[Mapping[str, Any], ...], accelerators: tuple[Accelerator, ...]
) -> Iterator[Problem]:
    """Refuse gangs that are larger than their queue, or a queue above it: they would wait forever."""
    return check_capability(environment, manifests, accelerators)


def _queue_manifest(name: str, queue: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Queue of one block of `queues`, with every default written out (docs/volcano.md 1)."""
    metadata: dict[str, Any] = {"name": name}
    for key in ("labels", "annotations"):
        if values := queue.get(key):
            metadata[key] = {label: str(value) for label, value in values.items()}
    spec: dict[str, Any] = {
        "parent": queue.get("parent", "root"),
        "weight": queue.get("weight", 1),
        "reclaimable": queue.get("reclaimable", True),
        "dequeueStrategy": "traverse",
    }
    if "priority" in queue:
        spec["priority"] = queue["priority"]
    for key in ("capability", "deserved"):
        if amounts := queue.get(key):
            spec[key] = _canonical(amounts)
    if amounts := queue.get("guarantee"):
        spec["guarantee"] = {"resource": _canonical(amounts)}
    return {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": metadata, "spec": spec}


def _canonical(amounts: Mapping[str, Any]) -> dict[str, str]:
    return {name: quantity.canonical(amount) for name, amount in amounts.items()}
