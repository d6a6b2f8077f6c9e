"""The environment of a container: the manifest's `env`, then the variables of Volcano's plugins."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .expansion import expand

if TYPE_CHECKING:
    from .job import Job, Json, Task

SECRET = "dummy"  # noqa: S105 - stands for the value of every Secret
_METADATA = re.compile(r"metadata\.(labels|annotations)\['([^']+)'\]")


@dataclass(frozen=True, kw_only=True)
class Place:
    """One pod of a Job: its task, its index and its address."""

    job: Job
    task: Task
    index: int
    address: str

    @property
    def name(self) -> str:
        """The pod's name, which is its hostname, too."""
        return f"{self.job.name}-{self.task.name}-{self.index}"


def hosts_of(job: Job, task: Task) -> list[str]:
    """Return the host names of a task's pods, as the svc plugin lists them."""
    return [f"{job.name}-{task.name}-{index}.{job.name}" for index in range(task.replicas)]


def host_file(task: Task) -> str:
    """Return the name of a task's file below /etc/volcano."""
    return f"{task.name.replace('-', '_')}.host"


def variables(place: Place, container: Json) -> dict[str, str]:
    """Return all variables of a container, in the order in which Kubernetes knows them."""
    found: dict[str, str] = {}
    for source in container.get("envFrom") or ():
        if "configMapRef" in source:
            data = place.job.config_maps[source["configMapRef"]["name"]]
            found.update({source.get("prefix", "") + key: value for key, value in data.items()})
    for entry in container.get("env") or ():
        found[entry["name"]] = _value(place, entry, found)
    return found | _of_plugins(place)


def _value(place: Place, entry: Json, before: dict[str, str]) -> str:
    source = entry.get("valueFrom")
    if not source:
        return expand(entry.get("value") or "", before)
    if "fieldRef" in source:
        return _field(place, source["fieldRef"]["fieldPath"])
    if "configMapKeyRef" in source:
        reference = source["configMapKeyRef"]
        return str(place.job.config_maps[reference["name"]][reference["key"]])
    return SECRET


def _field(place: Place, path: str) -> str:
    metadata = place.task.template.get("metadata") or {}
    volcano = {
        "volcano.sh/task-index": str(place.index),
        "volcano.sh/task-spec": place.task.name,
        "volcano.sh/job-name": place.job.name,
    }
    if found := _METADATA.fullmatch(path):
        return str({**(metadata.get(found[1]) or {}), **volcano}.get(found[2], ""))
    fields = {
        "metadata.name": place.name,
        "metadata.namespace": place.job.namespace,
        "spec.nodeName": "node",
        "spec.serviceAccountName": place.task.pod.get("serviceAccountName", "default"),
        "status.hostIP": place.address,
        "status.podIP": place.address,
        "status.podIPs": place.address,
    }
    return str(fields[path])


def _of_plugins(place: Place) -> dict[str, str]:
    found: dict[str, str] = {}
    if "env" in place.job.plugins:
        found |= {"VK_TASK_INDEX": str(place.index), "VC_TASK_INDEX": str(place.index)}
    if "svc" in place.job.plugins:
        for task in place.job.tasks:
            name = task.name.upper().replace("-", "_")
            found[f"VC_{name}_HOSTS"] = ",".join(hosts_of(place.job, task))
            found[f"VC_{name}_NUM"] = str(task.replicas)
    return found
