"""Write the variables by which the pods of a job find each other: ``TF_CONFIG``, ``RUN``, ``TASK_INDEX`` and hosts."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tfgitops.planning.expansion import IN_SHELL, in_order, misread, references
from tfgitops.spec.diagnostics import Problem
from tfgitops.targets.kubernetes.pod import HOSTNAME_MAX, nameless
from tfgitops.targets.nearest import did_you_mean
from tfgitops.targets.shell.command import STRING_MAX
from tfgitops.targets.tensorflow import ROLE_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tfgitops.planning.expansion import Place
    from tfgitops.spec.diagnostics import Severity
    from tfgitops.spec.model import Job, Role
    from tfgitops.targets.routes import Route

_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]+")  # no program has such a name, so no shell was to run it
_BROUGHT = re.compile(r"V[CK]_TASK_INDEX|[A-Z0-9_]+_SERVICE_(?:HOST|PORT(?:_[A-Z0-9_]+)?)").fullmatch
_INDEX = {"name": "TASK_INDEX", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['volcano.sh/task-index']"}}}
_RUN = {"name": "RUN", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['volcano.sh/job-name']"}}}
_OURS = re.compile(r"(?<!\$)\$\((RUN|[A-Z0-9_]+_HOSTS)\)")  # `$$(RUN)` is the text itself
_json = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


@lru_cache(maxsize=1024)
def hosts_variable(task: str) -> str:
    """Return the name of the variable that lists the hosts of a task: ``PS_HOSTS`` for ``ps``."""
    return f"{task.upper().replace('-', '_')}_HOSTS"


_ROLE_OF_VARIABLE = {hosts_variable(kind): kind for kind in ROLE_NAMES}


def hosts_port(job: Job, role: Role) -> tuple[dict[str, int], int]:
    """Return the ports of a role by name, and the port in its list of hosts.

    A TensorFlow role serves at the job's `port`. A further task serves at its own port, if it has exactly one. A port
    that the job gives to all roles, such as one for metrics, counts only where the task has no other.
    """
    if role.kind != "task":
        return {}, job.port
    ports, shared = (
        {name: int(port["port"]) for name, port in (holder.data.get("ports") or {}).items()} for holder in (role, job)
    )
    ports = dict(ports.items() - shared.items()) or ports
    return ports, next(iter(ports.values())) if len(ports) == 1 else job.port


class Discovery:
    """The addresses of one job's pods, for an object of the name ``run``.

    ``run`` may be a placeholder: ``run_length`` is the length of the final name.
    """

    def __init__(self, job: Job, run: str, run_length: int) -> None:
        self._job = job
        self._run = run
        self._longer = run_length - len(run)
        self._hosts: dict[str, list[str]] = {}
        for role in job.roles:
            _, port = hosts_port(job, role)
            self._hosts[role.name] = [f"{run}-{role.name}-{index}.{run}:{port}" for index in range(role.replicas)]
        self._in_cluster = {role.kind: self._hosts[role.name] for role in job.roles if role.in_cluster}
        self._cluster = _json(self._in_cluster)
        self._variables = {hosts_variable(name): name for name in self._hosts}
        self._ours = {"TASK_INDEX", "TASK_TYPE", "RUN", *self._variables}

    def write(self, role: Role, template: dict[str, Any]) -> Iterator[Problem]:
        """Add our variables to each container that refers to them, and ``TF_CONFIG`` to the training container.

        Yields a problem for each reference without a value.
        """
        spec = template["spec"]
        for key in ("containers", "initContainers"):
            for index, container in enumerate(spec.get(key, ())):
                yield from self._write_container(role, container, training=key == "containers" and index == 0)
        yield from self._unresolved(role, spec)

    def fill_in(self, value: Any) -> Any:
        """Return a value of an object, with the run and the hosts of the job in place of the references to them."""
        if isinstance(value, dict):
            return {key: self.fill_in(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.fill_in(inner) for inner in value]
        return _OURS.sub(self._value, value) if isinstance(value, str) and "$(" in value else value

    def _value(self, reference: re.Match[str]) -> str:
        name = reference[1]
        if name == "RUN":
            return self._run
        return ",".join(self._hosts[self._variables[name]]) if name in self._variables else reference[0]

    def _unresolved(self, role: Role, spec: Mapping[str, Any]) -> Iterator[Problem]:
        """Refuse fields with which a pod finds no other pod by name, if it needs one, or cannot have its own name."""
        namespace = self._job.environment.namespace
        lost = nameless(spec, namespace)
        if lost and not (role.in_cluster and sum(map(len, self._in_cluster.values())) > 1):
            containers = [*spec["containers"], *spec.get("initContainers", ())]
            named = {entry["name"] for container in containers for entry in container.get("env", ())}
            lost = lost if named & self._variables.keys() or "/etc/volcano/" in str(containers) else None
        length = len(self._hosts[role.name][-1].partition(":")[0]) + 2 * self._longer
        if spec.get("setHostnameAsFQDN") and (full := length + len(f".{namespace}.svc.cluster.local")) > HOSTNAME_MAX:
            lost = "setHostnameAsFQDN", f"its full name has {full} characters, and Linux takes {HOSTNAME_MAX}"
        if lost:
            message = f"the pods do not find each other with this {lost[0]}: {lost[1]}"
            at = self._job.written(role, ("pod", "spec", lost[0]), ("pod", "spec"))
            yield Problem(code="TF402", message=message, at=at, hint="leave it out")

    def _write_container(self, role: Role, container: dict[str, Any], *, training: bool) -> Iterator[Problem]:
        own = in_order(container.get("env") or [])
        found = references(container)
        env = list(self._entries(role, self._ours & found.keys())) if found else []
        if training and role.kind != "task" and self._job.strategy != "none":
            if _INDEX not in env:
                env.append(_INDEX)
            env.append({"name": "TF_CONFIG", "value": self._tf_config(role)})
        yield from self._too_long(role, env)
        env += own
        if env:
            container["env"] = env
        problems = [*self._without_value(found, container), *self._in_doubt(found)] if found else []
        problems += misread(container, own, has_index="env" in (self._job.data.get("plugins") or ()))
        if problems:
            route = role.route if training else self._beside(role, container["name"])
            inside = "" if training else f"in the container '{container['name']}', "
            for problem in problems:
                yield replace(problem, message=inside + problem.message, at=(*route, *problem.at))

    def _tf_config(self, role: Role) -> str:
        """Return ``TF_CONFIG`` for all pods of a role: Kubernetes puts in the index (docs/volcano.md 4)."""
        cluster = self._cluster
        if role.kind == "evaluator":  # MultiWorkerMirroredStrategy looks its own role up in the cluster of its pod
            cluster = _json({**self._in_cluster, role.kind: self._hosts[role.name]})
        return f'{{"cluster":{cluster},"task":{{"type":{_json(role.kind)},"index":$(TASK_INDEX)}}}}'

    def _entries(self, role: Role, wanted: set[str]) -> Iterator[dict[str, Any]]:
        if "RUN" in wanted:
            yield _RUN
        if "TASK_TYPE" in wanted:
            yield {"name": "TASK_TYPE", "value": role.name}
        if "TASK_INDEX" in wanted:
            yield _INDEX
        for name in sorted(wanted & self._variables.keys()):
            yield {"name": name, "value": ",".join(self._hosts[self._variables[name]])}

    def _too_long(self, role: Role, env: Iterable[Mapping[str, Any]]) -> Iterator[Problem]:
        for entry in env:
            text = entry.get("value", "")
            if len(text) * (1 + self._longer) <= STRING_MAX:  # whatever the name, it is short enough
                continue
            length = len(text) + text.count(self._run) * self._longer + len(entry["name"]) + 1
            if length > STRING_MAX:
                message = f"{entry['name']} has {length:,} characters, and Linux passes on {STRING_MAX:,} at most"
                hint = "fewer replicas, or a shorter job name"
                yield Problem(code="TF303", message=message, at=(*role.route, "replicas"), hint=hint)

    def _beside(self, role: Role, name: str) -> Route:
        """Return the route of a container beside the training container, or the nearest one if a plugin added it."""
        containers = [("pod", "spec", key) for key in ("initContainers", "containers")]
        named = [(*container, name) for container in containers]
        return self._job.written(role, *named, *containers, ("pod", "spec"))

    def _in_doubt(self, found: Mapping[str, Place]) -> Iterator[Problem]:
        """Warn of references to the hosts of a task with several ports of which none is the job's."""
        for role in self._job.roles:
            place = found.get(hosts_variable(role.name))
            ports, number = hosts_port(self._job, role) if place else ({}, 0)
            if place and len(ports) > 1 and number not in ports.values():
                names = ", ".join(f"{name} {port}" for name, port in sorted(ports.items()))
                message = f"'{role.name}' has several ports ({names}), so its hosts are given the job's, {number}"
                choices = ", ".join(map(str, sorted(ports.values())))
                hint = f"leave one of them, or make one the job's `port`: one of {choices}"
                yield Problem(code="TF307", message=message, at=place.route, severity="warning", hint=hint)

    def _without_value(self, found: Mapping[str, Place], container: Mapping[str, Any]) -> Iterator[Problem]:
        """Report references without a value: an error where the job surely fails, a warning where it may be meant."""
        known = [entry["name"] for entry in container.get("env") or ()]
        for name in sorted(name for name in found.keys() - set(known) if found[name] is not IN_SHELL):
            place, said = found[name], f"$({name})"
            severity: Severity = "warning"
            hint = did_you_mean(name, [*self._ours, *known]) or "define it in `env`; for the text itself, write $$(…)"
            if self._comes_later(name, place, container):
                continue
            if kind := _ROLE_OF_VARIABLE.get(name):
                severity, message = "error", f"{said} has no value: the job has no {kind}"
                hint = f"add the role `{kind}`, or do not refer to it"
            elif place.field == "subPathExpr":
                severity, message = "error", f"{said} has no value, so the container could not start"
            elif not place.by_shell or _CONSTANT.fullmatch(name):
                message = f"{said} has no value here, and stays as it is written"
            else:  # a shell may run a program of this name: `$(date)`
                continue
            yield Problem(code="TF305", message=message, at=place.route, found=said, hint=hint, severity=severity)

    def _comes_later(self, name: str, place: Place, container: Mapping[str, Any]) -> bool:
        """Tell whether the cluster may give a variable its value (docs/volcano.md 4), or `misread` speaks of it."""
        volcanos = place.field != "env" and name.replace("_NUM", "_HOSTS").partition("VC_")[2] in self._variables
        return bool(container.get("envFrom") or volcanos or _BROUGHT(name))
