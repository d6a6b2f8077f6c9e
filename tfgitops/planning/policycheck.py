"""Warn of written policies that never take effect: their event does not come, or another policy answers it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.spec.diagnostics import Note, Problem
from tfgitops.targets.kubernetes.fault import Rules
from tfgitops.targets.volcano.tasks import ANY, events_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfgitops.spec.model import Job, Role

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
""")
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
                fault = _RULES.fault(
                    rule, (*holder.route, "policies", index), events=" and ".join(_events(policy)),
                    roles=", ".join(f"'{role.name}'" for role in told),
                )  # fmt: skip
                note = Note(message="the kubelet restarts because of this", at=job.written(told[0], *_RESTART_POLICY))
                yield Problem(
                    code="TF502", message=fault.message, at=fault.at, severity="warning", hint=fault.hint,
                    notes=(note,) if rule == "restarts" else (),
                )  # fmt: skip


def _broken(policy: Policy, first: Sequence[Policy], pod: Mapping[str, Any]) -> str:
    """Return the rule by which a policy has no effect on a pod, or nothing; Volcano asks the ``first`` ones before."""
    events = _events(policy)
    answers = {next((one["action"] for one in first if {event, ANY} & {*events_of(one)}), "") for event in events}
    if "" not in answers:
        return "another" if answers - {policy["action"]} else ""
    if events == ["PodFailed"] and pod.get("restartPolicy") == "OnFailure":
        return "restarts"
    in_place = any(one.get("restartPolicy", "Never") != "Never" for one in (pod, *pod.get("initContainers", ())))
    return "none-restarts" if events == ["TaskFailed"] and not in_place else ""


def _events(policy: Policy) -> list[str]:
    """Return the events of a policy; an exit code comes with PodFailed."""
    return ["PodFailed"] if policy.get("exitCode") else events_of(policy)
