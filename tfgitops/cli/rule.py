"""`tfgitops rule`: explain a diagnostic by its code."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from tfgitops.cli.commandapp import Form, Without


def rule(
    code: Annotated[
        str | None, typer.Argument(metavar="[CODE]", help="The code of a diagnostic, such as TF201.")
    ] = None,
    form: Annotated[Form, typer.Option("--format", help="How the entry is shown.")] = "text",
    no_plugin: Without = None,
) -> int:  # fmt: skip
    """Explain a diagnostic by its code: what it means, why it matters, how to fix it.

    Without CODE it lists all codes, those of plugins too.
    """
    from tfgitops.plugins.discovery import plugins_here
    from tfgitops.report import codes
    from tfgitops.report.codes import reference
    from tfgitops.targets.nearest import did_you_mean

    entries = reference(plugins_here(no_plugin).plugins)
    by_case = {known.upper(): entry for known, entry in entries.items()}
    if code and code.upper() not in by_case:
        hint = did_you_mean(code, entries) or "`tfgitops rule` lists all codes"
        raise typer.BadParameter(f"there is no code '{code}': {hint}")
    chosen = by_case[code.upper()] if code else None
    if form == "json":
        sys.stdout.write(codes.as_json([chosen] if chosen else entries.values()))
    else:
        sys.stdout.write(codes.as_text(chosen) if chosen else codes.listing(entries.values()))
    return 0
