"""Checks of a role before it is planned: its overlays, scripts, lengths and directories."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tfgitops.planning.template import overlay_source
from tfgitops.planning.tfconfig import hosts_variable
from tfgitops.spec.diagnostics import Problem, Words
from tfgitops.spec.schema.formats import RESERVED_ENV, reserved_variable
from tfgitops.targets.kubernetes import quantity
from tfgitops.targets.kubernetes.merge import repeated
from tfgitops.targets.memo import by_content
from tfgitops.targets.routes import reach, value_at
from tfgitops.targets.shell.command import STRING_MAX, script_of
from tfgitops.targets.tensorflow import SERVER_PORT, TRAINING_CONTAINER

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfgitops.spec.model import Job, Role
    from tfgitops.targets.routes import Route

_POD_FIELDS = {
    "hostname": "Volcano names the pods, and TF_CONFIG names them by it",
    "subdomain": "the job's Service has this name, and TF_CONFIG names it",
    "schedulerName": "the job's own scheduler, volcano, schedules the gang",
    "ephemeralContainers": "they are added to running pods, never written in a template",
}

_RESERVED: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("labels", "label", {"volcano.sh/": "Volcano", "tfgitops/": "the compiler"}),
    ("annotations", "annotation", {"tfgitops/": "the compiler"}),
)


def check_overlays(job: Job) -> Iterator[Problem]:
    """Yield a problem for each raw Kubernetes field of a job that would break its discovery or its identity."""
    in_cluster = any(role.in_cluster for role in job.roles)
    hosts = frozenset([hosts_variable(role.name) for role in job.roles])
    holders: list[tuple[Job | Role, bool]] = [(job, in_cluster), *((role, role.in_cluster) for role in job.roles)]
    for holder, clustered in holders:
        if env := holder.data.get("env"):
            for name in sorted(hosts & env.keys()):
                yield _reserved_variable((*holder.route, "env", name), name)
        for kind in ("container", "pod"):
            if written := holder.data.get(kind):
                port = job.port if clustered else None
                for problem in _judge(written, kind, port, hosts):
                    yield replace(problem, at=(*holder.route, kind, *problem.at))


@by_content(1024)
def _judge(written: dict[str, Any], kind: str, port: int | None, hosts: frozenset[str]) -> tuple[Problem, ...]:
    """Judge an overlay, at routes within it; many jobs inherit the same one from `defaults`."""
    guard = _Guard(port, hosts)
    found = [*(guard.pod if kind == "pod" else guard.container)(written, ())]
    twice = repeated(written, "PodTemplateSpec" if kind == "pod" else "Container")
    return (*found, *(_given_twice(route, value_at(written, route)) for route in twice))


class _Guard:
    """Guards what a job needs: the port of its servers, and the variables that name its hosts."""

    def __init__(self, port: int | None, hosts: frozenset[str]) -> None:
        self._port = port
        self._hosts = hosts

    def container(self, container: Mapping[str, Any], at: Route) -> Iterator[Problem]:
        """Check an overlay of the training container."""
        name = container.get("name", TRAINING_CONTAINER)
        if name != TRAINING_CONTAINER:
            message = f"the training container is called '{TRAINING_CONTAINER}', not '{name}'"
            yield _refused((*at, "name"), message, "leave it out")
        yield from self._variables(container, at)
        if self._port is None:
            return
        if "ports" in container and container["ports"] is None:
            message = f"without its ports the servers on port {self._port} cannot be named"
            yield _refused((*at, "ports"), message, "leave it out")
        for index, entry in enumerate(container.get("ports") or ()):
            if entry and (entry.get("containerPort") == self._port or entry.get("name") == SERVER_PORT):
                message = f"port {self._port} is the TensorFlow servers' own"
                yield _refused((*at, "ports", index), message, "change it with the job's `port`, for all roles")

    def pod(self, pod: Mapping[str, Any], at: Route) -> Iterator[Problem]:
        """Check an overlay of the pod template."""
        for route in (("metadata",), ("metadata", "labels"), ("metadata", "annotations"), ("spec",)):
            if reach(pod, route) is None:
                message = f"null would remove all of {route[-1]}, and with it what the job needs"
                yield _refused((*at, *route), message, "remove single fields, or leave it out", on_key=True)
        yield from self._metadata(pod.get("metadata") or {}, (*at, "metadata"))
        yield from self._spec(pod.get("spec") or {}, (*at, "spec"))

    def _metadata(self, metadata: Mapping[str, Any], at: Route) -> Iterator[Problem]:
        for field, what, owners in _RESERVED:
            for key in metadata.get(field) or ():
                if owner := next((owner for prefix, owner in owners.items() if key.startswith(prefix)), ""):
                    message = f"the {what} '{key}' is reserved: {owner} writes it"
                    yield _refused((*at, field, key), message, "leave it out", on_key=True)

    def _spec(self, spec: Mapping[str, Any], at: Route) -> Iterator[Problem]:
        for field, reason in _POD_FIELDS.items():
            if field in spec:
                message = f"'{field}' cannot be given: {reason}"
                yield _refused((*at, field), message, "leave it out", on_key=True)
        policy = spec.get("restartPolicy", "Never")
        if policy not in ("Never", "OnFailure"):
            message = f"restartPolicy {policy or 'null, which means Always'}: the task would never complete"
            expected, hint = "Never or OnFailure", "leave it out; Never is the default"
            yield Problem(code="TF502", message=message, at=(*at, "restartPolicy"), expected=expected, hint=hint)
        if "containers" in spec and spec["containers"] is None:
            yield _refused((*at, "containers"), "a pod needs its training container", "leave it out", on_key=True)
        for index, container in enumerate(spec.get("containers") or ()):
            place = (*at, "containers", index)
            if container.get("name") == TRAINING_CONTAINER:
                yield from self.container(container, place)
            else:
                yield sidecar((*place, "name"), str(container.get("name", "")))
        for index, container in enumerate(spec.get("initContainers") or ()):
            place = (*at, "initContainers", index)
            if container.get("name") == TRAINING_CONTAINER:
                message = f"'{TRAINING_CONTAINER}' is the training container's name"
                yield _refused((*place, "name"), message, "give the init container another name")
            yield from self._variables(container, place)

    def _variables(self, container: Mapping[str, Any], at: Route) -> Iterator[Problem]:
        for index, entry in enumerate(container.get("env") or ()):
            name = str(entry.get("name", "")) if entry else ""
            if name in self._hosts or RESERVED_ENV.fullmatch(name):
                yield _reserved_variable((*at, "env", index, "name"), name)


def sidecar(at: Route, name: str) -> Problem:
    """Say that a second container never ends, and how Kubernetes has it."""
    return Problem(
        code="TF403", message=f"the sidecar '{name}' never ends, and so its task never completes", at=at,
        hint="make it a native sidecar: `pod: {spec: {initContainers: [{name: …, restartPolicy: Always, …}]}}`",
    )  # fmt: skip


def _reserved_variable(at: Route, name: str) -> Problem:
    said = reserved_variable(name)
    return Problem(code=said.code, message=said.message, at=at, hint=said.hint, on_key=at[-1] == name)


def _given_twice(at: Route, element: Any) -> Problem:
    name = next((str(element[key]) for key in ("name", "mountPath", "containerPort", "ip") if key in element), "")
    message = f"'{name}' is in this list twice, and Kubernetes would merge the two"
    return Problem(code="TF104", message=message, at=at, hint="keep one of the two")


def _refused(at: Route, message: str, hint: str, *, on_key: bool = False) -> Problem:
    return Problem(code="TF402", message=message, at=at, hint=hint, on_key=on_key)


_MIN_MEMORY = 4 * 2**20 * quantity.NANO


def check_role(job: Job, role: Role) -> Iterator[Problem]:
    """Report what is wrong with a role's own keys before anything is planned."""
    overlays = (overlay_source(job, "container"), overlay_source(role, "container"))
    if "image" not in role.data and not any(overlay.get("image") for overlay in overlays):
        message = f"the role '{role.name}' of the job '{job.name}' has no image"
        hint = "give `image` in the role, the job or `defaults`"
        yield Problem(code="TF204", message=message, at=role.route, on_key=True, hint=hint)
    yield from _check_lengths(role)
    if "command" in role.data:
        yield from _check_command(role, overlays)
    yield from _check_scripts(job, role)
    for bound, value in (role.data.get("memory") or {}).items():
        if quantity.parse(value) < _MIN_MEMORY:
            yield _little_memory(value, (*role.route, "memory", bound))
    if "ports" in role.data:
        yield from _check_ports(job, role)


