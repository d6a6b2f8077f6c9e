"""Diagnostics as one JSON document, for other programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfgitops.spec.diagnostics import Diagnostic

VERSION = 1


def render(diagnostics: Iterable[Diagnostic], files: Iterable[tuple[str, str]] = ()) -> str:
    """Return ``{version, problems: [{code, severity, message, file, line, column, found, expected, hint}]}``.

    A problem without a place has null for file, line and column; ``notes`` has second places. ``files`` are those
    that `build` changed, or with ``--check`` found different, each with a word for what it did or found.
    """
    document = {
        "version": VERSION,
        "problems": [problem(diagnostic) for diagnostic in diagnostics],
        "files": [{"state": state, "path": path} for state, path in files],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def problem(diagnostic: Diagnostic) -> dict[str, Any]:
    """Return one problem as plain values."""
    span = diagnostic.span
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "file": span.file if span else None,
        "line": span.line if span else None,
        "column": span.column if span else None,
        "found": diagnostic.found,
        "expected": diagnostic.expected,
        "hint": diagnostic.hint,
        "notes": [
            {"message": message, "file": place.file, "line": place.line, "column": place.column}
            for message, place in diagnostic.notes
        ],
    }
