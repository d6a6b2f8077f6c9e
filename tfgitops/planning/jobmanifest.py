"""Write a Volcano Job with every default that the server would add, and nothing that it would take away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.spec.model import JOB_LABEL
from tfgitops.targets.volcano.defaults import DEFAULT_QUEUE, MAX_RETRY, NEEDS, SCHEDULER
from tfgitops.targets.volcano.identity import PLACEHOLDER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tfgitops.spec.model import Job, Role

API_VERSION = "batch.volcano.sh/v1alpha1"
SVC_ARGUMENTS = ("--publish-not-ready-addresses=true",)
"""Peers wait for each other before they are ready, so their names must resolve before (docs/volcano.md 5)."""

_RESTARTED_WHOLE = ("multi-worker", "between-graph", "in-graph")
"""Strategies in which one lost peer hangs the rest."""


def job_manifest(job: Job, templates: Sequence[Mapping[str, Any]], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Job of some pod templates, one for each role, under a placeholder for its name.

    ``wanted`` is what plugins want of the Job: a partial Job, weaker than the spec.
    """
    data = job.data
    asked = wanted.get("metadata", {})
    labels = {**asked.get("labels", {}), **_texts(data.get("labels")), JOB_LABEL: job.name}
    annotations = {**asked.get("annotations", {}), **_texts(data.get("annotations"))}
    metadata: dict[str, Any] = {"name": PLACEHOLDER, "namespace": job.environment.namespace, "labels": labels}
    if annotations:
        metadata["annotations"] = annotations
    spec: dict[str, Any] = {
        "schedulerName": SCHEDULER,
        "queue": DEFAULT_QUEUE,
        "maxRetry": MAX_RETRY,
        **wanted.get("spec", {}),
        "minAvailable": job.min_available,
        "plugins": _plugins(data.get("plugins", {}), wanted.get("spec", {}).get("plugins", {})),
    }
    for key in ("maxRetry", "priorityClassName"):
        if key in data:
            spec[key] = data[key]
    if policies := job_policies(job):
        spec["policies"] = policies
    deciding = deciding_role(job)
    spec["tasks"] = [_task(job, role, template, deciding) for role, template in zip(job.roles, templates, strict=True)]
    return {"apiVersion": API_VERSION, "kind": "Job", "metadata": metadata, "spec": spec}


def _task(job: Job, role: Role, template: Mapping[str, Any], deciding: str) -> dict[str, Any]:
    task: dict[str, Any] = {
        "name": role.name, "replicas": role.replicas, "minAvailable": role.min_available,
        "maxRetry": role.data.get("maxRetry", MAX_RETRY), "template": template,
    }  # fmt: skip
    if depends := role.data.get("dependsOn"):
        task["dependsOn"] = {"name": list(depends)}
    if policies := role_policies(job, role, deciding):
        task["policies"] = policies
    return task


def _plugins(own: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, list[str]]:
    """Join the arguments of Volcano's job plugins: a flag that the spec gives wins over ours and the plugins'.

    Those that others need stand there, too: the webhook would add them.
    """
    joined: dict[str, list[str]] = {}
    needed = {need for name in (*own, *asked) for need in NEEDS.get(name, ())}
    for name in sorted({"svc", *own, *asked, *needed}):
        written = own.get(name, ())
        flags = {argument.split("=", 1)[0] for argument in written}
        weaker = [*(SVC_ARGUMENTS if name == "svc" else ()), *asked.get(name, ())]
        joined[name] = sorted([*written, *dict.fromkeys(arg for arg in weaker if arg.split("=", 1)[0] not in flags)])
    return joined


def job_policies(job: Job) -> list[dict[str, Any]]:
    """Return the policies of a job: its own, then the defaults for events that it does not speak of."""
    defaults = [{"event": "PodEvicted", "action": "RestartJob"}]
    if job.strategy in _RESTARTED_WHOLE:
        defaults.append({"event": "PodFailed", "action": "RestartJob"})
    return _policies(job.data.get("policies"), defaults)


def role_policies(job: Job, role: Role, deciding: str) -> list[dict[str, Any]]:
    """Return the policies of a role: its own, then the defaults for events that it does not speak of.

    ``deciding`` is the name of the role whose end is the job's.
    """
    defaults = []
    if action := _when_a_pod_fails(job, role, deciding):
        defaults.append({"event": "PodFailed", "action": action})
    if role.name == deciding:
        defaults.append({"event": "TaskCompleted", "action": "CompleteJob"})
    return _policies(role.data.get("policies"), defaults)


def _when_a_pod_fails(job: Job, role: Role, deciding: str) -> str:
    """Say what follows when a pod of a role fails, where nothing is said for the whole job.

    The coordinator tolerates the loss of a worker. But without a policy Volcano ends a job only when all its pods have
    ended, so where servers or an evaluator outlive the one that failed, its GPUs would be kept for ever.
    """
    if job.strategy == "parameter-server":
        return {"worker": "RestartPod", "chief": "RestartJob", "ps": "RestartJob"}.get(role.kind, "")
    return "RestartJob" if job.strategy == "mirrored" and role.name == deciding and len(job.roles) > 1 else ""


def deciding_role(job: Job) -> str:
    """Name the role whose end is the job's: chief, else worker, else the only task; else none.

    The workers of in-graph serve, and never end: without a chief the one further task is the client that drives them.
    """
    names = [role.name for role in job.roles if role.kind != "task"]
    tasks = [role.name for role in job.roles if role.kind == "task"]
    if job.strategy == "in-graph" and "chief" not in names and len(tasks) == 1:
        return tasks[0]
    for name in ("chief", "worker"):
        if name in names:
            return name
    return job.roles[0].name if len(job.roles) == 1 else ""


def _policies(written: list[dict[str, Any]] | None, defaults: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if written is None:
        return defaults
    if not written:
        return []
    spoken_of = {event for policy in written for event in (policy.get("event"), *policy.get("events", ()))}
    if "*" in spoken_of:
        return written
    return [*written, *(policy for policy in defaults if policy["event"] not in spoken_of)]


def _texts(values: Mapping[str, Any] | None) -> dict[str, str]:
    return {key: str(value) for key, value in (values or {}).items()}