def _check_command(role: Role, overlays: tuple[Mapping[str, Any], ...]) -> Iterator[Problem]:
    command, at = role.data["command"], (*role.route, "command")
    if type(command) is not str:
        if command and " " in str(command[0]).strip():
            message = f"a list is run as it is, and there is hardly a program called '{command[0]}'"
            hint = "one list entry a word, or a text instead of a list"
            yield Problem(code="TF304", message=message, at=(*at, 0), severity="warning", hint=hint)
        return
    if not command.strip():
        yield Problem(code="TF304", message="the command is blank", at=at, hint="leave it out for the image's own")
    elif command.lstrip().startswith("-"):
        message = "the command begins with '-', and no program does"
        yield Problem(code="TF304", message=message, at=at, hint="a list entry has a blank behind its '-'")
    beside: Route = ("args",) if "args" in role.data else ("container", "args")
    if any(overlay.get("command") for overlay in overlays):
        return
    if "args" in role.data or any(overlay.get("args") for overlay in overlays):
        message, hint = (
            "`args` beside a `command` that is text would be lost",
            "put them into the command, or make it a list",
        )
        yield Problem(code="TF304", message=message, at=(*role.route, *beside), hint=hint, on_key=True)


def _check_scripts(job: Job, role: Role) -> Iterator[Problem]:
    """Warn of what is surely broken in the texts that shells are to run."""
    for container, route in _commands(job, role):
        found = script_of(container["command"], container.get("args") or ())
        if not found:
            continue
        from tfgitops.targets.shell.shellfaults import shell_faults  # noqa: PLC0415 - for those who write shell texts

        for fault in shell_faults(found.text, bash=found.bash):
            yield Problem(
                code="TF304", message=fault.message, at=(*route, *found.route), severity="warning", hint=fault.hint,
                words=Words(fault.line, fault.words, fault.before),
            )  # fmt: skip


