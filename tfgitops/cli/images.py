"""`tfgitops images`: list every image, who uses it, and whether by digest."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from tfgitops.cli.common import (
    Form,
    Format,
    NoColour,
    Paths,
    Without,
    command_app,
    compile_session,
    example,
    guarded,
    report,
)
from tfgitops.compiler.session import open_session
from tfgitops.report.images import as_json, as_text
from tfgitops.report.imageuses import used_images
from tfgitops.spec.diagnostics import CompileError, has_errors, ordered

app = command_app()


@app.command(epilog=example("tfgitops images environments/prod"))
@guarded
def images(
    paths: Paths = None,
    format_: Annotated[Form, typer.Option("--format", help="How images are listed.")] = Form.text,
    no_plugin: Without = None,
    no_color: NoColour = False,
) -> int:
    """List every image, who uses it, and whether by digest."""
    results = []
    try:
        results = compile_session(open_session(paths or [Path("environments")], no_plugin or ()), strict=False)
        found = [diagnostic for compiled in results for diagnostic in compiled.diagnostics]
    except CompileError as error:
        found = list(error.diagnostics)
    listed = used_images(results)
    if format_ is Form.json:  # one document, whatever happened
        sys.stdout.write(as_json(listed, ordered(found)))
        return int(has_errors(found))
    if any(compiled.ok for compiled in results):
        sys.stdout.write(as_text(listed))
    return report(found, Format.text, no_colour=no_color)
