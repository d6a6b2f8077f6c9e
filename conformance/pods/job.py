"""The parts of a Job manifest that decide which pods run and when the job ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]

INTERNAL = "OutOfSync"
"""The event of a pod that Volcano itself deleted. No policy answers it."""
SYNC = "SyncJob"
"""The action without a policy: Volcano creates the pods that are missing."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """One task of a Job."""

    name: str
    replicas: int
    min_available: int
    max_retry: int
    policies: tuple[Json, ...]
    depends_on: tuple[str, ...]
    depends_on_any: bool
    template: Json

    @property
    def pod(self) -> Json:
        """The pod spec of the task."""
        found: Json = self.template["spec"]
        return found

    @property
    def grace(self) -> float:
        """Seconds between SIGTERM and SIGKILL."""
        return float(self.pod.get("terminationGracePeriodSeconds", 30))


@dataclass(frozen=True, kw_only=True)
class Job:
    """One Volcano Job, and the data of the ConfigMaps that are committed beside it."""

    name: str
    namespace: str
    min_available: int
    min_success: int | None
    max_retry: int
    policies: tuple[Json, ...]
    plugins: Json
    tasks: tuple[Task, ...]
    config_maps: Json

    @property
    def replicas(self) -> int:
        """The number of pods that the Job asks for."""
        return sum(task.replicas for task in self.tasks)

    def task(self, name: str) -> Task:
        """Return a task by its name."""
        return next(task for task in self.tasks if task.name == name)

    def answer(self, task: str, event: str, code: int = 0) -> str:
        """Return the action for an event of a task's pod: the task's policies come before the job's.

        The first policy of a list that fits wins. An exit code fits only beside the event PodFailed.
        """
        if event == INTERNAL:
            return SYNC
        for policy in (*self.task(task).policies, *self.policies):
            events = {policy.get("event"), *(policy.get("events") or ())}
            if events & {event, "*"} or (code and policy.get("exitCode") == code):
                return str(policy["action"])
        return SYNC


def job_of(manifest: Json, config_maps: Json | None = None) -> Job:
    """Return the Job of a manifest, with Volcano's defaults for what the manifest leaves out."""
    spec = manifest["spec"]
    tasks = tuple(
        Task(
            name=task["name"],
            replicas=task["replicas"],
            min_available=task.get("minAvailable", task["replicas"]),
            max_retry=task.get("maxRetry") or 3,
            policies=tuple(task.get("policies") or ()),
            depends_on=tuple(names := (task.get("dependsOn") or {}).get("name") or ()),
            depends_on_any=len(names) > 1 and task["dependsOn"].get("iteration") == "any",
            template=task["template"],
        )
        for task in spec["tasks"]
    )
    return Job(
        name=manifest["metadata"]["name"],
        namespace=manifest["metadata"].get("namespace", "default"),
        min_available=spec.get("minAvailable") or sum(task.min_available for task in tasks),
        min_success=spec.get("minSuccess"),
        max_retry=spec.get("maxRetry") or 3,
        policies=tuple(spec.get("policies") or ()),
        plugins=spec.get("plugins") or {},
        tasks=tasks,
        config_maps=config_maps or {},
    )


def read_job(path: Path) -> Job:
    """Read the first Job of a file, and the ConfigMaps of the files beside it."""
    jobs = [found for found in _objects(path) if found["kind"] == "Job"]
    if not jobs:
        raise ValueError(f"{path}: no Job")
    beside = (found for other in sorted(path.parent.glob("*.yaml")) for found in _objects(other))
    maps = {found["metadata"]["name"]: found.get("data") or {} for found in beside if found["kind"] == "ConfigMap"}
    return job_of(jobs[0], maps)


def _objects(path: Path) -> list[Json]:
    text = path.read_text(encoding="utf-8")
    return [found for found in yaml.safe_load_all(text) if isinstance(found, dict) and "kind" in found]
