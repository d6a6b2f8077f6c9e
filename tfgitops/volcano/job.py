"""What a cluster with Volcano says of a Job that is to be created: the rules of its schema, its webhooks and of pods."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tfgitops.kubernetes import names
from tfgitops.kubernetes.pod import judge_settled
from tfgitops.volcano.defaults import stored
from tfgitops.volcano.fault import Fault, show
from tfgitops.volcano.metadata import judge_metadata
from tfgitops.volcano.plugins import judge_plugins
from tfgitops.volcano.policies import judge_policies
from tfgitops.volcano.tasks import judge_tasks, judge_topologies, replicas_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Json = Mapping[str, Any]

ROOT_QUEUE = "root"
REPLICAS_MAX = 2**31 - 1  # the webhook adds replicas up in 32 bits


def judge_job(manifest: object, queues: Sequence[Json]) -> list[Fault]:
    """List what the cluster would refuse of a Job, and what we refuse beyond that (see `stricter.py`).

    :param manifest: any JSON value.
    :param queues: the Queues that exist, as manifests; one without status is taken to be open.
    """
    after = stored(manifest)
    if after.notes.faults:
        return [*after.notes.faults, *after.notes.limits]
    assert isinstance(manifest, dict)
    return [*after.notes.limits, *_judge_object(manifest, after.manifest), *_judge_stored(after.manifest, queues)]


def _judge_object(manifest: Json, job: Json) -> Iterator[Fault]:
    if manifest.get("status") is not None:
        message = "status is the controller's to write"
        yield Fault(rule="status-given", at=("status",), message=message, hint="leave it out")
    if "spec" not in job:
        yield Fault(rule="mutate-spec-missing", at=("spec",), message="the object has no spec", hint="give it one")
    yield from judge_metadata(job.get("metadata", {}), namespaced=True)


def _judge_stored(job: Json, queues: Sequence[Json]) -> Iterator[Fault]:
    """Judge a Job as the server would store it."""
    spec = job.get("spec", {})
    tasks = spec.get("tasks", [])
    name = job.get("metadata", {}).get("name", "")
    if "spec" in job and not tasks:
        yield Fault(rule="job-no-tasks", at=("spec", "tasks"), message="the job has no tasks", hint="give it at least one")
    yield from _judge_name(name, spec)
    yield from _judge_gang(spec, tasks)
    yield from judge_tasks(name, tasks, ("spec", "tasks"))
    yield from judge_policies(spec.get("policies", ()), ("spec", "policies"))
    for i, task in enumerate(tasks):
        yield from judge_policies(task.get("policies", ()), ("spec", "tasks", i, "policies"))
    yield from judge_plugins(spec.get("plugins", {}), tasks, ("spec", "plugins"))
    yield from judge_topologies(spec)
    yield from _judge_volumes(spec.get("volumes", ()))
    yield from _judge_queue(spec.get("queue", "default"), queues)
    for i, task in enumerate(tasks):
        for fault in judge_settled(task.get("template", {})):
            yield fault.below(("spec", "tasks", i, "template"))


def _judge_name(name: str, spec: Json) -> Iterator[Fault]:
    at = ("metadata", "name")
    if len(name) > names.LABEL_MAX:
        message = f"the job's name has {len(name)} characters, and becomes a label of its pods"
        yield Fault(rule="job-name", at=at, message=message, hint="use at most 63", found=show(name))
    if "svc" not in spec.get("plugins", {}):
        return
    if "." in name:
        message = "the svc plugin makes a Service of the job's name, which cannot hold dots"
        yield Fault(rule="job-name-dots", at=at, message=message, hint="use hyphens", found=show(name))
    elif re.match("[0-9]", name):
        message = "the svc plugin makes a Service of the job's name, which must start with a letter"
        yield Fault(rule="job-name-digit", at=at, message=message, hint="put a letter first", found=show(name))


def _judge_gang(spec: Json, tasks: Sequence[Json]) -> Iterator[Fault]:
    total, least = sum(map(replicas_of, tasks)), spec.get("minAvailable", 0)
    if total > REPLICAS_MAX:
        message = f"all tasks together have {total} replicas, more than Volcano can count"
        at = ("spec", "minAvailable")
        yield Fault(rule="job-min-over-total", at=at, message=message, hint=f"use at most {REPLICAS_MAX}")
    if least > total:
        yield Fault(
            rule="job-min-over-total",
            at=("spec", "minAvailable"),
            message=f"minAvailable is {least}, but all tasks together have {total} replicas",
            hint=f"ask for at most {total}",
            found=str(least),
            expected=f"at most {total}",
        )


def _judge_volumes(volumes: Sequence[Json]) -> Iterator[Fault]:
    seen = set()
    for i, volume in enumerate(volumes):
        at = ("spec", "volumes", i)
        path, claim = volume.get("mountPath", ""), volume.get("volumeClaimName", "")
        if path in seen:
            message = f"two of the job's volumes are mounted at {path}"
            yield Fault(rule="job-volume-path-duplicate", at=(*at, "mountPath"), message=message, hint="move one of them")
        seen.add(path)
        if claim and "volumeClaim" in volume:
            message = "a job's volume has an existing claim or a new one, not both"
            hint = "keep volumeClaimName or volumeClaim"
            yield Fault(rule="job-volume-two-claims", at=at, message=message, hint=hint)
        elif not claim and "volumeClaim" not in volume:
            yield Fault(rule="job-volume-no-claim", at=at, message="this volume has no claim", hint="give volumeClaimName")
        elif claim and not names.is_dns_subdomain(claim):
            message = f"{show(claim)} is not a legal name of a claim"
            place = (*at, "volumeClaimName")
            yield Fault(rule="job-volume-claim-name", at=place, message=message, hint="use lower-case letters, digits, - and .")


def _judge_queue(name: str, queues: Sequence[Json]) -> Iterator[Fault]:
    """Judge the queue that a job is put into: it exists, is open, and has no queues below it."""
    at = ("spec", "queue")
    if name == ROOT_QUEUE:
        message = "jobs cannot be put into the root queue"
        yield Fault(rule="queue-is-root", at=at, message=message, hint="use a queue below it")
        return
    queue = next((queue for queue in queues if queue.get("metadata", {}).get("name") == name), None)
    if queue is None:
        known = ", ".join(sorted(str(queue.get("metadata", {}).get("name")) for queue in queues))
        message = f"there is no queue {show(name)}"
        yield Fault(rule="queue-missing", at=at, message=message, hint=f"use one of {known}", found=name)
        return
    state = queue.get("status", {"state": "Open"}).get("state", "")
    if state != "Open":
        message = f"the queue {name} is {state or 'not open yet'}, and takes no jobs"
        yield Fault(rule="queue-not-open", at=at, message=message, hint="open it, or use another queue", found=state)
    below = [str(other["metadata"]["name"]) for other in queues if other.get("spec", {}).get("parent") == name]
    if below:
        message = f"the queue {name} has queues below it, so it takes no jobs itself"
        yield Fault(rule="queue-not-leaf", at=at, message=message, hint=f"use one of {', '.join(below)}", found=name)
