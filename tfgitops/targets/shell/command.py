"""How a command that is written as text is run: by /bin/sh, replaced by the program where it is a single one."""

from __future__ import annotations

import re
import shlex
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

SHELL = ("/bin/sh", "-c")

STRING_MAX = 131_071
"""The longest argument or variable that Linux passes on to a program: MAX_ARG_STRLEN, less its end."""

# Kubernetes's references, and plain command substitutions: the shell runs those before it runs the command.
_SUBSTITUTION = re.compile(r"\$\([^()'\"`;\n]*\)")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_OPERATORS = ";<>|&()`\n"
_BLANKS = " \t\r"
_OPTION = re.compile(r"--?[A-Za-z]+").fullmatch
_PLAIN_WORD = re.compile(f"[{_OPERATORS}]+|[^{_OPERATORS}{_BLANKS}]+")
_QUOTE = re.compile(r"['\"\\]")
_REDIRECTIONS = frozenset({"<", ">", ">>", "<>", ">&", "<&", ">|"})
# POSIX reserved words, special built-ins, and built-ins that are no program of their own.
_NOT_A_PROGRAM = frozenset({
    "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "in", "{", "}", "!",
    "[[", "function", "select", "time", "break", ":", "continue", ".", "eval", "exec", "exit", "export", "readonly",
    "return", "set", "shift", "times", "trap", "unset", "source", "alias", "bg", "cd", "command", "fc", "fg", "getopts",
    "hash", "jobs", "read", "type", "ulimit", "umask", "unalias", "wait", "local", "declare", "let",
})  # fmt: skip


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
    """Return the command that runs a text, with `exec` for a single program, so that SIGTERM reaches it."""
    body = text.rstrip("\n")
    return [*SHELL, f"exec {body.lstrip()}" if is_simple_command(body) else body]


@lru_cache(maxsize=1024)
def is_simple_command(text: str) -> bool:
    """Tell whether a text is surely one simple command of POSIX: a program, its arguments and redirections."""
    text = _SUBSTITUTION.sub("x", text).replace("\\\n", " ")
    try:
        words = _quoted_words(text) if _QUOTE.search(text) else _PLAIN_WORD.findall(text)
    except ValueError:  # a quote that is not closed: the shell says so best
        return False
    if not words or words[0] in _NOT_A_PROGRAM or _ASSIGNMENT.match(words[0]):
        return False
    if any(word.startswith("#") for word in words) or "`" in text:
        return False
    return not any(not word.strip(_OPERATORS) and word not in _REDIRECTIONS for word in words if word)


def _quoted_words(text: str) -> list[str]:
    """Cut a text as `_PLAIN_WORD` does, but ten times slower; an open quote raises ValueError."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=_OPERATORS)
    lexer.whitespace, lexer.commenters, lexer.whitespace_split = _BLANKS, "", True
    return list(lexer)
