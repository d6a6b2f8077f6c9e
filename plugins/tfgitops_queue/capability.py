"""What each queue may use by Volcano's capacity plugin: whether a gang fits, and which amounts are no limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops import Note, Problem, gang_pods, pod_requests, quantity
from tfgitops_queue.queuechecks import above

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tfgitops import Accelerator, Environment, Job
    from tfgitops_queue.queuechecks import Queues

    Guarantees = Mapping[tuple[str, str], tuple[Mapping[str, int], int]]
    Because = tuple[str, str, Mapping[str, int]]  # a resource of a queue, and what others beside it keep
    Limit = tuple[str, int, tuple[Because, ...]]  # a queue, the most that it may use, and why


def check_capability(
    environment: Environment, manifests: Iterable[Mapping[str, Any]], devices: Iterable[Accelerator]
) -> Iterator[Problem]:
    """Report gangs that are larger than their queue, and capabilities that limit less than they seem to."""
    declared: Queues = environment.get("queues") or {}
    kept = {one["metadata"]["name"]: one["spec"] for one in manifests if one["kind"] == "Queue"}  # for pinned jobs
    queues = kept | dict(declared)
    used = {manifest["spec"]["queue"] for manifest in manifests if environment.job_of(manifest)}
    guarantees = _guarantees(queues)
    limits = {
        name: (_limits(name, queues, guarantees), _without_devices(name, queues)) for name in used & queues.keys()
    }
    unlimited: dict[tuple[str, str], Job] = {}
    for manifest in manifests:
        job = environment.job_of(manifest)
        most, limited = limits.get(manifest["spec"]["queue"], ({}, "")) if job else ({}, "")
        if job and (most or limited):
            wanted = _gang_requests(manifest)
            yield from _check_gang(job, wanted, most, declared)
            for resource in wanted if limited in declared else ():
                if any(device.is_of(resource) for device in devices):
                    unlimited.setdefault((limited, resource), job)
    for (name, resource), job in unlimited.items():
        yield Problem(
            code="QUEUE06", severity="warning", at=("queues", name, "capability"), on_key=True,
            message=f"the queue '{name}' does not limit {resource}, which '{job.name}' asks for",
            hint=f"a resource that `capability` leaves out has no limit: add `{resource}: NUMBER`",
        )  # fmt: skip
    amounts = [(name, *item) for name in declared for item in (declared[name].get("capability") or {}).items()]
    for name, resource, amount in amounts:
        if _is_no_limit(resource, amount):
            why = "Volcano does not count pods" if resource == "pods" else "Volcano treats 0 as no limit"
            yield Problem(
                code="QUEUE06", severity="warning", at=("queues", name, "capability", resource),
                message=f"`{resource}: {amount}` does not limit the queue '{name}': {why}",
                hint="leave it out, or limit what the pods ask for",
            )  # fmt: skip


def _is_no_limit(resource: str, amount: Any) -> bool:
    return resource == "pods" or (resource in ("cpu", "memory") and not quantity.parse(amount))


def _guarantees(queues: Queues) -> Guarantees:
    """Return what the queues below each parent keep for themselves of each resource, by their names, and in all."""
    found: dict[tuple[str, str], dict[str, int]] = {}
    for name, queue in queues.items():
        for resource, amount in (queue.get("guarantee") or {}).items():
            found.setdefault((queue.get("parent", "root"), resource), {})[name] = quantity.parse(amount)
    return {key: (kept, sum(kept.values())) for key, kept in found.items()}


def _limits(name: str, queues: Queues, guarantees: Guarantees) -> dict[str, Limit]:
    """Return what a queue may use: its capability, and what its parent has beyond the guarantees of its siblings.

    Below the root nothing is taken away, since the root has no amounts.
    """
    found: dict[str, Limit] = {}
    for queue in reversed([*above(name, queues)]):
        for resource, (_, most, because) in found.items():
            kept, total = guarantees.get((queues[queue].get("parent", "root"), resource), ({}, 0))
            if len(kept) > (queue in kept):
                taken = (resource, queue, kept)
                found[resource] = (queue, most - total + kept.get(queue, 0), (*because, taken))
        for resource, amount in (queues[queue].get("capability") or {}).items():
            most = quantity.parse(amount)
            if not _is_no_limit(resource, amount) and (resource not in found or most < found[resource][1]):
                found[resource] = (queue, most, ((resource, queue, {}),))
    return found


def _notes(because: Iterable[Because], declared: Queues) -> Iterator[Note]:
    """Yield the keys that say how much a queue may use; others are kept for pinned jobs."""
    for resource, queue, kept in because:
        if queue in declared and not kept:
            yield Note(message="the queue's capability", at=("queues", queue, "capability", resource))
        for other in kept:
            if other != queue and other in declared:
                yield Note(message=f"kept for '{other}'", at=("queues", other, "guarantee", resource))


def _without_devices(name: str, queues: Queues) -> str:
    """Return the nearest queue with a capability if none names a device; who names one knows of devices."""
    limited = [queue for queue in above(name, queues) if queues[queue].get("capability")]
    known = any("/" in resource for queue in limited for resource in queues[queue]["capability"])
    unknown = any(queues[queue].get("external") for queue in above(name, queues))
    return "" if known or unknown or not limited else limited[0]


def _gang_requests(manifest: Mapping[str, Any]) -> dict[str, int]:
    """Return what the pods that must run at once ask for together, in nanos."""
    total: dict[str, int] = {}
    for task, needed in zip(manifest["spec"]["tasks"], gang_pods(manifest), strict=True):
        for name, amount in pod_requests(task["template"]["spec"]).items():
            total[name] = total.get(name, 0) + amount * needed
    return total


def _check_gang(
    job: Job, wanted: Mapping[str, int], limits: Mapping[str, Limit], declared: Queues
) -> Iterator[Problem]:
    for resource, (queue, most, because) in limits.items():
        if wanted.get(resource, 0) > most:
            needs, has = (quantity.show(amount, resource) for amount in (wanted[resource], most))
            yield Problem(
                code="QUEUE05", at=(*job.route, "queue"), found=needs, expected=f"at most {has}",
                message=f"the gang of '{job.name}' needs {needs} {resource}, and the queue '{queue}' may use {has}",
                hint="the gang would wait forever: use fewer replicas, ask for less per replica, or enlarge the queue",
                notes=tuple(_notes(because, declared)),
            )  # fmt: skip
