"""Decide which events restart or end a job: the policies that a spec gives, and our defaults for all other events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.spec.diagnostics import Problem
from tfgitops.targets.nearest import did_you_mean
from tfgitops.targets.volcano.tasks import ANY, action_on, events_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfgitops.spec.model import Job, Role

    Policies = list[dict[str, Any]]

_RESTARTED_WHOLE = ("multi-worker", "between-graph", "in-graph")
"""Strategies in which all pods hang if one is lost."""

ALL = "all"
"""The value of `completes` by which a job completes when all its pods have ended, as Volcano does without a policy."""

_NOTHING_ENDS = {
    True: "runs until you remove it from the spec, because its servers never end",
    False: "completes only when all pods of all its tasks have ended",
}
"""What becomes of a job that no role ends, by whether its strategy is in-graph: those ps and workers serve forever."""

_ENDS = ("CompleteJob", "TerminateJob", "AbortJob")


def job_policies(job: Job) -> Policies:
    """Return the policies of a job, for all its tasks."""
    defaults = {"PodEvicted": "RestartJob"}
    if job.strategy in _RESTARTED_WHOLE:
        defaults["PodFailed"] = "RestartJob"
    return _with_defaults(job.data.get("policies"), defaults)


def role_policies(job: Job, role: Role) -> Policies:
    """Return the policies of a role."""
    defaults = {}
    if action := _when_a_pod_fails(job, role):
        defaults["PodFailed"] = action
    if _may_lose_pods(job, role):
        # Volcano has no case for ResumeJob in a running job, and so makes the pod again and counts no retry
        # (docs/volcano.md 3). It sees the surplus pods of a smaller task as evicted, too.
        defaults["PodEvicted"] = "ResumeJob"
    if role.name == deciding_role(job):
        defaults["TaskCompleted"] = "CompleteJob"
    return _with_defaults(role.data.get("policies"), defaults)


def deciding_role(job: Job) -> str:
    """Return the name of the role whose end completes the job: the chief, else the worker, else the only role.

    The workers of in-graph serve and never end. Without a chief, the one further task drives them, and decides; without
    that task, too, the client is outside of the job. Returns the empty string if no role decides.
    """
    if given := job.data.get("completes"):
        return "" if given == ALL else str(given)
    names = [role.name for role in job.roles if role.kind != "task"]
    tasks = [role.name for role in job.roles if role.kind == "task"]
    if job.strategy == "in-graph" and "chief" not in names:
        return tasks[0] if len(tasks) == 1 else ""
    for name in ("chief", "worker"):
        if name in names:
            return name
    return job.roles[0].name if len(job.roles) == 1 else ""


def end_of(job: Job, spec: Mapping[str, Any]) -> str:
    """Return the end of the sentence "the job …" that says when a planned Job ends, by the policies of its ``spec``."""
    tasks = [(task["name"], [*(task.get("policies") or ()), *(spec.get("policies") or ())]) for task in spec["tasks"]]
    ending = [name for name, policies in tasks if action_on("TaskCompleted", policies) in _ENDS]
    if ending:
        return f"ends when all pods of {' or '.join(ending)} have completed"
    return _NOTHING_ENDS[job.strategy == "in-graph"]


def check_end(job: Job) -> Iterator[Problem]:
    """Yield a problem if `completes` names no role, or if nothing says which of several tasks ends the job."""
    names = [role.name for role in job.roles]
    given, expected = job.data.get("completes"), ", ".join((*names, ALL))
    if given and given not in (ALL, *names):
        message = f"the job '{job.name}' has no role '{given}' that could complete it"
        hint = did_you_mean(given, names) or f"name one of its roles, or {ALL}"
        yield Problem(code="TF203", message=message, at=(*job.route, "completes"), expected=expected, hint=hint)
    tasks = [role for role in job.roles if role.kind == "task"]
    blocks = [job.data, *(role.data for role in job.roles)]
    written = [policy for block in blocks for policy in block.get("policies") or ()]
    ended = any(policy.get("action") in _ENDS and "TaskCompleted" in events_of(policy) for policy in written)
    if len(tasks) > 1 and not (given or deciding_role(job) or ended):
        message = f"the job '{job.name}' {_NOTHING_ENDS[job.strategy == 'in-graph']}"
        hint = f"name the task whose end completes it in `completes`, or write `completes: {ALL}` if you mean that"
        yield Problem(
            code="TF308", message=message, at=job.route, on_key=True, severity="warning", expected=expected, hint=hint
        )


def _when_a_pod_fails(job: Job, role: Role) -> str:
    """Return the action after the failure of a pod, for strategies in which the other pods may keep running.

    The coordinator of parameter-server tolerates the loss of a worker. A failed coordinator restarts the job: without
    a policy, the servers or an evaluator would keep their GPUs forever, because Volcano waits for all pods. An
    evaluator's container restarts in its pod, so its pod fails only if the kubelet evicts it.
    """
    if role.kind == "evaluator":
        return "RestartPod"
    if job.strategy == "parameter-server":
        return {"worker": "RestartPod", "chief": "RestartJob", "ps": "RestartJob"}.get(role.kind, "")
    if job.strategy in _RESTARTED_WHOLE and _may_lose_pods(job, role):
        return "RestartPod"
    return "RestartJob" if job.strategy == "mirrored" and role.in_cluster else ""


def _may_lose_pods(job: Job, role: Role) -> bool:
    """Tell whether others keep running when a pod of a role is lost: by TensorFlow, or by a task's `minAvailable`."""
    if role.kind == "task":  # the key and not its number: a change of numbers is made in place, and policies are not
        return "minAvailable" in role.data
    return role.kind == "evaluator" or (job.strategy == "parameter-server" and role.kind == "worker")


def _with_defaults(written: Policies | None, defaults: Mapping[str, str]) -> Policies:
    """Return written policies, then the default action of each event that they do not name; ``[]`` means none."""
    named = {event for policy in written or () for event in events_of(policy)}
    if written is not None and (not written or ANY in named):
        return written
    ours = [{"event": event, "action": action} for event, action in defaults.items() if event not in named]
    return [*(written or ()), *ours]
