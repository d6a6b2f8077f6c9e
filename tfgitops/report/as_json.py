"""Diagnostics as one JSON document, and the parts that all our JSON documents share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.plugins.plain import dumped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfgitops.spec.diagnostics import Diagnostic, Span

VERSION = 1


def render(diagnostics: Iterable[Diagnostic], files: Iterable[tuple[str, str]] = ()) -> str:
    """Return ``{version, problems: [{code, severity, message, file, line, column, found, expected, hint}], files}``.

    A problem without a place has null for file, line and column; ``notes`` has second places. ``files`` are those
    that `build` changed, or with ``--check`` found different, each with a word for what it did or found.
    """
    return json_document(
        problems=problems(diagnostics), files=[{"state": state, "path": path} for state, path in files]
    )


def json_document(**parts: Any) -> str:
    """Return a document of the present version with some parts, in their order."""
    return dumped({"version": VERSION, **parts}, ascii_only=False)


def problems(diagnostics: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    """Return diagnostics as plain values."""
    return [
        {
            "code": diagnostic.code,
            "severity": diagnostic.severity,
            "message": diagnostic.message,
            **place(diagnostic.span),
            "found": diagnostic.found,
            "expected": diagnostic.expected,
            "hint": diagnostic.hint,
            "notes": [{"message": message, **place(span)} for message, span in diagnostic.all_notes],
        }
        for diagnostic in diagnostics
    ]


def place(span: Span | None) -> dict[str, Any]:
    """Return a place as plain values, null where there is none."""
    return {key: getattr(span, key, None) for key in ("file", "line", "column")}
