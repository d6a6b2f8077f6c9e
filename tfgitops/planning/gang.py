"""Check whether a gang can start: its numbers, its dependencies and the length of its pod names."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any

from tfgitops.spec.diagnostics import Note, Problem
from tfgitops.targets.nearest import did_you_mean
from tfgitops.targets.tensorflow import SERVER_PORT
from tfgitops.targets.volcano.identity import DIGITS
from tfgitops.targets.volcano.tasks import POD_NAME_MAX, action_on

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfgitops.spec.model import Job, Role

_NUMBERS = frozenset({"minAvailable", "dependsOn"})
"""Without these keys all pods start together, and no number can be wrong."""


def gang_pods(manifest: Mapping[str, Any]) -> list[int]:
    """Return for each task of a planned Job how many of its pods must run at the same time in any case.

    - TensorFlow's servers, which have its port, must all run: each waits for the others.
    - Another task needs its `minAvailable`, or more if the job does not reach its own `minAvailable` with all pods of
      the other tasks. If the job's is less than the sum over the tasks, Volcano ignores those of the tasks.
    - A task with `dependsOn` starts while the tasks that it waits for run (docs/volcano.md 5), and finds room when they
      end. It needs room for one pod if they last as long as the job. Several tasks that wait like this take turns.
    """
    spec = manifest["spec"]
    tasks, least = spec["tasks"], spec["minAvailable"]
    counts = [task["replicas"] for task in tasks]
    if least == sum(counts):  # then no task waits, and all pods must run
        return counts
    beside = _beside_what_lasts(tasks)
    by_task = least >= sum(task["minAvailable"] for task in tasks)
    first = sum(task["replicas"] for task in tasks if not task.get("dependsOn"))
    needed = []
    for task in tasks:
        replicas = task["replicas"]
        if _is_server(task):
            needed.append(replicas)
        elif task.get("dependsOn"):
            needed.append(1 if beside == [task["name"]] else 0)
        else:
            needed.append(max(task["minAvailable"] if by_task else 0, least - (first - replicas)))
    return needed


def _beside_what_lasts(tasks: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the tasks, except servers, that wait, directly or not, for a task that lasts as long as the job."""
    ends = [action_on("TaskCompleted", task.get("policies", ())) for task in tasks]
    pairs = zip(tasks, ends, strict=True)
    until_the_end = {task["name"] for task, end in pairs if _is_server(task) or end == "CompleteJob"}
    waits = {task["name"]: set(task["dependsOn"].get("name") or ()) for task in tasks if task.get("dependsOn")}
    reached: set[str] = set()
    while more := {name for name, others in waits.items() if others & (until_the_end | reached)} - reached:
        reached |= more
    return [task["name"] for task in tasks if task["name"] in reached and not _is_server(task)]


def _is_server(task: Mapping[str, Any]) -> bool:
    training = task["template"]["spec"]["containers"][0]
    return any(port.get("name") == SERVER_PORT for port in training.get("ports") or ())


def check_gang(job: Job) -> Iterator[Problem]:
    """Yield the problems by which a gang waits forever, or starts with fewer pods than it needs."""
    if any(not _NUMBERS.isdisjoint(data) for data in (job.data, *(role.data for role in job.roles))):
        yield from _check_numbers(job)
    yield from _check_names(job)


def _check_numbers(job: Job) -> Iterator[Problem]:
    problems = [problem for role in job.roles for problem in _check_role(job, role)]
    problems += _check_dependencies(job)
    yield from problems
    if not problems or "minAvailable" in job.data:  # the sum of wrong numbers is no news
        yield from _check_total(job)


def _wrong_number(holder: Job | Role, expected: str, message: str, hint: str, *notes: Note) -> Problem:
    """Return the problem of a wrong `minAvailable`."""
    at, found = (*holder.route, "minAvailable"), str(holder.min_available)
    return Problem(code="TF303", message=message, at=at, found=found, expected=expected, hint=hint, notes=notes)


