"""`tfgitops validate`: make every check, and write nothing."""

from __future__ import annotations

from typing import Annotated

import typer

from tfgitops.cli.commandapp import FormatOption, NoColour, Paths, Quiet, Strict, Without


def validate(
    paths: Paths = None,
    strict: Strict = False,
    format_: FormatOption = "text",
    no_plugin: Without = None,
    quiet: Quiet = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show notes, and what is allowed.")] = False,
    no_color: NoColour = False,
) -> int:
    """Make every check, and write nothing."""
    from tfgitops.cli.environments import compiled, opened
    from tfgitops.compiler.versionlock import check_lock
    from tfgitops.plugins.plain import printable
    from tfgitops.report.buildreport import exceptions
    from tfgitops.report.show import show
    from tfgitops.spec.disk import shown

    session = opened(paths, no_plugin)
    found = check_lock(session, strict=strict)
    results = compiled(session, found, strict=strict)
    code = show(found, format_, no_colour=no_color, session=session, verbose=verbose)
    if format_ == "text" and not quiet:
        print(exceptions(results) if verbose else "", end="")
        for one in results:
            print(f"{printable(shown(one.folder))}: {'valid' if one.ok else 'not valid'}")
    return code
