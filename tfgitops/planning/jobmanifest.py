"""Write a Volcano Job with every default that the server would add, and no field that it would remove."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.planning.policies import job_policies, role_policies
from tfgitops.spec.model import JOB_LABEL
from tfgitops.targets.volcano.defaults import DEFAULT_QUEUE, MAX_RETRY, NEEDS, SCHEDULER
from tfgitops.targets.volcano.identity import PLACEHOLDER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tfgitops.spec.model import Job, Role

API_VERSION = "batch.volcano.sh/v1alpha1"
RETRIES = 100
"""The default of a job's `maxRetry`.

Volcano counts every restart of a pod, a task or the job, never forgets one, and fails the job at this number. Its own
default of 3 ends a healthy training on preemptible nodes after three lost pods. 100 lets a training lose three pods a
day for a month, and still ends a program that fails at its start: after an hour, if a start takes half a minute.
"""

SVC_ARGUMENTS = ("--publish-not-ready-addresses=true",)
"""Pods wait for each other before they are ready, so their names must resolve before that (docs/volcano.md 5)."""


def job_manifest(job: Job, templates: Sequence[Mapping[str, Any]], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Job with one pod template for each role, under a placeholder for its name.

    ``wanted`` is the partial Job of the plugins. The spec wins over it.
    """
    data = job.data
    texts, spec_of_plugins = wanted.get("metadata", {}), wanted.get("spec", {})
    labels, annotations = (
        {**texts.get(key, {}), **{name: str(value) for name, value in (data.get(key) or {}).items()}}
        for key in ("labels", "annotations")
    )
    labels[JOB_LABEL] = job.name
    metadata: dict[str, Any] = {"name": PLACEHOLDER, "namespace": job.environment.namespace, "labels": labels}
    if annotations:
        metadata["annotations"] = annotations
    spec: dict[str, Any] = {
        "schedulerName": SCHEDULER,
        "queue": DEFAULT_QUEUE,
        "maxRetry": RETRIES,
        **spec_of_plugins,
        **{key: data[key] for key in ("maxRetry", "priorityClassName") if key in data},
        "minAvailable": job.min_available,
        "plugins": _plugins(data.get("plugins", {}), spec_of_plugins.get("plugins", {})),
    }
    if policies := job_policies(job):
        spec["policies"] = policies
    spec["tasks"] = [_task(job, role, template) for role, template in zip(job.roles, templates, strict=True)]
    return {"apiVersion": API_VERSION, "kind": "Job", "metadata": metadata, "spec": spec}


def _task(job: Job, role: Role, template: Mapping[str, Any]) -> dict[str, Any]:
    task: dict[str, Any] = {
        "name": role.name, "replicas": role.replicas, "minAvailable": role.min_available,
        "maxRetry": role.data.get("maxRetry", MAX_RETRY), "template": template,
    }  # fmt: skip
    if depends := role.data.get("dependsOn"):
        task["dependsOn"] = {"name": list(depends)}
    if policies := role_policies(job, role):
        task["policies"] = policies
    return task


def _plugins(own: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return Volcano's job plugins with their arguments. A flag of the spec wins over ours and over the plugins'.

    Plugins that others need are written, too, because the webhook would add them.
    """
    joined: dict[str, list[str]] = {}
    needed = {need for name in (*own, *asked) for need in NEEDS.get(name, ())}
    for name in sorted({"svc", *own, *asked, *needed}):
        written = own.get(name, ())
        flags = {argument.split("=", 1)[0] for argument in written}
        weaker = [*(SVC_ARGUMENTS if name == "svc" else ()), *asked.get(name, ())]
        joined[name] = sorted([*written, *dict.fromkeys(arg for arg in weaker if arg.split("=", 1)[0] not in flags)])
    return joined
