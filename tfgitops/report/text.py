"""Diagnostics as a compiler shows them: the line, carets under the place, and something to do."""

from __future__ import annotations

import textwrap
import unicodedata
from typing import TYPE_CHECKING, Any

from tfgitops.plugins.plain import printable
from tfgitops.spec.diagnostics import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tfgitops.spec.diagnostics import Diagnostic, Span

WIDTH = 200
"""A longer source line is cut around its carets."""

_COLOURS = {
    "error": "\x1b[1;31m",
    "warning": "\x1b[1;33m",
    "note": "\x1b[1;36m",
    "frame": "\x1b[1;34m",
    "bold": "\x1b[1m",
    "help": "\x1b[1;32m",
    "place": "\x1b[2m",
}
_RESET = "\x1b[0m"


def render(diagnostics: Iterable[Diagnostic], *, colour: bool = False) -> str:
    """Return the text of some diagnostics, a blank line between them; empty if there are none."""
    painter = _Painter(colour=colour)
    return "\n".join(painter.diagnostic(diagnostic) for diagnostic in diagnostics)


def totals(diagnostics: Iterable[Diagnostic]) -> str:
    """Count errors, warnings and notes, as the last line of a report."""
    severities = [diagnostic.severity for diagnostic in diagnostics]
    counts = ((severities.count(kind), kind) for kind in ("error", "warning", "note"))
    return ", ".join(counted(number, kind) for number, kind in counts if number)


def explained(diagnostic: Diagnostic) -> str:
    """Say a diagnostic without its lines: the message, then what was found and expected, and what helps."""
    remarks = (("found", diagnostic.found), ("expected", diagnostic.expected), ("help", diagnostic.hint))
    told = [diagnostic.message, *(f"{title}: {text}" for title, text in remarks if text)]
    return "\n".join(map(printable, told))


def paint(style: str, text: str, *, colour: bool) -> str:
    """Return a text in one of our styles, where there are colours."""
    return f"{_COLOURS[style]}{text}{_RESET}" if colour else text


class _Painter:
    """Paints diagnostics, with colours or without."""

    def __init__(self, *, colour: bool) -> None:
        self._colour = colour

    def diagnostic(self, diagnostic: Diagnostic) -> str:
        head = self._paint(diagnostic.severity, f"{diagnostic.severity}[{diagnostic.code}]")
        lines = [f"{head}{self._paint('bold', ': ' + printable(diagnostic.message))}"]
        margin = _margin(diagnostic)
        if diagnostic.span:
            lines += self._place(diagnostic.span, margin)
        for title, text in (("found", diagnostic.found), ("expected", diagnostic.expected)):
            if text:
                lines.append(self._remark(margin, title, text, "bold"))
        if diagnostic.hint:
            lines.append(self._remark(margin, "help", diagnostic.hint, "help"))
        for message, span in diagnostic.notes:
            lines.append(self._remark(margin, "note", message, "bold"))
            lines += self._place(span, margin)
        return "\n".join(lines) + "\n"

    def _place(self, span: Span, margin: int) -> list[str]:
        shown, start, width = excerpt(span)
        bar = self._paint("frame", "|")
        number = self._paint("frame", f"{span.line:>{margin}}")
        arrow = self._paint("frame", f"{' ' * margin}-->")
        lines = [f"{arrow} {printable(span.file)}:{span.line}:{span.column}"]
        if shown.strip():
            lines.append(f"{number} {bar} {shown}")
            lines.append(f"{' ' * margin} {bar} {' ' * start}{self._paint('error', '^' * width)}")
        return lines

    def _remark(self, margin: int, title: str, text: str, style: str) -> str:
        return f"{' ' * margin} {self._paint('frame', '=')} {self._paint(style, title)}: {printable(text)}"

    def _paint(self, style: str, text: str) -> str:
        return paint(style, text, colour=self._colour)


def _margin(diagnostic: Diagnostic) -> int:
    lines = [span.line for span in (diagnostic.span, *(span for _, span in diagnostic.notes)) if span]
    return len(str(max(lines, default=1)))


def excerpt(span: Span) -> tuple[str, int, int]:
    """Return the source line as it is shown, the display column where the carets start, and their number."""
    column = span.column - 1
    line, width = span.excerpt, max(1, span.width)
    before, marked, after = line[:column], line[column : column + width], line[column + width :]
    if len(line) > WIDTH:
        room = WIDTH // 2
        before = before if len(before) <= room else "…" + before[-room:]
        marked = marked if len(marked) <= room else marked[:room] + "…"
        after = after if len(after) <= room // 2 else after[: room // 2] + "…"
    before, marked, after = (printable(part.replace("\t", " ")) for part in (before, marked, after))
    return before + marked + after, columns(before), max(1, columns(marked))


def wrapped(text: str, first: str, rest: str = "", width: int = 80) -> list[str]:
    """Break a text into lines at its blanks alone; ``first`` and ``rest`` are what its lines begin with."""
    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=rest or " " * len(first), break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


def table(rows: Sequence[Sequence[str]], style: Any = None, *, right: Iterable[int] = ()) -> list[str]:
    """Put rows under each other; the first column in bold where a style is given, some aligned to the right."""
    right = set(right)
    widths = [max(columns(row[index]) for row in rows) for index in range(len(rows[0]))] if rows else []
    lines = []
    for row in rows:
        cells = []
        for index, (text, width) in enumerate(zip(row, widths, strict=True)):
            blank = " " * (width - columns(text))
            shown = style("bold", text) if style and index == 0 else text
            cells.append(blank + shown if index in right else shown + blank)
        lines.append("  ".join(cells).rstrip())
    return lines


def padded(text: str, width: int) -> str:
    """Fill a text up with blanks to a number of columns."""
    return text + " " * (width - columns(text))


def columns(text: str) -> int:
    """Count the columns of a terminal that a text fills."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )
