"""How a command that is written as text is run: by /bin/sh, replaced by the program where it is a single one."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from tfgitops.targets.kubernetes.schemafile import schema_file
from tfgitops.targets.shell.shelltokens import commands

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfgitops.targets.shell.shelltokens import Command, Token

SHELL = ("/bin/sh", "-c")

STRING_MAX = 131_071
"""The longest argument or variable that Linux passes on to a program: MAX_ARG_STRLEN, less its end."""

_OPTION = re.compile(r"--?[A-Za-z]+").fullmatch
_NOT_A_PROGRAM, _TOOLS = (frozenset(schema_file("shell.words.json")[kind]) for kind in ("notPrograms", "tools"))
# Programs that no sourced file hides behind a function: functions have no such names.
_SURELY_A_PROGRAM = re.compile(r"python[0-9.]*|mpirun|mpiexec|horovodrun|torchrun|[^$]*/[^$]*").fullmatch

_SIGTERM = frozenset({"TERM", "SIGTERM", "15"})
_POSIX_SHELLS = frozenset({"sh", "dash"})
_SHELLS = frozenset({"sh", "bash", "dash", "ash", "ksh", "zsh", "busybox"})


def runs_shell(command: Sequence[str]) -> bool:
    """Tell whether a command is a shell that is given its script, as ours and ``[bash, -c, …]`` are."""
    return bool(command) and str(command[0]).rpartition("/")[2] in _SHELLS


class Script(NamedTuple):
    """A text that a shell is given to run, the keys that lead to it, and whether that shell knows bash's words."""

    text: str
    route: tuple[str | int, ...]
    bash: bool


def script_of(command: str | Sequence[str], args: Sequence[str] = ()) -> Script | None:
    """Return the text that a shell runs by ``-c``, if a command is a text, or a shell with such a one."""
    if type(command) is str:
        return Script(command, ("command",), bash=False)
    if not runs_shell(command or args):
        return None
    words = [*map(str, command), *map(str, args)]
    at = 1
    while at < len(words) and _OPTION(words[at]) and words[at][-1] != "c":
        at += 2 if words[at][-1] == "o" else 1  # -o has a word of its own, as in `-euo pipefail`
    at += 1
    if at >= len(words) or not _OPTION(words[at - 1]):
        return None
    route = ("command", at) if at < len(command) else ("args", at - len(command))
    return Script(words[at], route, bash=words[0].rpartition("/")[2] not in _POSIX_SHELLS)


def shell_command(text: str) -> list[str]:
    """Return the command that runs a text, with `exec` before its last program, so that SIGTERM reaches it."""
    body = text.rstrip("\n")
    program, may_replace = last_program(body)
    at = program.start if program and may_replace else 0
    return [*SHELL, f"{body[:at].lstrip()}exec {body[at:]}" if program and may_replace else body]


@lru_cache(maxsize=1024)
def last_program(text: str, *, bash: bool = False) -> tuple[Token | None, bool]:
    """Return the program that a text runs last, and whether `exec` before it changes only who receives signals.

    A text that takes care of signals itself has no such program. With ``bash``, the shell itself finds out whether a
    name is a function.
    """
    try:
        found = commands(text)
    except ValueError:  # a quote that is not closed: the shell says so best
        return None, False
    if not found or any(map(_handles_signals, found)):
        return None, False
    names, last = {command.program for command in found}, found[-1]
    programs = [command for command in found if command.program not in _NOT_A_PROGRAM | _TOOLS]
    functions = {command.program for command in found if command.after == "("}
    sourced = not bash and names & {".", "source", "eval"} and not _SURELY_A_PROGRAM(last.program)
    alone = not last.nested and last.before not in ("|", "|&") and last.after in ("", ";", "\n")
    if alone and last.program not in _NOT_A_PROGRAM | functions and last is (programs or [last])[-1]:
        return last.words[0], not sourced and not names & {"trap", "alias", "function"}
    return programs[-1].words[0] if programs else None, False


def _handles_signals(command: Command) -> bool:
    words = {word.text for word in command.words[1:]}
    return bool(words if command.program == "exec" else command.program == "trap" and words & _SIGTERM)
