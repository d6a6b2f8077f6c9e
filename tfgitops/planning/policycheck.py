"""Warn of policies that never take effect, and of time limits of pods that a policy makes useless."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tfgitops.spec.diagnostics import Note, Problem
from tfgitops.targets.kubernetes.fault import Rules
from tfgitops.targets.volcano.tasks import action_on, events_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfgitops.spec.model import Job, Role
    from tfgitops.targets.routes import Route

    Policy = Mapping[str, Any]

_RULES = Rules.read("""
    another:
        Volcano takes another policy for {events} in every role, and never this one
        | write it in the roles, and an exit code above PodFailed: a role's policy wins, and in a list the first
    restarts:
        the kubelet restarts failed containers of {roles} in their pods, which only fail if they are evicted
        | name TaskFailed, which comes after `maxRetry` restarts, or keep `restartPolicy: Never`; for evictions, write
        `events: [PodFailed, PodEvicted]`
    none-restarts:
        TaskFailed comes after restarts of containers in their pods, and the kubelet restarts none of {roles}
        | name PodFailed, or write `restartPolicy: OnFailure`
    deadline:
        a pod that takes longer has failed, and the policy for PodFailed, {action}, runs it again
        | limit the program: `timeout 6h python …` with `policies: [{{exitCode: 124, action: TerminateJob}}]` in its
        role
""")
_DEADLINE = ("pod", "spec", "activeDeadlineSeconds")
_RESTART_POLICY = ("pod", "spec", "restartPolicy"), ("restartPolicy",)


def check_policies(job: Job, manifest: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield a warning for each policy of a spec that takes effect in no role of the planned manifest.

    Volcano takes the first policy that fits, of the task and then of the job (docs/volcano.md 5). An evaluator does not
    count: nobody means it by the job's policies.
    """
    tasks = {role.name: task for role, task in zip(job.roles, manifest["spec"]["tasks"], strict=True)}
    holders: list[tuple[Job | Role, list[Role]]] = [(job, [role for role in job.roles if role.kind != "evaluator"])]
    for holder, roles in [*holders, *((role, [role]) for role in job.roles)]:
        written = holder.data.get("policies") or ()
        for index, policy in enumerate(written):
            above = written[:index] if policy.get("exitCode") else ()
            rules: dict[str, list[Role]] = {}
            for role in roles:
                first = [*above, *(tasks[role.name].get("policies", ()) if holder is job else ())]
                rules.setdefault(_broken(policy, first, tasks[role.name]["template"]["spec"]), []).append(role)
            if rules and "" not in rules:
                rule, told = max(rules.items())
                names = ", ".join(f"'{role.name}'" for role in told)
                note = Note(message="the kubelet restarts because of this", at=job.written(told[0], *_RESTART_POLICY))
                at = (*holder.route, "policies", index)
                found = _warning(rule, at, events=" and ".join(_events(policy)), roles=names)
                yield replace(found, notes=(note,)) if rule == "restarts" else found
    yield from _deadlines(job, tasks, manifest["spec"].get("policies", ()))


def _deadlines(job: Job, tasks: Mapping[str, Mapping[str, Any]], policies: Sequence[Policy]) -> Iterator[Problem]:
    found: dict[Route, str] = {}
    for role in job.roles:
        task = tasks[role.name]
        action = action_on("PodFailed", [*task.get("policies", ()), *policies])
        if _DEADLINE[-1] in task["template"]["spec"] and action.startswith("Restart"):
            found.setdefault(job.written(role, _DEADLINE), action)
    yield from (_warning("deadline", at, action=action) for at, action in found.items())


def _warning(rule: str, at: Route, **words: str) -> Problem:
    fault = _RULES.fault(rule, at, **words)
    return Problem(code="TF502", message=fault.message, at=at, severity="warning", hint=fault.hint)


def _broken(policy: Policy, first: Sequence[Policy], pod: Mapping[str, Any]) -> str:
    """Return the rule by which a policy has no effect on a pod, or nothing; Volcano asks the ``first`` ones before."""
    events = _events(policy)
    answers = {action_on(event, first) for event in events}
    if "" not in answers:
        return "another" if answers - {policy["action"]} else ""
    if events == ["PodFailed"] and pod.get("restartPolicy") == "OnFailure":
        return "restarts"
    in_place = any(one.get("restartPolicy", "Never") != "Never" for one in (pod, *pod.get("initContainers", ())))
    return "none-restarts" if events == ["TaskFailed"] and not in_place else ""


def _events(policy: Policy) -> list[str]:
    """Return the events of a policy; an exit code comes with PodFailed."""
    return ["PodFailed"] if policy.get("exitCode") else events_of(policy)
