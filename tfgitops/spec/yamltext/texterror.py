"""Say what is wrong in a text: diagnostics whose file is named once the whole text was read."""

from __future__ import annotations

from dataclasses import replace

from tfgitops.spec.diagnostics import CompileError, Diagnostic, Span

Also = tuple[str, Span]


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
    return Diagnostic(code=code, severity="error", message=message, span=span, hint=hint, notes=notes)


def also_at(message: str, line: int, column: int, width: int = 1) -> Also:
    """Name a second place that has to do with a fault; line and column count from 0."""
    return message, Span(file="", line=line + 1, column=column + 1, width=width)


def line_and_column(text: str, index: int) -> tuple[int, int]:
    """Say where an index of a text is, as a line and a column that count from 0."""
    return text.count("\n", 0, index), index - (text.rfind("\n", 0, index) + 1)
