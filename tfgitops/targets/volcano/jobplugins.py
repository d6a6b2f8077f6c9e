"""What Volcano's webhook asks of the plugins of a Job and of their arguments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes.fault import Fault, Rules, show

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfgitops.targets.routes import Route

KNOWN = ("env", "svc", "ssh", "tensorflow", "pytorch", "mpi", "ray", "hcclrank")
RULES = Rules(
    {
        "plugin-unknown": ("Volcano has no plugin {found}", f"use one of {', '.join(KNOWN)}"),
        "plugin-mpi-no-master": (
            "the mpi plugin starts from the task {found}, and the job has no such task",
            "name one of {tasks} by --master=",
        ),
    }
)
_MPI_FLAGS = ("master", "worker", "port")
_FLAG = re.compile(r"--?(?P<name>[^-=][^=]*)(?:=(?P<value>.*))?", re.DOTALL).fullmatch
_GO_INT = re.compile(
    r"([+-]?)(?:0[xX]((?:_?[0-9a-fA-F])+)|0[bB]((?:_?[01])+)|0[oO]?((?:_?[0-7])+)|(0|[1-9](?:_?[0-9])*))"
).fullmatch
_BASES = (16, 2, 8, 10)


def go_int(text: str) -> int | None:
    """Return the number that Go's package flag reads in a text; None where it reads none, as in ``08``."""
    match = _GO_INT(text)
    if match is None:
        return None
    digits, base = next((digits, base) for digits, base in zip(match.groups()[1:], _BASES, strict=True) if digits)
    number = int(match[1] + digits.replace("_", ""), base)
    return number if -(1 << 63) <= number < 1 << 63 else None


def judge_plugins(
    plugins: Mapping[str, Sequence[str]], tasks: Sequence[Mapping[str, Any]], at: Route
) -> Iterator[Fault]:
    """Judge the plugins' names, and the task that the mpi plugin starts from."""
    for name in plugins:
        if name not in KNOWN:
            yield RULES.fault("plugin-unknown", (*at, name), found=show(name))
    if "mpi" in plugins:
        master = _mpi_master(plugins["mpi"])
        names = [task.get("name", "") for task in tasks]
        if master not in names:
            yield RULES.fault("plugin-mpi-no-master", (*at, "mpi"), found=show(master), tasks=", ".join(names))


def _mpi_master(arguments: Sequence[str]) -> str:
    """Read the flag --master as Go's flag package does: it stops at the first word that it cannot read."""
    master = "master"
    words = iter(arguments)
    for word in words:
        match = _FLAG(word)
        if not match or match["name"] not in _MPI_FLAGS:
            break
        value = match["value"] if match["value"] is not None else next(words, None)
        if value is None or (match["name"] == "port" and go_int(value) is None):
            break
        if match["name"] == "master":
            master = value
    return master
