"""Show diagnostics in the form that was asked for, and tell the exit code that they call for."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from tfgitops.spec import bounds
from tfgitops.spec.diagnostics import Diagnostic, compiler_codes, has_errors, ordered, without_notes
from tfgitops.spec.project import SPEC

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfgitops.compiler.session import Session
    from tfgitops.spec.diagnostics import Severity


def show(
    diagnostics: Iterable[Diagnostic],
    form: str,
    *,
    no_colour: bool,
    files: Iterable[tuple[str, str]] = (),
    session: Session | None = None,
    verbose: bool = False,
) -> int:
    """Show all diagnostics in the form that was asked for, and return the exit code that they call for.

    Text goes to standard error, all other forms to standard output. ``files`` are the state and path of each manifest
    that `build` changed, or found different; for JSON alone. Paths are relative to the checkout of ``session``, if
    there is one, and codes are its plugins'. ``verbose`` shows notes, too.
    """
    found = list(diagnostics)
    if form != "text":
        sys.stdout.write(_rendered(_told(found, verbose=verbose), form, files, session))
    else:
        sys.stderr.write(as_text(found, no_colour=no_colour, verbose=verbose))
    return int(has_errors(found))


def as_text(diagnostics: Iterable[Diagnostic], *, no_colour: bool, verbose: bool = False) -> str:
    """Return what `show` writes to standard error."""
    found = _told(diagnostics, verbose=verbose)
    if not found:
        return ""
    from tfgitops.report import text  # noqa: PLC0415 - a clean run shows none

    return f"{text.render(found, colour=coloured(sys.stderr, no_colour=no_colour))}\n{text.totals(found)}\n"


def _told(diagnostics: Iterable[Diagnostic], *, verbose: bool) -> list[Diagnostic]:
    """Return all that is shown, the errors before the others if not all is, and how many more there are."""
    found = list(ordered(diagnostics) if verbose else without_notes(ordered(diagnostics)))
    if (more := len(found) - bounds.SHOWN) <= 0:
        return found
    errors = [one for one in found if one.severity == "error"]
    kept = [*errors, *(one for one in found if one.severity != "error")][: bounds.SHOWN]
    severity: Severity = "error" if len(errors) > bounds.SHOWN else "warning"
    message, hint = f"and {more:,} more problems", "mend those above first"
    return [*ordered(kept), Diagnostic(code="TF106", severity=severity, message=message, hint=hint)]


def _rendered(
    found: list[Diagnostic], form: str, files: Iterable[tuple[str, str]], session: Session | None
) -> str:  # fmt: skip
    """Show what was found for other programs, each format imported when it is asked for."""
    if form == "json":
        from tfgitops.report import as_json  # noqa: PLC0415

        return as_json.render(found, files)
    from tfgitops.report.checkout import Checkout  # noqa: PLC0415

    if session:
        checkout = Checkout.around(session.project.root, [folder / SPEC for folder in session.folders])
    else:
        checkout = Checkout.around(Path.cwd())
    if form == "github":
        from tfgitops.report import as_github  # noqa: PLC0415

        return as_github.render(found, checkout)
    if form == "gitlab":
        from tfgitops.report import as_gitlab  # noqa: PLC0415

        return as_gitlab.render(found, checkout)
    from tfgitops.report import as_sarif  # noqa: PLC0415

    return as_sarif.render(found, checkout, session.plugins.codes if session else compiler_codes())


def coloured(stream: TextIO, *, no_colour: bool) -> bool:
    """Tell whether a stream gets colours: terminals do, and those who ask."""
    if no_colour or os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or stream.isatty()
