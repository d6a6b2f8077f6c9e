"""The tree of queues: who is above whom, and where a job can run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tfgitops import Job, Note, Problem, did_you_mean

BUILT_IN = ("default", "root")
"""Queues that Volcano makes itself."""

DEPTH_MAX = 5
"""The levels of queues below the root that Volcano takes."""

_CHAIN_MAX = 64  # more are too deep in any case
_DECLARE = "declare it under `queues`: `{}: {{external: true}}` if it exists already"

Queues = Mapping[str, Mapping[str, Any]]


def above(name: str, queues: Queues) -> Iterator[str]:
    """Yield a queue and those above it that are declared, the nearest first, up to a limit; a circle ends it, too."""
    seen: set[str] = set()
    while name in queues and name not in seen and len(seen) < _CHAIN_MAX:
        seen.add(name)
        yield name
        name = queues[name].get("parent", "root")


def levels(queues: Queues) -> dict[str, int]:
    """Return for each queue how many of our own queues, itself included, must be there for it to be accepted."""
    return {
        name: max(1, sum(1 for other in above(name, queues) if not queues[other].get("external"))) for name in queues
    }


def drained(name: str, queues: Queues) -> str:
    """Return the drained queue, this one or one above it, or nothing: Volcano closes a queue with its children."""
    return next((other for other in above(name, queues) if queues[other].get("drain")), "")


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
    level = sum(not queues[one].get("external") for one in chain)
    if queues[chain[-1]].get("parent") in chain:
        circle = " → ".join([*chain, queues[chain[-1]]["parent"]])
        message = f"the queues above '{name}' lead round in a circle: {circle}"
        yield Problem(code="QUEUE04", message=message, at=(*at, "parent"), hint="one of them needs another parent")
    elif (len(chain) == _CHAIN_MAX and name == min(chain)) or (not queue.get("external") and level == DEPTH_MAX + 1):
        message = f"'{name}' is on level {max(level, DEPTH_MAX + 1)} of the queues, and Volcano has {DEPTH_MAX}"
        yield Problem(code="QUEUE08", message=message, at=(*at, "parent"), hint="choose a parent nearer to the root")


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
    elif queue := drained(name, queues):
        yield Problem(
            code="QUEUE07", message=f"the job '{job.name}' would start in the queue '{queue}', which is drained", at=at,
            hint=f"if it runs, pin it: `tfgitops pin ENV {job.name}`; otherwise give it another queue, or remove it",
            notes=(Note(message=f"'{queue}' is drained", at=("queues", queue, "drain")),),
        )  # fmt: skip
