"""The faults of a text, and characters that YAML does not allow, that break lines unseen, or that look like others."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tfgitops.spec.diagnostics import CompileError, Diagnostic, Span
from tfgitops.targets.kubernetes.names import describe
from tfgitops.targets.routes import nodes, value_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops.spec.diagnostics import Severity
    from tfgitops.spec.document import Document
    from tfgitops.targets.routes import Route

Also = tuple[str, Span]
LOOKALIKES: Final = {
    0x2018: "'", 0x2019: "'", 0x201A: "'", 0x201C: '"', 0x201D: '"', 0x201E: '"', 0x2013: "-", 0x2014: "-",
    0x2212: "-", 0x00A0: " ", 0x3000: " ", 0xFF1A: ":", 0xFF0C: ",",
}  # fmt: skip
"""Characters of word processors and chats, and what was meant."""

BLANKS: Final = "\u00a0\u00ad\u1680\u2000-\u200f\u202f\u205f-\u2064\u3000\ufeff"
"""Characters that look like a blank, or like nothing: the inside of a class of a regular expression."""

_BREAKS = "\x85\u2028\u2029"
_NOTHING = re.compile(f"[{BLANKS}\u202a-\u202e]")
_NEVER = re.compile("[\0\x85\u2028\u2029\ufdd0-\ufdef\ufffe\uffff]")
_ESCAPE = re.compile(r"\\[0NLPxuU]")  # in double quotes, a way to write any character in ASCII
_DASH = re.compile("[\u2013\u2014\u2212]+(?=[A-Za-z])")
_QUOTES = "\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb"
_REFUSED_ASCII = r"[^\t\n\x20-\x7e]"
_REFUSED = r"[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"


class TextError(CompileError):
    """Raised with every fault that was found in a text."""

    def placed(self, text: str, name: str) -> TextError:
        """Return the same error with the name of the file, and with the lines that the faults are on."""
        lines = text.split("\n")

        def place(span: Span) -> Span:
            return replace(span, file=name, excerpt=lines[span.line - 1] if span.line <= len(lines) else "")

        return TextError(
            replace(found, span=found.span and place(found.span), notes=tuple((m, place(at)) for m, at in found.notes))
            for found in self.diagnostics
        )


def fault(  # noqa: PLR0917 - sixty calls read better in one order
    code: str, message: str, line: int, column: int, hint: str, width: int = 1, also: Also | None = None
) -> Diagnostic:  # fmt: skip
    """Make a fault of a text; line and column count from 0."""
    span, notes = also_at("", line, column, width)[1], (also,) if also else ()
    return Diagnostic(code=code, message=message, span=span, hint=hint, notes=notes)


def also_at(message: str, line: int, column: int, width: int = 1) -> Also:
    """Name a second place that has to do with a fault; line and column count from 0."""
    return message, Span(file="", line=line + 1, column=column + 1, width=width)


def line_and_column(text: str, index: int) -> tuple[int, int]:
    """Say where an index of a text is, as a line and a column that count from 0."""
    return text.count("\n", 0, index), index - (text.rfind("\n", 0, index) + 1)


def refused_characters(text: str) -> Iterator[Diagnostic]:
    """Yield a fault for the first of each character that may not stand in a file."""
    seen: set[str] = set()
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():  # as nearly all texts are
        return
    refused = _REFUSED_ASCII if text.isascii() else _REFUSED  # which takes long to make ready
    for match in re.finditer(refused, text):
        if (char := match[0]) in seen:
            continue
        seen.add(char)
        code, message, hint = "TF103", "is a control character, which YAML does not allow", "leave it out"
        if char in _BREAKS:
            code, message = "TF109", "breaks this line for YAML, though no editor shows it"
            hint = "leave it out, or break the line as usual"
        yield fault(code, f"{describe(char)} {message}", *line_and_column(text, match.start()), hint)


def odd_characters(text: str) -> list[str]:
    """Name each character of a text that looks like another, or like nothing, by its code point."""
    odd = [c for c in dict.fromkeys(text) if ord(c) in LOOKALIKES or (not c.isprintable() and c not in "\n\t")]
    return [describe(c) for c in odd]


def lookalikes(document: Document) -> Iterator[Diagnostic]:
    """Yield what is odd about each key and text of a document that is read."""
    if document.text.isascii() and not _ESCAPE.search(document.text):
        return
    for route in nodes(document.value):
        at = (*document.prefix, *route)
        for text, on_key in ((route[-1], True), (value_at(document.value, route), False)):
            if type(text) is not str or (text.isascii() and "\0" not in text):
                continue
            if judged := _judge(text, _name(at), on_key=on_key):
                severity, message, hint = judged
                span = document.span(at, on_key=on_key)
                yield Diagnostic(code="TF109", severity=severity, message=message, span=span, hint=hint, at=at)


def _judge(text: str, name: str, *, on_key: bool) -> tuple[Severity, str, str] | None:
    if found := _NEVER.search(text):
        return "error", f"{name} has {describe(found[0])}, which no text may hold", "leave it out"
    if text[0] in _QUOTES:
        plain = LOOKALIKES.get(ord(text[0]), '"')
        return "error", f"{name} has {describe(text[0])}, which quotes nothing in YAML", f"use {plain}"
    if found := _NOTHING.search(text):
        turns_text = "\u202a" <= found[0] <= "\u202e"
        message = f"{name} has {describe(found[0])}, which looks like a blank, or like nothing"
        return "error" if on_key or turns_text else "warning", message, "type it anew"
    if not on_key and (found := _DASH.match(text)):
        message = f"{name} begins with {describe(found[0][0])}, which is no '-'"
        option = re.split("[= ]", text[found.end() :], maxsplit=1)[0]
        return "warning", message, f"write '{'-' if len(option) == 1 else '--'}{option}' if this is an option"
    return None


def _name(route: Route) -> str:
    """Name a place by its last key and the indices behind it: `command[1]`."""
    start = max((index for index, key in enumerate(route) if isinstance(key, str)), default=0)
    return f"'{route[start]}{''.join(f'[{key}]' for key in route[start + 1 :])}'" if route else "the file"
