"""The tokens of a text that a shell runs, and the commands that it makes of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_OPERATOR_AT = re.compile(r"[<>]\(|<<<|<<-|&>>|;;&|<<|>>|&>|&&|\|\||\|&|;;|;&|<&|>&|<>|>\||[;&|()<>\n]").match
_REDIRECTIONS = frozenset({"<", ">", ">>", "<>", ">&", "<&", ">|", "&>", "&>>", "<<<"})
_WITH_TARGET = frozenset({"<<", "<<-", "<(", ">("})  # tokens that hold what they read or write
_ENDS_OF_PATTERNS = frozenset({";;", ";&", ";;&"})
_META = frozenset(" \t\r\n;&|()<>")
_CLOSERS = {"(": ")", "{": "}", "'": "'", '"': '"', "`": "`"}
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^]]*\])?\+?=")
_BEFORE_A_COMMAND = frozenset({"if", "then", "else", "elif", "do", "while", "until", "!", "{", "time"})
_COMPOUND = frozenset({"if", "for", "while", "until", "select", "case", "{", "("})
_END_OF_COMPOUND = frozenset({"fi", "done", "esac", "}"})
_PLAIN = re.compile(r"[^ \t\r\n;&|()<>\\'\"`$]+").match


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


@lru_cache(maxsize=1024)
def tokens(text: str) -> tuple[Token, ...]:
    """Return the tokens of a text, each word with the command that it belongs to.

    Raises ValueError if quotes or brackets are not closed.
    """
    reader = _CommandFinder()
    return tuple(reader.word(token) if token.is_word else reader.operator(token) for token in _pieces(text))


@dataclass(slots=True)
class Command:
    """A simple command: its words without assignments, and the operators before and behind it.

    ``nested`` is whether it stands in brackets, in a compound command, or behind a word such as ``!``.
    """

    before: str = ""
    after: str = ""
    nested: bool = False
    words: list[Token] = field(default_factory=list)

    @property
    def program(self) -> str:
        """The name of the command; empty for an assignment."""
        return self.words[0].text if self.words else ""


def commands(text: str) -> list[Command]:
    """Return the simple commands of a text; a keyword such as `if` or `done` is one, too.

    Raises ValueError if quotes or brackets are not closed.
    """
    found, around, target = [Command()], list[str](), False
    for token in tokens(text):
        command = found[-1]
        if token.leads or token.text in "()":
            _follow(token.text, around)
        if token.is_word:
            command.nested = bool(around or command.nested or (token.leads and command.words))
            if not target and not (token.leads and _ASSIGNMENT.match(token.text)):
                command.words = [token] if token.leads else [*command.words, token]
            target = False
        elif token.text in _REDIRECTIONS or token.text in _WITH_TARGET:
            target = token.text in _REDIRECTIONS
            if command.words and command.words[-1].end == token.start and command.words[-1].text.isdigit():
                command.words.pop()  # the number of a stream
        elif command.words:
            command.after = token.text
            found.append(Command(token.text))
    return [command for command in found if command.words]


def _follow(text: str, around: list[str]) -> None:
    """Enter or leave a compound command; a pattern of `case` may have no opening bracket."""
    if text in _COMPOUND:
        around.append(text)
    elif around and (text in _END_OF_COMPOUND or (text == ")" and around[-1] == "(")):
        around.pop()


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
        if token.text in _REDIRECTIONS or token.text in _WITH_TARGET:
            self._target = token.text in _REDIRECTIONS
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
            return self._in_case(token)
        elif self._begins:
            self._command = token.text
            self._lead(token.text)
            return token._replace(leads=True, command=token.text)
        return token._replace(command=self._command)

    def _in_case(self, token: Token) -> Token:
        if self._cases[-1] == "word" and token.text == "in":
            self._cases[-1] = "pattern"
        elif self._cases[-1] == "pattern" and token.text == "esac":
            self._cases.pop()
            self._begins = False
            return token._replace(leads=True, command=token.text)
        return token

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
        if plain := _PLAIN(text, at):
            at = plain.end()
        elif text[at] == "\\":
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
