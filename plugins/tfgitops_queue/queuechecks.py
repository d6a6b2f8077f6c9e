"""The tree of queues: who is above whom, where a job can run, and whether its gang fits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tfgitops import Environment, Job, Note, Problem, did_you_mean, gang_pods, pod_requests, quantity

BUILT_IN = ("default", "root")
"""Queues that Volcano makes itself."""

_DECLARE = "declare it under `queues`: `{}: {{external: true}}` if it exists already"

Queues = Mapping[str, Mapping[str, Any]]


def above(name: str, queues: Queues) -> Iterator[str]:
    """Yield a queue and those above it that are declared, the nearest first; stops where a circle closes."""
    seen: set[str] = set()
    while name in queues and name not in seen:
        seen.add(name)
        yield name
        name = queues[name].get("parent", "root")


def with_kept(queues: Queues, manifests: Iterable[Mapping[str, Any]]) -> Queues:
    """Add the queues that are no longer declared, and are kept because a pinned job runs in them."""
    specs = {manifest["metadata"]["name"]: manifest["spec"] for manifest in manifests if manifest["kind"] == "Queue"}
    return {**{name: spec for name, spec in specs.items() if name not in queues}, **queues}


def levels(queues: Queues) -> dict[str, int]:
    """Return for each queue how many of our own queues, itself included, must be there for it to be accepted."""
    return {
        name: max(1, sum(1 for other in above(name, queues) if not queues[other].get("external"))) for name in queues
    }


def check_queue(name: str, queues: Queues) -> Iterator[Problem]:
    """Report what is wrong with the place of one queue."""
    queue = queues[name]
    at = ("queues", name)
    if name in BUILT_IN and not queue.get("external"):
        message = f"Volcano makes the queue '{name}' itself"
        hint = "it is known without being declared" if name == "default" else "give your queue another name"
        yield Problem(code="QUEUE03", message=message, at=at, on_key=True, hint=hint)
    parent = queue.get("parent", "root")
    if parent not in queues and parent not in BUILT_IN:
        others = [other for other in queues if other != name]
        hint = did_you_mean(parent, [*others, "root"], among="the queues are", otherwise=_DECLARE.format(parent))
        message = f"the parent of '{name}', '{parent}', is not known"
        yield Problem(code="QUEUE01", message=message, at=(*at, "parent"), found=parent, hint=hint)
    chain = list(above(name, queues))
    if queues[chain[-1]].get("parent") in chain:
        circle = " → ".join([*chain, queues[chain[-1]]["parent"]])
        message = f"the queues above '{name}' lead round in a circle: {circle}"
        yield Problem(code="QUEUE04", message=message, at=(*at, "parent"), hint="one of them needs another parent")


def parents(queues: Queues) -> dict[str, str]:
    """Return the queues that have others below them, each with one of these."""
    return {queue.get("parent", "root"): name for name, queue in queues.items()}


def check_use(job: Job, queues: Queues, above_others: Mapping[str, str]) -> Iterator[Problem]:
    """Report a job whose queue is not known, or cannot hold jobs."""
    name = job.get("queue") or "default"
    at = (*job.route, "queue")
    if name == "root":
        message = "no job can run in the queue 'root'"
        yield Problem(code="QUEUE02", message=message, at=at, hint="declare a queue under `queues`, or leave it out")
    elif name not in queues and name != "default":
        among = "the queues are" if queues else ""
        hint = did_you_mean(name, [*queues, "default"], among=among, otherwise=_DECLARE.format(name))
        message = f"the queue '{name}' of the job '{job.name}' is not known"
        yield Problem(code="QUEUE01", message=message, at=at, found=name, hint=hint)
    elif child := above_others.get(name):
        yield Problem(
            code="QUEUE02", message=f"the queue '{name}' has queues below it, so no job can run in it", at=at,
            found=name, hint=f"choose one below it, such as '{child}'",
            notes=(Note(message=f"'{child}' is below it", at=("queues", child)),),
        )  # fmt: skip


def check_gangs(
    environment: Environment, queues: Queues, manifests: tuple[Mapping[str, Any], ...]
) -> Iterator[Problem]:
    """Report each planned Job whose gang asks for more than a queue may use (docs/volcano.md 5)."""
    limits = {
        name: [
            (queue, resource, quantity.parse(amount))
            for queue in above(name, queues)
            for resource, amount in (queues[queue].get("capability") or {}).items()
        ]
        for name in queues
    }
    for manifest in manifests:
        job = environment.job_of(manifest)
        if job and (found := limits.get(manifest["spec"]["queue"])):
            yield from _check_gang(job, _gang_requests(manifest), found)


def _gang_requests(manifest: Mapping[str, Any]) -> dict[str, int]:
    """Return what the pods that must run at once ask for together, in nanos."""
    total = {"pods": 0}
    for task, needed in zip(manifest["spec"]["tasks"], gang_pods(manifest), strict=True):
        total["pods"] += needed * quantity.NANO
        for name, amount in pod_requests(task["template"]["spec"]).items():
            total[name] = total.get(name, 0) + amount * needed
    return total


def _check_gang(job: Job, wanted: Mapping[str, int], limits: list[tuple[str, str, int]]) -> Iterator[Problem]:
    for queue, resource, most in limits:
        if wanted.get(resource, 0) > most:
            needs, has = (quantity.show(amount, resource) for amount in (wanted[resource], most))
            note = Note(message="the queue's capability", at=("queues", queue, "capability", resource))
            yield Problem(
                code="QUEUE05", at=(*job.route, "queue"), found=needs, expected=f"at most {has}",
                message=f"the gang of '{job.name}' needs {needs} {resource}, and the queue '{queue}' may use {has}",
                hint="the gang would wait forever: use fewer replicas, ask for less per replica, or enlarge the queue",
                notes=(note,) * (queue in (job.environment.get("queues") or {})),  # else it is kept for a pinned job
            )  # fmt: skip
