"""`tfgitops validate`: make every check, and write nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tfgitops.cli.common import (
    Format,
    FormatOption,
    NoColour,
    Paths,
    Quiet,
    Strict,
    Without,
    check_versions,
    command_app,
    compile_session,
    example,
    exceptions,
    guarded,
    report,
)
from tfgitops.compiler.session import open_session
from tfgitops.spec.load import shown

app = command_app()


@app.command(epilog=example("tfgitops validate environments/prod"))
@guarded
def validate(
    paths: Paths = None,
    strict: Strict = False,
    format_: FormatOption = Format.text,
    no_plugin: Without = None,
    quiet: Quiet = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show notes, and what is allowed.")] = False,
    no_color: NoColour = False,
) -> int:
    """Make every check, and write nothing."""
    session = open_session(paths or [Path("environments")], no_plugin or ())
    _, found = check_versions(session, locked=False, strict=strict)
    results = compile_session(session, strict=strict)
    found += [diagnostic for compiled in results for diagnostic in compiled.diagnostics]
    code = report(found, format_, no_colour=no_color, session=session, verbose=verbose)
    if format_ is Format.text and not quiet:
        print("".join(f"{line}\n" for line in exceptions(results) if verbose), end="")
        for compiled in results:
            print(f"{shown(compiled.folder)}: {'valid' if compiled.ok else 'not valid'}")
    return code
