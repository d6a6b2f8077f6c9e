"""What is surely broken in a text that a shell runs, and yet runs, or is run, as something else than was meant."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from tfgitops.targets.shell.command import last_program
from tfgitops.targets.shell.shelltokens import tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfgitops.targets.shell.shelltokens import Token

_BASH_COMMANDS = frozenset(
    {"[[", "source", "function", "shopt", "declare", "typeset", "pushd", "popd", "mapfile", "readarray", "let"}
)
"""Words that begin a command in bash, and that the sh of Debian and Ubuntu (dash) does not know."""

_BASH_OPERATORS = {"<(": "<(…)", ">(": ">(…)", "<<<": "<<<", "&>": "&>", "&>>": "&>>", "|&": "|&"}
_ARRAY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=\(").match


class ShellFault(NamedTuple):
    """One fault: on which line of the text, counted from 0, which words of it, what is wrong, and what to do.

    ``before`` is the text of that line in front of the words, which may hold the same words.
    """

    line: int
    words: str
    message: str
    hint: str
    before: str = ""


@lru_cache(maxsize=1024)
def shell_faults(text: str, *, bash: bool) -> tuple[ShellFault, ...]:
    """Return the faults of a text, each of a kind once; ``bash`` is whether a shell runs it that knows bash's words."""
    body = text.rstrip("\n")
    try:
        found = tokens(body)
    except ValueError:  # the shell says best what is not closed
        return ()
    faults = [*_options(body, found), *_ends_of_lines(body, found), *_background(body, found)]
    faults += [] if bash else _bash_words(body, found)
    first = {fault.message: fault for fault in reversed(faults)}
    return tuple(sorted(first.values()))


def lost_signals(text: str, *, bash: bool, placed: bool) -> Iterator[ShellFault]:
    """Yield the fault of the program that SIGTERM does not reach; ``placed`` is whether the compiler puts in `exec`.

    Before a last command that may have `exec`, bash does as if it stood there.
    """
    program, may_replace = last_program(text.rstrip("\n"), bash=bash)
    if not program or (may_replace and (placed or bash)) or text.rstrip()[-1] == "&":
        return
    hint = "write `exec` before it as the last command, outside of pipes, loops and brackets, or use `trap`"
    words = program.text.partition("\n")[0]
    message = f"SIGTERM does not reach {words}, which the shell waits for: it is killed without a last checkpoint"
    yield _fault(text, program.start, words, message, hint)


def _fault(text: str, at: int, words: str, message: str, hint: str) -> ShellFault:
    """Make the fault of words that stand at an offset; of words of several lines, those of the first are marked."""
    start = text.rfind("\n", 0, at) + 1
    return ShellFault(text.count("\n", 0, at), words.partition("\n")[0], message, hint, text[start:at])


def _options(text: str, found: Sequence[Token]) -> Iterator[ShellFault]:
    for token in found[1:]:
        on_its_own = not text[text.rfind("\n", 0, token.start) + 1 : token.start].strip()
        if token.leads and on_its_own and token.text.startswith("-"):
            message = "a line that begins with '-' is run as a command of its own: the line above it does not go on"
            hint = "end each line that goes on with '\\', with nothing behind it; below `>`, indent all lines alike"
            yield _fault(text, token.start, token.text, message, hint)


def _ends_of_lines(text: str, found: Sequence[Token]) -> Iterator[ShellFault]:
    """Find a backslash at the end of a line that does not do what it is there for."""
    for token in found:
        if token.is_word and token.text[-1] in " \t" and not text[token.end :].partition("\n")[0].strip():
            message = "there are blanks behind the '\\' at the end of the line, so the line does not go on"
            yield _fault(text, token.end - 2, token.text[-2:], message, "take the blanks away")
    last = found[-1] if found else None
    if last and last.is_word and last.end == len(text) and re.search(r"(?<!\\)(?:\\\\)*\\\Z", last.text):
        message = "the last line ends with '\\', and no line follows: the program is given a '\\'"
        words = last.text.rpartition("\n")[2]  # quotes of several lines may be part of the word
        yield _fault(text, last.end - len(words), words, message, "take the '\\' away")


def _background(text: str, found: Sequence[Token]) -> Iterator[ShellFault]:
    written = [token for token in found if token.text != "\n"]
    if written and (written[-1].text, written[-1].is_word) == ("&", False):
        message = "the last command ends with '&', so nothing waits for it, and the container ends at once"
        yield _fault(text, written[-1].start, "&", message, "take the '&' away, or write `wait` behind it")


def _bash_words(text: str, found: Sequence[Token]) -> Iterator[ShellFault]:
    for token in found:
        if bash_own := _bash_own(text, token):
            shown, words = bash_own
            message = f"`{shown}` is bash's own, and this is run by sh, which on Debian and Ubuntu does not know it"
            yield _fault(text, token.start, words, message, "have bash run it: write `[bash, -c, …]`")


def _bash_own(text: str, token: Token) -> tuple[str, str] | None:
    """Return what of bash a token is, as it is told, and as it is written; None if it is POSIX's."""
    if not token.is_word:
        shown = _BASH_OPERATORS.get(token.text)
        return (shown, token.text) if shown else None
    if array := _ARRAY(token.text):
        return f"{array[0]}…)", array[0]
    if token.leads and token.text in _BASH_COMMANDS:
        defined = re.search(rf"(?<![\w-]){re.escape(token.text)}[ \t]*\([ \t]*\)", text)  # a function of its own
        return None if defined else (token.text, token.text)
    return ("set -o pipefail", "pipefail") if token.command == "set" and token.text == "pipefail" else None
