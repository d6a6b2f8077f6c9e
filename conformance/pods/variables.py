"""The environment of a container: the manifest's `env`, then the variables of Volcano's plugins."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .expansion import expand

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

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


def untold(job: Job, container: Json) -> Iterator[str]:
    """Yield why a container's variables cannot be known."""
    for source in container.get("envFrom") or ():
        yield from config_map_fault(job, source.get("configMapRef"))
    for entry in container.get("env") or ():
        source = entry.get("valueFrom") or {}
        yield from config_map_fault(job, source.get("configMapKeyRef"))
        path = (source.get("fieldRef") or {}).get("fieldPath", "metadata.name")
        kinds = set(source) - {"fieldRef", "configMapKeyRef", "secretKeyRef"}
        if kinds or not (path in _FIELDS or _METADATA.fullmatch(path)):
            yield f"variable {entry['name']} from {', '.join(kinds) or path}"


def config_map_fault(job: Job, reference: Json | None, keys: Iterable[str] = ()) -> Iterator[str]:
    """Yield what a reference to a ConfigMap misses in the files beside the manifest."""
    if not reference or reference.get("optional"):
        return
    data = job.config_maps.get(reference["name"])
    if data is None:
        yield f"no file beside the manifest has the ConfigMap {reference['name']}"
        return
    wanted = [reference["key"]] if "key" in reference else keys
    yield from (f"the ConfigMap {reference['name']} has no key {key}" for key in wanted if key not in data)


def variables(place: Place, container: Json) -> dict[str, str]:
    """Return all variables of a container, in the order in which Kubernetes knows them."""
    found: dict[str, str] = {}
    for source in container.get("envFrom") or ():
        if "configMapRef" in source:
            data = place.job.config_maps.get(source["configMapRef"]["name"], {})
            found.update({source.get("prefix", "") + key: value for key, value in data.items()})
    for entry in container.get("env") or ():
        value = _value(place, entry, found)
        if value is not None:
            found[entry["name"]] = value
    return found | _of_plugins(place)


def _value(place: Place, entry: Json, before: dict[str, str]) -> str | None:
    """Return the value of a variable, or None for a key that is optional and not there."""
    source = entry.get("valueFrom")
    if not source:
        return expand(entry.get("value") or "", before)
    if "fieldRef" in source:
        return _field(place, source["fieldRef"]["fieldPath"])
    if "configMapKeyRef" in source:
        reference = source["configMapKeyRef"]
        found = place.job.config_maps.get(reference["name"], {}).get(reference["key"])
        return None if found is None else str(found)
    return SECRET


_FIELDS: dict[str, Callable[[Place], str]] = {
    "metadata.name": lambda place: place.name,
    "metadata.namespace": lambda place: place.job.namespace,
    "spec.nodeName": lambda _: "node",
    "spec.serviceAccountName": lambda place: place.task.pod.get("serviceAccountName", "default"),
    "status.hostIP": lambda place: place.address,
    "status.podIP": lambda place: place.address,
    "status.podIPs": lambda place: place.address,
}


def _field(place: Place, path: str) -> str:
    metadata = place.task.template.get("metadata") or {}
    volcano = {
        "volcano.sh/task-index": str(place.index),
        "volcano.sh/task-spec": place.task.name,
        "volcano.sh/job-name": place.job.name,
    }
    if found := _METADATA.fullmatch(path):
        return str({**(metadata.get(found[1]) or {}), **volcano}.get(found[2], ""))
    return _FIELDS[path](place)


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
