"""Warn of written policies that never take effect: their event does not come, or another policy answers it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.spec.diagnostics import Note, Problem
from tfgitops.targets.volcano.tasks import ANY, events_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfgitops.spec.model import Job, Role
    from tfgitops.targets.routes import Route

    Policy = Mapping[str, Any]
    Tasks = Sequence[tuple[Role, Mapping[str, Any]]]

_RESTART_POLICY = ("pod", "spec", "restartPolicy"), ("restartPolicy",)


def check_policies(job: Job, manifest: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield a warning for each policy of a spec that never takes effect in the planned manifest.

    Volcano takes the first policy that fits, of the task and then of the job (docs/volcano.md 5).
    """
    tasks = [*zip(job.roles, manifest["spec"]["tasks"], strict=True)]
    yield from _check(job, job, tasks)
    for role, task in tasks:
        yield from _check(job, role, [(role, {**task, "policies": ()})])


def _check(job: Job, holder: Job | Role, tasks: Tasks) -> Iterator[Problem]:
    """Check the policies of a job or a role. The tasks have the policies that Volcano asks first."""
    written = holder.data.get("policies") or ()
    for index, policy in enumerate(written):
        at, events = (*holder.route, "policies", index), events_of(policy)
        above: Sequence[Policy] = ()
        if policy.get("exitCode"):  # it comes with PodFailed
            events, above = ["PodFailed"], written[:index]
        answers = [[_answer([*above, *task.get("policies", ())], event) for event in events] for _, task in tasks]
        left = [placed for placed, actions in zip(tasks, answers, strict=True) if not all(actions)]
        if left:
            yield from _check_restarts(job, events, left, at)
        elif any(  # of an evaluator nobody means the job's policies for failures
            role.kind != "evaluator" and {*actions} - {policy["action"]}
            for (role, _), actions in zip(tasks, answers, strict=True)
        ):
            message = f"Volcano takes another policy for {' and '.join(events)} in every role, and never this one"
            hint = (
                "write it in the roles, and an exit code above PodFailed: a role's policy wins, and in a list the first"
            )
            yield _warning(at, message, hint)


def _check_restarts(job: Job, events: Sequence[str], tasks: Tasks, at: Route) -> Iterator[Problem]:
    """Check whether the event comes of tasks whose containers the kubelet restarts in their pods, or does not."""
    names = ", ".join(f"'{role.name}'" for role, _ in tasks)
    pods = [task["template"]["spec"] for _, task in tasks]
    if events == ["PodFailed"] and all(pod.get("restartPolicy") == "OnFailure" for pod in pods):
        message = (
            f"the kubelet restarts failed containers of {names} in their pods, which only fail if they are evicted"
        )
        hint = "name TaskFailed, which comes after `maxRetry` restarts, or keep `restartPolicy: Never`"
        note = Note(message="the kubelet restarts because of this", at=job.written(tasks[0][0], *_RESTART_POLICY))
        yield _warning(at, message, f"{hint}; for evictions, write `events: [PodFailed, PodEvicted]`", note)
    elif events == ["TaskFailed"] and not any(map(_restarts_in_place, pods)):
        message = (
            f"TaskFailed comes after restarts of containers in their pods, and the kubelet restarts none of {names}"
        )
        yield _warning(at, message, "name PodFailed, or write `restartPolicy: OnFailure`")


def _answer(policies: Sequence[Policy], event: str) -> str:
    """Return the action of the first policy that names an event, or nothing."""
    return next((policy["action"] for policy in policies if {event, ANY} & {*events_of(policy)}), "")


def _restarts_in_place(pod: Mapping[str, Any]) -> bool:
    return any(one.get("restartPolicy", "Never") != "Never" for one in (pod, *pod.get("initContainers", ())))


def _warning(at: Route, message: str, hint: str, *notes: Note) -> Problem:
    return Problem(code="TF502", message=message, at=at, severity="warning", hint=hint, notes=notes)
