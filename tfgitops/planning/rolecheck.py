"""What is wrong with a role's own keys, before anything is planned of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.planning.template import overlay_source
from tfgitops.spec.diagnostics import Problem, Words
from tfgitops.targets.kubernetes import quantity
from tfgitops.targets.shell.command import STRING_MAX, script_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfgitops.spec.model import Job, Role
    from tfgitops.targets.routes import Route

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
