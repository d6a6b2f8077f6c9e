"""Decide which events restart or end a job: the policies that a spec gives, and our defaults for all other events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.targets.volcano.tasks import ANY, events_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfgitops.spec.model import Job, Role

    Policies = list[dict[str, Any]]

_RESTARTED_WHOLE = ("multi-worker", "between-graph", "in-graph")
"""Strategies in which all pods hang if one is lost."""


def job_policies(job: Job) -> Policies:
    """Return the policies of a job, for all its tasks."""
    defaults = {"PodEvicted": "RestartJob"}
    if job.strategy in _RESTARTED_WHOLE:
        defaults["PodFailed"] = "RestartJob"
    return _with_defaults(job.data.get("policies"), defaults)


def role_policies(job: Job, role: Role, deciding: str) -> Policies:
    """Return the policies of a role; ``deciding`` is the name of the `deciding_role`."""
    defaults = {}
    if action := _when_a_pod_fails(job, role, deciding):
        defaults["PodFailed"] = action
    if role.name == deciding:
        defaults["TaskCompleted"] = "CompleteJob"
    return _with_defaults(role.data.get("policies"), defaults)


def deciding_role(job: Job) -> str:
    """Return the name of the role whose end completes the job: the chief, else the worker, else the only role.

    The workers of in-graph serve and never end. Without a chief, the one further task drives them, and decides.
    Returns the empty string if no role decides.
    """
    names = [role.name for role in job.roles if role.kind != "task"]
    tasks = [role.name for role in job.roles if role.kind == "task"]
    if job.strategy == "in-graph" and "chief" not in names and len(tasks) == 1:
        return tasks[0]
    for name in ("chief", "worker"):
        if name in names:
            return name
    return job.roles[0].name if len(job.roles) == 1 else ""


def _when_a_pod_fails(job: Job, role: Role, deciding: str) -> str:
    """Return the action after the failure of a pod, for strategies in which the other pods may go on.

    The coordinator of parameter-server tolerates the loss of a worker. A failed coordinator restarts the job: without
    a policy, the servers or an evaluator would keep their GPUs for ever, because Volcano waits for all pods.
    """
    if job.strategy == "parameter-server":
        return {"worker": "RestartPod", "chief": "RestartJob", "ps": "RestartJob"}.get(role.kind, "")
    return "RestartJob" if job.strategy == "mirrored" and role.name == deciding and len(job.roles) > 1 else ""


def _with_defaults(written: Policies | None, defaults: Mapping[str, str]) -> Policies:
    """Return written policies, then the default action of each event that they do not name; ``[]`` means none."""
    named = {event for policy in written or () for event in events_of(policy)}
    if written is not None and (not written or ANY in named):
        return written
    ours = [{"event": event, "action": action} for event, action in defaults.items() if event not in named]
    return [*(written or ()), *ours]
