"""Check the keys of a role before its pods are planned: image, command, scripts, memory, ports and workdir."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.spec.diagnostics import Problem, Words
from tfgitops.targets.kubernetes.pod import judge_template
from tfgitops.targets.shell.command import STRING_MAX, script_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfgitops.spec.model import Job, Role
    from tfgitops.targets.routes import Route

    Overlays = list[Mapping[str, Any]]
    Said = tuple[Mapping[str, Any], Route]

_OVERLAYS = {"pod", "container"}


def check_role(job: Job, role: Role) -> Iterator[Problem]:
    """Yield the problems in the keys of a role."""
    overlays: Overlays = [holder.data.get("container") or {} for holder in (job, role)]
    if "image" not in role.data and not any(overlay.get("image") for overlay in overlays):
        message = f"the role '{role.name}' of the job '{job.name}' has no image"
        hint = "give `image` in the role, the job or `defaults`"
        yield Problem(code="TF204", message=message, at=role.route, on_key=True, hint=hint)
    yield from _check_lengths(role)
    if "command" in role.data:
        yield from _check_command(role, overlays)
    yield from _check_scripts(job, role)
    if "ports" in role.data:
        yield from _check_ports(job, role)
    if "tolerations" in role.data:
        yield from _check_tolerations(job, role)


def check_workdir(job: Job) -> Iterator[Problem]:
    """Yield a problem for a reference in `workdir`: in this key Kubernetes expands none."""
    if "$(" in job.data.get("workdir", ""):
        message = f"Kubernetes does not expand {job.data['workdir']} as a working directory"
        hint = "let the command change to it, as in `cd /log/$(RUN) && …`"
        yield Problem(code="TF305", message=message, at=(*job.route, "workdir"), hint=hint)


def _check_tolerations(job: Job, role: Role) -> Iterator[Problem]:
    """Judge the tolerations of a role that no manifest has, because an overlay replaces them."""
    if any("tolerations" in ((holder.data.get("pod") or {}).get("spec") or {}) for holder in (job, role)):
        pod = {"containers": [{"name": "any", "image": "any"}], "tolerations": role.data["tolerations"]}
        for fault in judge_template({"spec": pod}):
            if fault.at[:2] == ("spec", "tolerations"):
                yield Problem(
                    code="TF501", message=fault.message, at=(*role.route, *fault.at[1:]), found=fault.found,
                    expected=fault.expected, hint=fault.hint,
                )  # fmt: skip


def _check_lengths(role: Role) -> Iterator[Problem]:
    """Refuse a text that Linux does not pass to a process."""
    for key in ("command", "args"):
        value = role.data.get(key) or ()
        longest = max((len(str(text)) for text in ([value] if type(value) is str else value)), default=0)
        if longest > STRING_MAX:
            message = f"a text of {longest:,} characters in `{key}`, and Linux passes on {STRING_MAX:,} at most"
            hint = "put it into a file of the repository and name that as `script`, or into the image"
            yield Problem(code="TF304", message=message, at=(*role.route, key), hint=hint)


def _check_command(role: Role, overlays: Overlays) -> Iterator[Problem]:
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
    if any(overlay.get("command") for overlay in overlays):
        return
    if "args" in role.data or any(overlay.get("args") for overlay in overlays):
        message = "`args` beside a `command` that is text would be lost"
        hint = "put them into the command, or make it a list"
        beside: Route = ("args",) if "args" in role.data else ("container", "args")
        yield Problem(code="TF304", message=message, at=(*role.route, *beside), hint=hint, on_key=True)


def _check_scripts(job: Job, role: Role) -> Iterator[Problem]:
    """Warn of certain errors in the texts that shells run."""
    for container, route in _commands(job, role):
        found = script_of(container["command"], container.get("args") or ())
        if not found:
            continue
        from tfgitops.targets.shell.shellfaults import lost_signals, shell_faults  # noqa: PLC0415 - for shell texts

        faults = list(shell_faults(found.text, bash=found.bash))
        if "initContainers" not in route:
            faults += lost_signals(found.text, bash=found.bash, placed=type(container["command"]) is str)
        for fault in faults:
            yield Problem(
                code="TF304", message=fault.message, at=(*route, *found.route), severity="warning", hint=fault.hint,
                words=Words(fault.line, fault.words, fault.before),
            )  # fmt: skip


def _commands(job: Job, role: Role) -> Iterator[Said]:
    """Yield each part of a spec that gives a command: of each init container, and the strongest of the training one."""
    training: list[Said] = []
    for holder in (role, job) if _OVERLAYS & {*role.data, *job.data} else ():
        spec, at = (holder.data.get("pod") or {}).get("spec") or {}, (*holder.route, "pod", "spec")
        init, containers = (
            [(container, (*at, key, index)) for index, container in enumerate(spec.get(key) or ())]
            for key in ("initContainers", "containers")
        )
        yield from (said for said in init if said[0].get("command"))
        training += [*containers, (holder.data.get("container") or {}, (*holder.route, "container"))]
    training.append((role.data, role.route))
    yield from [said for said in training if said[0].get("command")][:1]


def _check_ports(job: Job, role: Role) -> Iterator[Problem]:
    used: dict[int, str] = {job.port: "the TensorFlow servers"} if role.has_server else {}
    for name, port in sorted(role.data["ports"].items()):
        number = port["port"]
        if number in used:
            yield Problem(
                code="TF203", message=f"port {number} is used by {used[number]} already",
                at=(*role.route, "ports", name), found=str(number), hint="choose another number",
            )  # fmt: skip
        used[number] = f"'{name}'"
