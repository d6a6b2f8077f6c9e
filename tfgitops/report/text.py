"""Diagnostics as a compiler shows them: the line, carets under the place, and something to do."""

from __future__ import annotations

import textwrap
import unicodedata
from functools import partial
from typing import TYPE_CHECKING

from tfgitops.plugins.plain import defused, escaped, printable
from tfgitops.spec.diagnostics import counted
from tfgitops.targets.secrets import masked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tfgitops.spec.diagnostics import Diagnostic, Span

    Style = Callable[[str, str], str]

WIDTH = 200
"""A longer source line is cut around its carets."""

_COLOURS = {
    "error": "\x1b[1;31m", "warning": "\x1b[1;33m", "note": "\x1b[1;36m", "frame": "\x1b[1;34m", "bold": "\x1b[1m",
    "help": "\x1b[1;32m", "place": "\x1b[2m",
}  # fmt: skip
_RESET = "\x1b[0m"


def render(diagnostics: Iterable[Diagnostic], *, colour: bool = False) -> str:
    """Return the text of some diagnostics, a blank line between them; empty if there are none."""
    style = partial(paint, colour=colour)
    return "\n".join(_diagnostic(diagnostic, style) for diagnostic in diagnostics)


def totals(diagnostics: Iterable[Diagnostic]) -> str:
    """Count errors, warnings and notes, as the last line of a report."""
    severities = [diagnostic.severity for diagnostic in diagnostics]
    counts = ((severities.count(kind), kind) for kind in ("error", "warning", "note"))
    return ", ".join(counted(number, kind) for number, kind in counts if number)


def explained(diagnostic: Diagnostic) -> str:
    """Return a diagnostic without its lines: the message, then the values found and expected, and the hint."""
    told = [diagnostic.message, *(f"{title}: {text}" for title, text in _remarks(diagnostic))]
    return "\n".join(map(printable, told))


def paint(style: str, text: str, *, colour: bool) -> str:
    """Return a text in one of our styles, where there are colours."""
    return f"{_COLOURS[style]}{text}{_RESET}" if colour else text


def _remarks(diagnostic: Diagnostic) -> list[tuple[str, str]]:
    remarks = (("found", diagnostic.found), ("expected", diagnostic.expected), ("help", diagnostic.hint))
    return [(title, text) for title, text in remarks if text]


def _diagnostic(diagnostic: Diagnostic, style: Style) -> str:
    spans = [span for span in (diagnostic.span, *(span for _, span in diagnostic.all_notes)) if span]
    margin = len(str(max((span.line for span in spans), default=1)))

    def remark(title: str, text: str) -> str:
        label = style("help" if title == "help" else "bold", title)
        return f"{' ' * margin} {style('frame', '=')} {label}: {printable(text)}"

    head = style(diagnostic.severity, f"{diagnostic.severity}[{diagnostic.code}]")
    lines = [f"{head}{style('bold', ': ' + printable(diagnostic.message))}"]
    lines += _place(diagnostic.span, margin, style) if diagnostic.span else []
    lines += [remark(title, text) for title, text in _remarks(diagnostic)]
    for message, span in diagnostic.all_notes:
        lines += [remark("note", message), *_place(span, margin, style)]
    return "\n".join(lines) + "\n"


def _place(span: Span, margin: int, style: Style) -> Iterator[str]:
    shown, start, width = excerpt(span)
    blank, bar = " " * margin, style("frame", "|")
    yield f"{style('frame', f'{blank}-->')} {printable(span.file)}:{span.line}:{span.column}"
    if shown.strip():
        yield f"{style('frame', f'{span.line:>{margin}}')} {bar} {shown}"
        yield f"{blank} {bar} {' ' * start}{style('error', '^' * width)}"


def excerpt(span: Span) -> tuple[str, int, int]:
    """Return the source line as it is shown, the display column where the carets start, and their number."""
    column = span.column - 1
    line, width = defused(masked(span.excerpt)), max(1, span.width)
    before, marked, after = line[:column], line[column : column + width], line[column + width :]
    if len(line) > WIDTH:
        room = WIDTH // 2
        before = before if len(before) <= room else "…" + before[-room:]
        marked = marked if len(marked) <= room else marked[:room] + "…"
        after = after if len(after) <= room // 2 else after[: room // 2] + "…"
    before, marked, after = (escaped(part.replace("\t", " ")) for part in (before, marked, after))
    return before + marked + after, columns(before), max(1, columns(marked))


def wrapped(text: str, first: str, rest: str = "", width: int = 80) -> list[str]:
    """Break a text into lines at its blanks alone; ``first`` and ``rest`` are what its lines begin with."""
    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=rest or " " * len(first), break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


def table(rows: Sequence[Sequence[str]], style: Style | None = None, *, right: Iterable[int] = ()) -> list[str]:
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
