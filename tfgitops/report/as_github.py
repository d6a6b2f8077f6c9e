"""Diagnostics as workflow commands, which GitHub Actions turns into annotations on the lines of a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfgitops.plugins.plain import escaped, printable
from tfgitops.report.text import explained

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfgitops.report.checkout import Checkout
    from tfgitops.spec.diagnostics import Diagnostic

_IN_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTIES = str.maketrans({**_IN_DATA, ":": "%3A", ",": "%2C"})
_DATA = str.maketrans(_IN_DATA)


def render(diagnostics: Iterable[Diagnostic], checkout: Checkout) -> str:
    """Return one ``::error …::message``, ``::warning …`` or ``::notice …`` a line; nothing of a spec begins another."""
    return "".join(_command(diagnostic, checkout) for diagnostic in diagnostics)


def _command(diagnostic: Diagnostic, checkout: Checkout) -> str:
    properties: dict[str, object] = {}
    span = diagnostic.span
    if (file := span.file if span else diagnostic.file) and (path := checkout.path(file)):
        properties["file"] = path
    if span:
        last = span.column + max(1, span.width) - 1  # as the API of checks counts: the last one that is marked
        properties |= {"line": span.line, "endLine": span.line, "col": span.column, "endColumn": last}
    properties["title"] = diagnostic.code
    listed = ",".join(f"{key}={escaped(str(value)).translate(_IN_PROPERTIES)}" for key, value in properties.items())
    level = "notice" if diagnostic.severity == "note" else diagnostic.severity
    return f"::{level} {listed}::{_message(diagnostic, checkout).translate(_DATA)}\n"


def _message(diagnostic: Diagnostic, checkout: Checkout) -> str:
    places = [
        f"note: {note} ({checkout.path(at.file) or at.file}:{at.line}:{at.column})" for note, at in diagnostic.all_notes
    ]
    return "\n".join([explained(diagnostic), *map(printable, places)])
