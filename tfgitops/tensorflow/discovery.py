"""How the pods of a job find each other: ``TF_CONFIG``, and the variables that commands may refer to."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from tfgitops.diagnostics import Problem
from tfgitops.model import CLUSTER_ROLES, ROLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfgitops.model import Job, Role

TRAINING_CONTAINER = "tensorflow"

_REFERENCE = re.compile(r"\$\$|\$\(([^()\s]+)\)")
_INDEX = {
    "name": "TASK_INDEX",
    "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['volcano.sh/task-index']"}},
}
_RUN = {"name": "RUN", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['volcano.sh/job-name']"}}}
_CONFIG_MAX = 131_071  # Linux: MAX_ARG_STRLEN, the longest single string in a process's environment, less its end


def hosts_variable(task: str) -> str:
    """Return the name of the variable that lists a task's hosts: ``PS_HOSTS`` for ``ps``."""
    return f"{task.upper().replace('-', '_')}_HOSTS"


class Discovery:
    """The addresses of one job's pods, written for an object of a given name."""

    def __init__(self, job: Job, run: str) -> None:
        self._job = job
        self._hosts = {
            role.name: [f"{run}-{role.name}-{index}.{run}:{job.port}" for index in range(role.replicas)]
            for role in job.roles
        }
        self._cluster = {role.kind: self._hosts[role.name] for role in job.roles if role.in_cluster}
        self._variables = {hosts_variable(name): name for name in self._hosts}
        self._known = {"TASK_INDEX", "TASK_TYPE", "RUN", *self._variables}
        self._never = {hosts_variable(kind): kind for kind in ROLES} | {"TF_CONFIG": ""}

    def tf_config(self, role: Role) -> str:
        """Return ``TF_CONFIG`` for all pods of a role; the index is filled in by Kubernetes (volcano.md 4)."""
        value = {"cluster": self._cluster, "task": {"type": role.kind, "index": 0}}
        text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
        return text.removesuffix("0}}") + "$(TASK_INDEX)}}"

    def write(self, role: Role, template: dict[str, Any]) -> Iterator[Problem]:
        """Give each container of a pod template the variables that it refers to, and the training one ``TF_CONFIG``.

        Yields a problem for each variable of ours that is referred to and has no value in this job.
        """
        spec = template["spec"]
        for container in (*spec["containers"], *spec.get("initContainers", ())):
            training = container["name"] == TRAINING_CONTAINER and container in spec["containers"]
            wanted = references(container)
            for name in sorted(wanted & self._never.keys() - self._known):
                if name != "TF_CONFIG":
                    yield self._no_value(role, name)
            env = list(self._entries(role, wanted & self._known))
            if training and self._job.strategy != "none" and role.kind != "task":
                if not any(entry["name"] == "TASK_INDEX" for entry in env):
                    env.append(_INDEX)
                config = self.tf_config(role)
                env.append({"name": "TF_CONFIG", "value": config})
                if len(config) > _CONFIG_MAX:
                    yield self._too_long(role, len(config))
            env += in_order(container.get("env") or [])
            if env:
                container["env"] = env

    def _entries(self, role: Role, wanted: set[str]) -> Iterator[dict[str, Any]]:
        if "RUN" in wanted:
            yield _RUN
        if "TASK_TYPE" in wanted:
            yield {"name": "TASK_TYPE", "value": role.name}
        if "TASK_INDEX" in wanted:
            yield _INDEX
        for name in sorted(wanted & self._variables.keys()):
            yield {"name": name, "value": ",".join(self._hosts[self._variables[name]])}

    def _no_value(self, role: Role, name: str) -> Problem:
        kind = self._never[name]
        where = "outside TensorFlow's cluster" if kind not in CLUSTER_ROLES else ""
        return Problem(
            code="TF305", message=f"$({name}) has no value: the job has no {kind}", at=(*role.route, "command"),
            hint=f"add the role `{kind}`, or do not refer to it" + (f" ({where})" if where else ""),
        )  # fmt: skip

    def _too_long(self, role: Role, length: int) -> Problem:
        return Problem(
            code="TF303", message=f"TF_CONFIG has {length:,} characters, and Linux passes on {_CONFIG_MAX:,} at most",
            at=(*role.route, "replicas"), hint="fewer replicas, or a shorter job name",
        )  # fmt: skip


def references(container: dict[str, Any]) -> set[str]:
    """Return the names in ``$(NAME)`` wherever Kubernetes expands them in a container."""
    texts: list[str] = [*container.get("command", ()), *container.get("args", ())]
    texts += [entry.get("value") or "" for entry in container.get("env") or ()]
    texts += [mount.get("subPathExpr") or "" for mount in container.get("volumeMounts") or ()]
    return {name for text in texts if "$(" in text for name in _REFERENCE.findall(text) if name}


def in_order(entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort variables by name, but each behind those that its value refers to.

    The order of keys in a map means nothing, so moving a line in a spec must not make a new run; yet Kubernetes
    expands ``$(X)`` only where X is defined earlier.
    """
    waiting = {entry["name"]: entry for entry in sorted(entries, key=lambda entry: str(entry["name"]))}
    placed: dict[str, dict[str, Any]] = {}

    def place(name: str, above: tuple[str, ...]) -> None:
        if name in placed or name in above:
            return
        value = waiting[name].get("value") or ""
        if "$(" in value:
            for needed in sorted(set(_REFERENCE.findall(value)) & waiting.keys()):
                place(needed, (*above, name))
        placed[name] = waiting[name]

    for name in waiting:
        place(name, ())
    return list(placed.values())
