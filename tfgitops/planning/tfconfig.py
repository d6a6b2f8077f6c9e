"""How the pods of a job find each other: ``TF_CONFIG``, and the variables that commands may refer to."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tfgitops.spec.diagnostics import Problem
from tfgitops.targets.nearest import did_you_mean
from tfgitops.targets.shell.command import SHELL, STRING_MAX, runs_shell
from tfgitops.targets.tensorflow import ROLE_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tfgitops.spec.model import Job, Role
    from tfgitops.targets.routes import Route

_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]+")  # no program has such a name, so no shell was to run it
_SHELL_REFERENCE = re.compile(r"\$\{?(RUN|TASK_TYPE|TASK_INDEX|[A-Z0-9_]+_HOSTS)\b")
_REFERENCE = re.compile(r"\$\$|\$\(([^()\s]+)\)")
_INDEX = {"name": "TASK_INDEX", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['volcano.sh/task-index']"}}}
_RUN = {"name": "RUN", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['volcano.sh/job-name']"}}}
_json = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
_ROLE_OF_VARIABLE = {f"{kind.upper()}_HOSTS": kind for kind in ROLE_NAMES}


@lru_cache(maxsize=1024)
def hosts_variable(task: str) -> str:
    """Return the name of the variable that lists a task's hosts: ``PS_HOSTS`` for ``ps``."""
    return f"{task.upper().replace('-', '_')}_HOSTS"


def hosts_port(job: Job, role: Role) -> tuple[dict[str, int], int]:
    """Return the ports by which a role may be reached, by name, and the one that its hosts are given.

    All of TensorFlow serves at the job's `port`. A further task serves at what its own `ports` say; what the job says
    for all its roles, such as a port of metrics, counts where it says nothing itself.
    """
    if role.kind != "task":
        return {}, job.port
    ports = {name: int(port["port"]) for name, port in (role.data.get("ports") or {}).items()}
    shared = {name: int(port["port"]) for name, port in (job.data.get("ports") or {}).items()}
    ports = dict(ports.items() - shared.items()) or ports
    return ports, next(iter(ports.values())) if len(ports) == 1 else job.port


def _hosts(run: str, role: Role, port: int) -> list[str]:
    return [f"{run}-{role.name}-{index}.{run}:{port}" for index in range(role.replicas)]


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(numbers)))


class Discovery:
    """The addresses of one job's pods, written for an object of a given name, or for a placeholder of some length."""

    def __init__(self, job: Job, run: str, run_length: int) -> None:
        self._job = job
        self._run = run
        self._longer = run_length - len(run)
        self._hosts = {role.name: _hosts(run, role, hosts_port(job, role)[1]) for role in job.roles}
        self._cluster = _json({role.kind: self._hosts[role.name] for role in job.roles if role.in_cluster})
        self._variables = {hosts_variable(name): name for name in self._hosts}
        self._ours = {"TASK_INDEX", "TASK_TYPE", "RUN", *self._variables}

    def write(self, role: Role, template: dict[str, Any]) -> Iterator[Problem]:
        """Give each container of a pod template the variables that it refers to, and the training one ``TF_CONFIG``.

        Yields a problem for each variable that is referred to and has no value there.
        """
        spec = template["spec"]
        for key in ("containers", "initContainers"):
            for index, container in enumerate(spec.get(key, ())):
                yield from self._write_container(role, container, training=key == "containers" and index == 0)

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
        if found:
            route = role.route if training else self._beside(role, container["name"])
            for problem in (*self._without_value(route, found, container), *self._in_doubt(route, found)):
                inside = "" if training else f"in the container '{container['name']}', "
                yield replace(problem, message=inside + problem.message)

    def _tf_config(self, role: Role) -> str:
        """Return ``TF_CONFIG`` for all pods of a role; the index is filled in by Kubernetes (docs/volcano.md 4)."""
        return f'{{"cluster":{self._cluster},"task":{{"type":{_json(role.kind)},"index":$(TASK_INDEX)}}}}'

    def _entries(self, role: Role, wanted: set[str]) -> Iterator[dict[str, Any]]:
        if "RUN" in wanted:
            yield _RUN
        if "TASK_TYPE" in wanted:
            yield {"name": "TASK_TYPE", "value": role.name}
        if "TASK_INDEX" in wanted:
            yield _INDEX
        for name in sorted(wanted & self._variables.keys()):
            yield {"name": name, "value": ",".join(self._hosts[self._variables[name]])}

    def _beside(self, role: Role, name: str) -> Route:
        """Return where the spec says what is beside the training container; what a plugin adds is said nowhere."""
        containers = [("pod", "spec", key) for key in ("initContainers", "containers")]
        named = [(*container, name) for container in containers]
        return self._job.written(role, *named, *containers, ("pod", "spec"))

    def _in_doubt(self, route: Route, found: Mapping[str, Place]) -> Iterator[Problem]:
        """Warn where the hosts of a task with several ports are asked for, none of which is the job's own."""
        for role in self._job.roles:
            place = found.get(hosts_variable(role.name))
            ports, number = hosts_port(self._job, role) if place else ({}, 0)
            if place and len(ports) > 1 and number not in ports.values():
                names = ", ".join(f"{name} {port}" for name, port in sorted(ports.items()))
                message = f"'{role.name}' has several ports ({names}), so its hosts are given the job's, {number}"
                hint = f"leave one of them, or make one the job's `port`: one of {_listed(ports.values())}"
                at = (*route, *place.route)
                yield Problem(code="TF307", message=message, at=at, severity="warning", found=str(number), hint=hint)

    def _without_value(
        self, route: Route, found: Mapping[str, Place], container: Mapping[str, Any]
    ) -> Iterator[Problem]:
        known = {entry["name"] for entry in container.get("env") or ()}
        for name in sorted(found):
            if name not in known and found[name] is not _IN_SHELL:
                yield from self._no_value((*route, *found[name].route), name, found[name], container)

    def _no_value(self, at: Route, name: str, place: Place, container: Mapping[str, Any]) -> Iterator[Problem]:
        """Say that a variable has no value: always where it is ours or decides a path, else where no shell reads it."""
        kind = _ROLE_OF_VARIABLE.get(name)
        if name.startswith("$"):
            message = f"no shell runs this, so {name} stays as it is written"
            hint = f"write $({name[1:]}), which Kubernetes expands"
            yield Problem(code="TF305", message=message, at=at, found=name, hint=hint, severity="warning")
            return
        if kind:
            message = f"$({name}) has no value: the job has no {kind}"
            hint = f"add the role `{kind}`, or do not refer to it"
            yield Problem(code="TF305", message=message, at=at, found=f"$({name})", hint=hint)
            return
        known = [*self._ours, *(entry["name"] for entry in container.get("env", ()))]
        hint = did_you_mean(name, known) or "define it in `env`; for the text itself, write $$(…)"
        if place.field == "subPathExpr":
            message = f"$({name}) has no value, so the container could not start"
            yield Problem(code="TF305", message=message, at=at, found=f"$({name})", hint=hint)
        elif not place.by_shell or _CONSTANT.fullmatch(name):
            message = f"$({name}) has no value here, and stays as it is written"
            yield Problem(code="TF305", message=message, at=at, found=f"$({name})", hint=hint, severity="warning")

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