def _commands(job: Job, role: Role) -> Iterator[tuple[Mapping[str, Any], Route]]:
    """Yield what says a command of the role's pods: each init container, and the strongest for the training one."""
    training: list[tuple[Mapping[str, Any], Route]] = []
    for holder in (role, job):
        if "pod" in holder.data:
            spec, at = overlay_source(holder, "pod").get("spec") or {}, (*holder.route, "pod", "spec")
            yield from (place for place in _containers(spec, "initContainers", at) if place[0].get("command"))
            training += _containers(spec, "containers", at)
        if "container" in holder.data:
            training.append((overlay_source(holder, "container"), (*holder.route, "container")))
    training.append((role.data, role.route))
    yield from [place for place in training if place[0].get("command")][:1]


def _containers(spec: Mapping[str, Any], key: str, at: Route) -> Iterator[tuple[Mapping[str, Any], Route]]:
    yield from ((container, (*at, key, index)) for index, container in enumerate(spec.get(key) or ()))


def check_workdir(job: Job) -> Iterator[Problem]:
    """Refuse a reference in the one field of ours in which Kubernetes expands none."""
    if "$(" in job.data.get("workdir", ""):
        message = f"Kubernetes does not expand {job.data['workdir']} as a working directory"
        hint = "let the command change to it, as in `cd /log/$(RUN) && …`"
        yield Problem(code="TF305", message=message, at=(*job.route, "workdir"), hint=hint)


def _little_memory(value: Any, at: Route) -> Problem:
    meant = quantity.meant(value)
    hint = f"did you mean {meant}?" if meant else "give it what the program needs"
    return Problem(
        code="TF502", message=f"{value} of memory is less than a container needs to start", at=at, severity="warning",
        found=str(value), expected="4Mi at least", hint=hint,
    )  # fmt: skip


def _check_ports(job: Job, role: Role) -> Iterator[Problem]:
    used: dict[int, str] = {job.port: "the TensorFlow servers"} if role.in_cluster else {}
    for name, port in sorted(role.data["ports"].items()):
        number = port["port"]
        if number in used:
            yield Problem(
                code="TF203", message=f"port {number} is used by {used[number]} already",
                at=(*role.route, "ports", name), found=str(number), hint="choose another number",
            )  # fmt: skip
        used[number] = f"'{name}'"


def _check_lengths(role: Role) -> Iterator[Problem]:
    """Refuse a text that Linux would not pass to a process; a script of that size belongs in the image or a volume."""
    for key in ("command", "args"):
        value = role.data.get(key)
        if value is None:
            continue
        longest = len(value) if type(value) is str else max((len(str(text)) for text in value), default=0)
        if longest > STRING_MAX:
            message = f"a text of {longest:,} characters in `{key}`, and Linux passes on {STRING_MAX:,} at most"
            hint = "put it into the image, or on a volume, and run it from there"
            yield Problem(code="TF304", message=message, at=(*role.route, key), hint=hint)
