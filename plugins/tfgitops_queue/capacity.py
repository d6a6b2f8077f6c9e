"""Whether each gang fits its queue and the queues above it; one that does not waits for ever, without a word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops import Environment, Job, Note, Problem, gang_pods, pod_requests, quantity
from tfgitops_queue.hierarchy import Queues, above

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def check_gangs(
    environment: Environment, queues: Queues, manifests: tuple[Mapping[str, Any], ...]
) -> Iterator[Problem]:
    """Report each planned Job whose gang asks for more than a queue may use (docs/volcano.md 5)."""
    limits = {name: _limits(name, queues) for name in queues}
    for manifest in manifests:
        job = environment.job_of(manifest)
        if job and (found := limits.get(manifest["spec"]["queue"])):
            yield from _check(job, gang_requests(manifest), found)


def gang_requests(manifest: Mapping[str, Any]) -> dict[str, int]:
    """Return what the pods that must run at once ask for together, in nanos."""
    total = {"pods": 0}
    for task, needed in zip(manifest["spec"]["tasks"], gang_pods(manifest), strict=True):
        total["pods"] += needed * quantity.NANO
        for name, amount in pod_requests(task["template"]["spec"]).items():
            total[name] = total.get(name, 0) + amount * needed
    return total


def _limits(name: str, queues: Queues) -> list[tuple[str, str, int]]:
    """List (queue, resource, nanos) of a queue and those above it."""
    return [
        (queue, resource, quantity.parse(amount))
        for queue in above(name, queues)
        for resource, amount in (queues[queue].get("capability") or {}).items()
    ]


def _check(job: Job, wanted: Mapping[str, int], limits: list[tuple[str, str, int]]) -> Iterator[Problem]:
    for queue, resource, most in limits:
        if wanted.get(resource, 0) > most:
            needs, has = (quantity.show(amount, resource) for amount in (wanted[resource], most))
            yield Problem(
                code="QUEUE05", at=(*job.route, "queue"), found=needs, expected=f"at most {has}",
                message=f"the gang of '{job.name}' needs {needs} {resource}, and the queue '{queue}' may use {has}",
                hint="it would wait for ever: fewer replicas, less for each, or a larger queue",
                notes=_declared(job.environment, queue, resource),
            )  # fmt: skip


def _declared(environment: Environment, queue: str, resource: str) -> tuple[Note, ...]:
    """Point at a queue's capability, if it is in the spec, and not only kept for a pinned job."""
    declared = queue in (environment.get("queues") or {})
    return (Note(message="the queue's capability", at=("queues", queue, "capability", resource)),) if declared else ()
