"""Say what becomes of the texts of a container: Kubernetes, and sometimes a shell, puts variables into them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tfgitops.spec.diagnostics import Problem
from tfgitops.targets.shell.command import SHELL, runs_shell

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfgitops.targets.routes import Route

_OURS = re.compile(r"RUN|TASK_TYPE|TASK_INDEX|[A-Z0-9_]+_HOSTS").fullmatch
_REFERENCE = re.compile(r"\$\$|\$\(([^()\s]+)\)")
_SHELL_REFERENCE = re.compile(r"\$\{?([A-Za-z_]\w*)", re.ASCII)
_TELLING = re.compile(r"\$|TF_CONFIG|_INDEX").search
"""Finds what only few texts have, and all that is looked for in them begins with."""


@dataclass(frozen=True, slots=True)
class Place:
    """A reference to a variable: its field of the container, its keys in the spec, and whether a shell reads it."""

    field: str
    route: Route
    by_shell: bool = False


IN_SHELL = Place("command", ("command",), by_shell=True)
"""The place of ``$NAME`` in a text for a shell. The shell may have set it, so only our variables get a value there."""


def _texts(container: Mapping[str, Any]) -> Iterator[tuple[str, Place]]:
    """Yield each text in which Kubernetes expands variables, or that names ours, with its place."""
    for mount in container.get("volumeMounts") or ():  # before all others: a pod with a bad path does not start
        if path := mount.get("subPathExpr"):
            yield path, Place("subPathExpr", ("volumes",))
    command = container.get("command", ())
    shell = runs_shell(command)
    for field in ("command", "args"):
        for index, text in enumerate(container.get(field, ())):
            if _TELLING(text):
                written_as_text = field == "command" and tuple(command[:2]) == SHELL
                yield text, Place(field, (field,) if written_as_text else (field, index), shell)
    for entry in container.get("env") or ():
        if _TELLING(value := entry.get("value") or ""):
            yield value, Place("env", ("env", entry["name"]))


def references(container: Mapping[str, Any]) -> dict[str, Place]:
    """Return the names that Kubernetes expands in a container, written ``$(NAME)``, each with its first place.

    A text that a shell runs may refer to our variables as ``$NAME`` or ``${NAME}``, too.
    """
    found: dict[str, Place] = {}
    for text, place in _texts(container):
        for name in filter(None, _REFERENCE.findall(text)):
            found.setdefault(name, place)
        for name in filter(_OURS, _SHELL_REFERENCE.findall(text) if place.by_shell else ()):
            found.setdefault(name, IN_SHELL)
    return found


_SLIPS = (
    (re.compile(r"(?<![\w$])TF_CONFIG(?:[\"']\])?\s*=(?![=%]|\$\{?TF_CONFIG)"), "TF205", "this sets TF_CONFIG by hand",
     "leave it out: the compiler writes TF_CONFIG into the pods of chief, ps, worker and evaluator"),
    (re.compile(r"\bV[CK]_TASK_INDEX\b"), "TF305", "Volcano's {0} has no value here",
     "write $(TASK_INDEX), which the compiler gives its value"),
    (re.compile(r"(?<!\$)\$\$(?![$({])"), "TF305", "Kubernetes turns {0} into one $",
     "write $ for one, and $$$$ for two, such as a shell's own process id"),
)  # fmt: skip


def misread(container: Mapping[str, Any], own: Sequence[Mapping[str, Any]], *, has_index: bool) -> Iterator[Problem]:
    """Yield a problem, at keys of the role, for each text that becomes something else than its author expects.

    ``own`` are the variables that are not the compiler's. ``has_index`` is whether Volcano's env plugin sets the index
    of the pod, which no variable in `env` can refer to.
    """
    names = {entry["name"] for entry in container.get("env") or ()}
    for text, place in _texts({**container, "env": own}):
        for pattern, code, message, hint in _SLIPS:
            if (found := pattern.search(text)) and not (has_index and place.field != "env" and "_INDEX" in found[0]):
                yield Problem(
                    code=code, message=message.format(found[0]), at=place.route, severity="warning", hint=hint
                )
        for name in [] if place.by_shell else dict.fromkeys(_SHELL_REFERENCE.findall(text)):
            if name in names or _OURS(name):
                message = f"no shell runs this, so ${name} stays as it is written"
                hint = f"write $({name}), which Kubernetes expands"
                yield Problem(code="TF305", message=message, at=place.route, severity="warning", hint=hint)
    yield from () if container.get("envFrom") else _circles(own)


def _circles(env: Sequence[Mapping[str, Any]]) -> Iterator[Problem]:
    """Yield a problem for each variable that refers to itself, or to one that refers back to it."""
    names, above = {entry["name"] for entry in env}, set[str]()
    for entry in env:
        value = entry.get("value") or ""
        for name in sorted({*_REFERENCE.findall(value)} & names - above) if "$(" in value else ():
            why = (
                "Kubernetes does not know the image's value" if name == entry["name"] else "each needs the other first"
            )
            message = f"$({name}) in {entry['name']} stays as it is written: {why}"
            hint = f"write the whole value, or let a shell set it: `{name}=…:${name} python …` in `command`"
            yield Problem(code="TF305", message=message, at=("env", entry["name"]), hint=hint)
        above.add(entry["name"])


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