def _check_role(job: Job, role: Role) -> Iterator[Problem]:
    if role.min_available > role.replicas:
        message = f"minAvailable {role.min_available} of '{role.name}' is more than its replicas"
        yield _wrong_number(role, f"at most {role.replicas}", message, "Volcano refuses it")
    elif role.in_cluster and role.min_available < role.replicas and job.strategy != "none":
        missing = f"{role.replicas - role.min_available} of the {role.replicas} hosts in TF_CONFIG"
        message = f"minAvailable {role.min_available} of '{role.name}' lets the gang start without {missing}"
        hint = "leave minAvailable out: the others would wait for the missing forever"
        yield _wrong_number(role, str(role.replicas), message, hint)


def _check_dependencies(job: Job) -> Iterator[Problem]:
    names = [role.name for role in job.roles]
    graph: dict[str, list[str]] = {}
    for role in job.roles:
        for index, target in enumerate(role.data.get("dependsOn") or ()):
            at = (*role.route, "dependsOn", index)
            if target == role.name:
                message = f"'{role.name}' depends on itself"
                yield Problem(code="TF303", message=message, at=at, hint="leave it out: it would never be created")
            elif target not in names:
                hint = did_you_mean(target, names, among="the roles are")
                message = f"'{role.name}' depends on '{target}', which the job has not"
                yield Problem(code="TF303", message=message, at=at, found=target, hint=hint)
            else:
                graph.setdefault(role.name, []).append(target)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = " → ".join(error.args[1])
        role = next(role for role in job.roles if role.name in error.args[1])
        yield Problem(
            code="TF303", message=f"dependsOn leads round in a circle: {circle}", at=(*role.route, "dependsOn"),
            hint="none of them would ever be created",
        )  # fmt: skip


def _check_total(job: Job) -> Iterator[Problem]:
    wanted = job.min_available
    total = sum(role.replicas for role in job.roles)
    needed = sum(role.min_available for role in job.roles)
    independent = sum(role.min_available for role in job.roles if not role.data.get("dependsOn"))
    dependent = next((role for role in job.roles if role.data.get("dependsOn")), None)
    if wanted > total:
        message = f"minAvailable {wanted} is more than the {total} pods of the job"
        yield _wrong_number(job, f"at most {total}", message, "leave it out: it is then the sum over the roles")
    elif dependent and wanted > independent:
        message = f"minAvailable {wanted} can never be reached: only {independent} pods do not wait by dependsOn"
        waits = Note(message=f"'{dependent.name}' waits here", at=(*dependent.route, "dependsOn"))
        yield _wrong_number(job, f"at most {independent}", message, "leave minAvailable out, or the dependsOn", waits)
    elif not dependent and wanted < needed:
        in_cluster = any(role.in_cluster for role in job.roles)
        why = "TensorFlow's cluster needs all of them" if in_cluster else "Volcano then checks no role at all"
        message = f"minAvailable {wanted} is less than the {needed} that the roles need together"
        yield _wrong_number(job, str(needed), message, f"leave it out, or give it per role: {why}")
    elif not independent:
        message = "every role depends on another: none would start"
        yield Problem(code="TF303", message=message, at=job.route, on_key=True, hint="let one of them wait for none")


def _check_names(job: Job) -> Iterator[Problem]:
    length = len(job.name) + 1 + DIGITS
    for role in job.roles:
        pod = length + 1 + len(role.name) + 1 + len(str(role.replicas - 1))
        if pod > POD_NAME_MAX:
            name = f"{job.name}-{'x' * DIGITS}-{role.name}-{role.replicas - 1}"
            yield Problem(
                code="TF503", message=f"the pod name '{name}' has {pod} characters, {POD_NAME_MAX} at most are allowed",
                at=role.route if role.kind == "task" else job.route, on_key=True, found=f"{pod} characters",
                expected=f"at most {POD_NAME_MAX}", hint=f"shorten the name by {pod - POD_NAME_MAX}",
            )  # fmt: skip
