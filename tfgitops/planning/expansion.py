"""Find the variables that a container refers to, and sort variables so that Kubernetes can expand them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tfgitops.targets.shell.command import SHELL, runs_shell

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfgitops.targets.routes import Route

_SHELL_REFERENCE = re.compile(r"\$\{?(RUN|TASK_TYPE|TASK_INDEX|[A-Z0-9_]+_HOSTS)\b")
_REFERENCE = re.compile(r"\$\$|\$\(([^()\s]+)\)")


@dataclass(frozen=True, slots=True)
class Place:
    """A reference to a variable: its field of the container, its keys in the spec, and whether a shell reads it."""

    field: str
    route: Route
    by_shell: bool = False


IN_SHELL = Place("command", ("command",), by_shell=True)
"""The place of ``$NAME`` in a text for a shell. The shell may have set it, so only our variables get a value there."""


def references(container: Mapping[str, Any]) -> dict[str, Place]:
    """Return the names that Kubernetes expands in a container, written ``$(NAME)``, each with its first place.

    A text that a shell runs may refer to our variables as ``$NAME`` or ``${NAME}``, too. Where no shell runs, such a
    name is returned with its ``$``.
    """
    found: dict[str, Place] = {}

    def add(text: str, place: Place) -> None:
        for name in filter(None, _REFERENCE.findall(text)):
            found.setdefault(name, place)

    for mount in container.get("volumeMounts") or ():  # before all others: a pod with a bad path does not start
        add(mount.get("subPathExpr") or "", Place("subPathExpr", ("volumes",)))
    command = container.get("command", ())
    shell = runs_shell(command)
    for field in ("command", "args"):
        for index, text in enumerate(container.get(field, ())):
            if "$" in text:
                written_as_text = field == "command" and tuple(command[:2]) == SHELL
                place = Place(field, (field,) if written_as_text else (field, index), shell)
                add(text, place)
                for name in _SHELL_REFERENCE.findall(text):
                    found.setdefault(name if shell else f"${name}", IN_SHELL if shell else place)
    for entry in container.get("env") or ():
        add(entry.get("value") or "", Place("env", ("env", entry["name"])))
    return found


def in_order(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return variables sorted by name, but each after those that its value refers to.

    Kubernetes expands ``$(X)`` only after the definition of X. The order in the spec has no effect, so that a line
    that moves does not make a new run.
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
