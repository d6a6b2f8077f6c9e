"""Propose the keys of a role for its training container: image, command, variables, ports, amounts."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from tfgitops.adoption.shelldiscovery import TF_CONFIG, Simplified, simplified
from tfgitops.planning.tfconfig import hosts_variable
from tfgitops.spec.schema.formats import RESERVED_ENV
from tfgitops.targets.kubernetes.names import is_port_name
from tfgitops.targets.kubernetes.resources import GPUS, NATIVE
from tfgitops.targets.routes import reach
from tfgitops.targets.shell.command import SHELL, script_of, shell_command
from tfgitops.targets.shell.shellfaults import shell_faults

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from tfgitops.adoption.drafts import Draft
    from tfgitops.adoption.taking import Taken
    from tfgitops.targets.routes import Route

    Json = dict[str, Any]

SHELL_TEXT = "the shell text"
"""How remarks about a command begin whose discovery was taken out."""
_SIDES = ("requests", "limits")
_MIG = "nvidia.com/mig-"
_VGPU = "volcano.sh/vgpu-"
_REFERENCES = (("secretKeyRef", "secret"), ("configMapKeyRef", "configMap"))


class ContainerKeys:
    """Puts the keys of one training container into a draft, at ``at``; ``base`` is the container's route in the Job.

    ``port`` is that of TensorFlow's servers, 0 for a task that is no role. ``ports`` are those of all tasks.
    """

    def __init__(
        self, taken: Taken, draft: Draft, at: Route, base: Route, *, port: int, ports: Mapping[str, int],
        raw: Collection[str],
    ) -> None:  # fmt: skip
        self._taken = taken
        self._draft = draft
        self._at = at
        self._base = base
        self._port = port
        self._ports = ports
        self._raw = raw

    def put(self, container: Json) -> None:
        """Put the keys of a container without its mounts."""
        container.pop("name", None)
        self._hosts_of_pods(container)
        self._command(container)
        if image := container.pop("image", None):
            self._put("image", image)
        if workdir := container.pop("workingDir", None):
            self._put("workdir", workdir, "workingDir")
        self._env(container)
        self._container_ports(container)
        self._resources(container)
        for key, value in container.items():
            self._draft.overlay(self._at, ("container", key), value, (*self._base, key))

    def _put(self, key: str, value: Any, field: str = "") -> None:
        self._draft.put((*self._at, key), value, (*self._base, field or key))

    def _hosts_of_pods(self, container: Json) -> None:
        """Write hosts of pods by the name of the run: the Job has another name in each."""
        if self._taken.ours or not (name := str(self._taken.manifest["metadata"].get("name", ""))):
            return
        renamed = self._taken.renamed
        tasks = "|".join(map(re.escape, (*renamed, *(task["name"] for task in self._taken.spec["tasks"]))))
        host = re.compile(rf"(?<![\w.-]){re.escape(name)}-({tasks})-(\d+)(\.{re.escape(name)})?(?![\w-])").sub

        def by_run(text: Any, at: Route) -> Any:
            changed = host(
                lambda one: f"$(RUN)-{renamed.get(one[1], one[1])}-{one[2]}{'.$(RUN)' if one[3] else ''}", text
            )
            if changed != text:
                self._taken.say(
                    "mended", f"hosts begin with $(RUN), since each run has a name of its own, not {name}", at
                )
            return changed

        for field in ("command", "args"):
            if field in container:
                words = enumerate(container[field])
                container[field] = [by_run(word, (*self._base, field, index)) for index, word in words]
        for index, entry in enumerate(container.get("env", ())):
            if "value" in entry and entry["name"] != TF_CONFIG:
                entry["value"] = by_run(entry["value"], (*self._base, "env", index))

    def _command(self, container: Json) -> None:
        command, args = container.pop("command", []), container.pop("args", [])
        script = script_of(command, args)
        if script and self._port and not self._taken.ours:
            found = simplified(script.text, self._ports)
            if found.text and found.text != script.text:
                self._tell(found, (*self._base, *script.route))
                command, args = ([*map(str, words)] for words in (command, args))
                (command if script.route[0] == "command" else args)[int(script.route[1])] = found.text
                if len(command) + len(args) == len(SHELL) + 1 and _is_plain(found.text):
                    command, args = [*SHELL, found.text], []
                script = script_of(command, args)
            if script and re.search(rf"\b{TF_CONFIG}=", script.text):
                text = f"the command still makes {TF_CONFIG} itself, and overrides the compiler's"
                self._taken.say("note", text, (*self._base, *script.route))
        words = [*command, *args]
        text = _as_text(words, ours=self._taken.ours) if script and len(words) == len(SHELL) + 1 else ""
        if text:
            self._draft.put((*self._at, "command"), text, (*self._base, *(script.route if script else ("command",))))
        else:
            for key, value in (("command", command), ("args", args)):
                if value:
                    self._put(key, value)

    def _tell(self, found: Simplified, at: Route) -> None:
        if found.config:
            self._taken.say("mended", f"{SHELL_TEXT} no longer makes {TF_CONFIG}: the compiler writes it", at)
        if found.hosts:
            names = ", ".join(f"$({name})" for name in found.hosts)
            self._taken.say("mended", f"{SHELL_TEXT} no longer reads /etc/volcano: it uses {names}", at)

    def _env(self, container: Json) -> None:
        rest = []
        for index, entry in enumerate(container.pop("env", [])):
            name, at = str(entry.get("name", "")), (*self._base, "env", index)
            if is_compilers(self._taken, name):
                if name == TF_CONFIG and self._port and not self._taken.ours:
                    self._taken.say("mended", f"{TF_CONFIG} is no longer in `env`: the compiler writes it", at)
                elif not self._taken.ours:
                    self._taken.say("lost", f"{name}: the compiler, or Volcano, writes this variable itself", at)
                continue
            value = _variable(entry)
            if value is None:
                rest.append(entry)
            else:
                self._draft.put((*self._at, "env", name), value, at)
        self._draft.overlay(self._at, ("container", "env"), rest, (*self._base, "env"))

    def _container_ports(self, container: Json) -> None:
        rest = []
        for index, port in enumerate(container.pop("ports", [])):
            number, name = port.get("containerPort"), str(port.get("name", ""))
            if number == self._port != 0:
                continue
            plain = port.keys() <= {"name", "containerPort", "protocol"} and port.get("protocol", "TCP") == "TCP"
            known = reach(self._draft.data, (*self._at, "ports"))
            if plain and is_port_name(name) and not (isinstance(known, dict) and name in known):
                self._draft.put((*self._at, "ports", name), number, (*self._base, "ports", index))
            else:
                rest.append(port)
        self._draft.overlay(self._at, ("container", "ports"), rest, (*self._base, "ports"))

    def _resources(self, container: Json) -> None:
        resources = container.pop("resources", {})
        amounts = {side: resources.get(side) or {} for side in _SIDES}
        for name in ("cpu", "memory"):
            said = {side[:-1]: _amount(amounts[side].pop(name)) for side in _SIDES if name in amounts[side]}
            if said:
                same = len(said) == len(_SIDES) and len(set(said.values())) == 1
                self._put(name, said["limit"] if same else said, "resources")
        devices = {name: amount for side in _SIDES for name, amount in amounts[side].items() if name not in NATIVE}
        requests, limits = amounts["requests"], amounts["limits"]
        equal = all(limits.get(name) == requests.get(name, one) == one for name, one in devices.items())
        if equal and "gpu" not in self._raw and (gpu := _gpu(devices)):
            self._put("gpu", gpu, "resources")
            for side in _SIDES:
                for name in devices:
                    amounts[side].pop(name, None)
        rest = {key: value for key, value in resources.items() if value not in ({}, [])}
        self._draft.overlay(self._at, ("container", "resources"), rest or None, (*self._base, "resources"))


def is_compilers(taken: Taken, name: str) -> bool:
    """Tell whether the compiler, or Volcano, writes a variable itself."""
    hosts = {hosts_variable(task["name"]) for task in taken.spec["tasks"]}
    return name in hosts or RESERVED_ENV.fullmatch(name) is not None


def _is_plain(text: str) -> bool:
    """Tell whether any shell runs a text alike, so that it can be a text in the spec."""
    return "\n" not in text and not [*shell_faults(text, bash=False)]


def _amount(text: Any) -> Any:
    return int(text) if str(text).isdigit() else text


def _gpu(devices: Mapping[str, Any]) -> Json | None:
    """Return the key `gpu` for some devices, or None if it cannot say them."""
    numbers = {name: int(amount) for name, amount in devices.items() if str(amount).isdigit() and str(amount) != "0"}
    if not numbers or len(numbers) < len(devices):
        return None
    first, count = next(iter(numbers.items()))
    if first.startswith(_VGPU):
        return {"vgpu": {name.removeprefix(_VGPU): number for name, number in numbers.items()}}
    if len(numbers) > 1 or not (first.endswith("/gpu") or any(fnmatchcase(first, gpu.resource) for gpu in GPUS)):
        return None
    if first.startswith(_MIG):
        return {"mig": first.removeprefix(_MIG)} if count == 1 else {"mig": first.removeprefix(_MIG), "count": count}
    return {"count": count} if first == GPUS[0].resource else {"count": count, "resource": first}


def _variable(entry: Json) -> Any:
    """Return the value of a variable as `env` has it, or None if it has no form for it."""
    if not (source := entry.get("valueFrom")):
        return entry.get("value", "")
    if set(source) == {"fieldRef"} and source["fieldRef"].get("apiVersion", "v1") == "v1":
        return {"field": source["fieldRef"].get("fieldPath", "")}
    for field, key in _REFERENCES:
        if set(source) == {field} and source[field].get("name"):
            reference = source[field]
            found = {key: reference["name"], "key": reference.get("key", "")}
            return {**found, "optional": reference["optional"]} if "optional" in reference else found
    return None


def _as_text(words: list[str], *, ours: bool) -> str:
    """Return the text that stands for a shell and its script; nothing if that would change more than `exec`."""
    text = words[-1]
    if words[1] != SHELL[1] or words[0].rpartition("/")[2] != "sh" or not text.strip() or text.lstrip().startswith("-"):
        return ""
    plain = text.rstrip("\n")
    for match in reversed([*re.finditer(r"\bexec ", plain)]):
        shorter = plain[: match.start()] + plain[match.end() :]
        if shell_command(shorter)[-1] == plain:
            return shorter
    return "" if ours and shell_command(plain) != words else plain
