"""What is surely broken in a text that a shell runs, and yet runs, or is run, as something else than was meant."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_OPERATOR_AT = re.compile(r"[<>]\(|<<<|<<-|&>>|;;&|<<|>>|&>|&&|\|\||\|&|;;|;&|<&|>&|<>|>\||[;&|()<>\n]").match
_REDIRECTIONS = frozenset({"<", ">", ">>", "<>", ">&", "<&", ">|", "&>", "&>>", "<<<"})
_ENDS_OF_PATTERNS = frozenset({";;", ";&", ";;&"})
_META = frozenset(" \t\r\n;&|()<>")
_CLOSERS = {"(": ")", "{": "}", "'": "'", '"': '"', "`": "`"}
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^]]*\])?\+?=")
_BEFORE_A_COMMAND = frozenset({"if", "then", "else", "elif", "do", "while", "until", "!", "{", "time"})
_BASH_COMMANDS = frozenset(
    {"[[", "source", "function", "shopt", "declare", "typeset", "pushd", "popd", "mapfile", "readarray", "let"}
)
"""Words that begin a command in bash, and that the sh of Debian and Ubuntu (dash) does not know."""

_BASH_OPERATORS = {"<(": "<(…)", ">(": ">(…)", "<<<": "<<<", "&>": "&>", "&>>": "&>>", "|&": "|&"}
_ARRAY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=\(").match
_SUSPICIOUS = re.compile(
    r"\n[ \t]*-|\\[ \t]*$|[&]|[<>=]\(|<<<|\[\[|"
    r"\b(?:pipefail|source|function|shopt|declare|typeset|pushd|popd|mapfile|readarray|let)\b",
    re.MULTILINE,
).search
"""Whether there is anything in a text that a fault could be made of: most have nothing."""


class Token(NamedTuple):
    """A word, an operator, or the end of a line, as it is written, and where it begins and ends.

    ``command`` is the first word of the command that a word belongs to; ``leads`` is whether it is that word itself.
    """

    text: str
    start: int
    end: int
    is_word: bool
    leads: bool = False
    command: str = ""


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of a text, each word with its command; raise ValueError if quotes or brackets are not closed."""
    reader = _CommandFinder()
    for token in _pieces(text):
        yield reader.word(token) if token.is_word else reader.operator(token)


class _CommandFinder:
    """Follows a text from token to token, so as to know where a command begins.

    ``cases`` are the `case`s around a token: whether it stands before their `in`, in a pattern or in a body.
    """

    def __init__(self) -> None:
        self._begins = True
        self._command = ""
        self._target = self._in_test = False
        self._cases: list[str] = []

    def operator(self, token: Token) -> Token:
        """Follow an operator, or the end of a line."""
        case = self._cases[-1] if self._cases else ""
        if self._in_test:
            return token
        if token.text in _REDIRECTIONS:
            self._target = True
            return token
        if case == "pattern" and token.text == ")":
            self._cases[-1] = "body"
        elif case and token.text in _ENDS_OF_PATTERNS:
            self._cases[-1] = "pattern"
        self._begins, self._command = True, ""
        return token

    def word(self, token: Token) -> Token:
        """Follow a word, and say whether it begins a command."""
        if self._target:  # the file of a redirection
            self._target = False
        elif self._in_test:
            self._in_test = token.text != "]]"
        elif self._cases and self._cases[-1] != "body":
            self._in_case(token.text)
        elif self._begins:
            self._command = token.text
            self._lead(token.text)
            return token._replace(leads=True, command=token.text)
        return token._replace(command=self._command)

    def _in_case(self, word: str) -> None:
        if self._cases[-1] == "word" and word == "in":
            self._cases[-1] = "pattern"
        elif self._cases[-1] == "pattern" and word == "esac":
            self._cases.pop()
            self._begins = False

    def _lead(self, word: str) -> None:
        if word == "case":
            self._cases.append("word")
        elif word == "esac" and self._cases:
            self._cases.pop()
        self._in_test = word == "[["
        self._begins = word in _BEFORE_A_COMMAND or bool(_ASSIGNMENT.match(word))


def _pieces(text: str) -> Iterator[Token]:
    """Cut a text into words and operators; an array, a substitution and an arithmetic command are one each."""
    at, documents = 0, list[tuple[str, bool]]()
    while at < len(text):
        if text[at] in " \t\r":
            at += 1
        elif text.startswith("\\\n", at):
            at += 2
        elif text[at] == "#":
            at = _line_end(text, at)
        elif found := _OPERATOR_AT(text, at):
            start, operator = at, found[0]
            at = _behind(text, at) if text.startswith("((", at) else found.end()
            if operator in ("<(", ">("):
                at = _behind(text, at - 1)
            yield Token(operator, start, at, is_word=False)
            if operator in ("<<", "<<-"):
                at, delimiter = _delimiter(text, at)
                documents.append((delimiter, operator == "<<-"))
            elif operator == "\n":
                at = _behind_documents(text, at, documents)
        else:
            start, at = at, _word_end(text, at)
            yield Token(text[start:at], start, at, is_word=True)


def _word_end(text: str, at: int) -> int:
    start = at
    while at < len(text) and text[at] not in _META:
        if text[at] == "\\":
            at += 2
        elif text[at] in "'\"`":
            at = _behind(text, at)
        elif text.startswith(("$(", "${"), at):
            at = _behind(text, at + 1)
        else:
            at += 1
    if text.startswith("(", at) and (name := _ASSIGNMENT.match(text, start)) and name.end() == at:
        at = _behind(text, at)  # an array
    return min(at, len(text))


def _behind(text: str, at: int) -> int:
    """Return the place behind quotes or brackets that open at a place, and all that is nested in them."""
    closers = [_CLOSERS[text[at]]]
    while closers:
        at += 1
        char, inside = text[at : at + 1], closers[-1]
        if not char:
            raise ValueError("quotes or brackets are not closed")
        if char == inside:
            closers.pop()
        elif inside == "'":
            continue
        elif char == "\\":
            at += 1
        elif text.startswith(("$(", "${"), at):
            at += 1
            closers.append(_CLOSERS[text[at]])
        elif char in '"`' or (char == "'" and inside != '"') or (char == "(" and inside == ")"):
            closers.append(_CLOSERS[char])
    return at + 1


def _delimiter(text: str, at: int) -> tuple[int, str]:
    """Return the place behind the delimiter of a here-document, and the delimiter without its quotes."""
    while at < len(text) and text[at] in " \t":
        at += 1
    end = _word_end(text, at)
    return end, re.sub(r"['\"\\]", "", text[at:end])


def _behind_documents(text: str, at: int, documents: list[tuple[str, bool]]) -> int:
    """Return the place behind the here-documents that begin with this line; ``documents`` is empty then."""
    while documents:
        delimiter, tabs = documents.pop(0)
        line: str | None = None
        while at < len(text) and line != delimiter:
            end = _line_end(text, at)
            line = text[at:end].lstrip("\t") if tabs else text[at:end]
            at = min(end + 1, len(text))
    return at


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


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
    if not _SUSPICIOUS(body):
        return ()
    try:
        found = list(tokens(body))
    except ValueError:  # the shell says best what is not closed
        return ()
    faults = [*_options(body, found), *_ends_of_lines(body, found), *_background(body, found)]
    faults += [] if bash else _bash_words(body, found)
    first = {fault.message: fault for fault in reversed(faults)}
    return tuple(sorted(first.values()))


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