@dataclass(frozen=True, slots=True)
class Place:
    """Where a container refers to a variable: its field, the keys of the spec for it, and whether a shell reads it."""

    field: str
    route: tuple[str | int, ...]
    by_shell: bool = False


_IN_SHELL = Place("command", ("command",), by_shell=True)
"""Where a shell reads a variable: it may have set it itself, so nothing is said of one that is not ours."""


def references(container: Mapping[str, Any]) -> dict[str, Place]:
    """Return the names in ``$(NAME)`` wherever Kubernetes expands them in a container, each with its first place.

    A text that a shell runs may also refer to our variables as ``$NAME`` or ``${NAME}``; where no shell does, such a
    name is found with its ``$``.
    """
    found: dict[str, Place] = {}
    command = container.get("command", ())
    shell = runs_shell(command)
    for field in ("command", "args"):
        for index, text in enumerate(container.get(field, ())):
            if "$" in text:
                written_as_text = field == "command" and tuple(command[:2]) == SHELL
                place = Place(field, (field,) if written_as_text else (field, index), shell)
                found.update(dict.fromkeys((name for name in _REFERENCE.findall(text) if name), place) | found)
                for name in _SHELL_REFERENCE.findall(text):
                    found.setdefault(name if shell else f"${name}", _IN_SHELL if shell else place)
    for entry in container.get("env") or ():
        if "$(" in (entry.get("value") or ""):
            place = Place("env", ("env", entry["name"]))
            found = {name: place for name in _REFERENCE.findall(entry["value"]) if name} | found
    for mount in container.get("volumeMounts") or ():
        if "$(" in (mount.get("subPathExpr") or ""):
            place = Place("subPathExpr", ("volumes",))
            found = found | {name: place for name in _REFERENCE.findall(mount["subPathExpr"]) if name}
    return found


def in_order(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort variables by name, but each behind those that its value refers to.

    The order of keys in a map means nothing, so moving a line in a spec must not make a new run; yet Kubernetes
    expands ``$(X)`` only where X is defined earlier.
    """
    if len(entries) < 2:  # noqa: PLR2004 - nothing to sort
        return entries
    waiting = {entry["name"]: entry for entry in sorted(entries, key=lambda entry: str(entry["name"]))}
    if not any("$(" in (entry.get("value") or "") for entry in waiting.values()):
        return list(waiting.values())
    placed: dict[str, dict[str, Any]] = {}

    def place(name: str, above: tuple[str, ...]) -> None:
        if name in placed or name in above:
            return
        value = waiting[name].get("value") or ""
        for needed in sorted(set(_REFERENCE.findall(value)) & waiting.keys()):
            place(needed, (*above, name))
        placed[name] = waiting[name]

    for name in waiting:
        place(name, ())
    return list(placed.values())
