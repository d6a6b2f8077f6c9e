"""`tfgitops images`: list every image, who uses it, and whether by digest."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from tfgitops.cli.commandapp import Form, NoColour, Paths, Without

if TYPE_CHECKING:
    from tfgitops.compiler.compiled import Compiled
    from tfgitops.spec.diagnostics import Diagnostic


def images(
    paths: Paths = None,
    form: Annotated[Form, typer.Option("--format", help="How images are listed.")] = "text",
    no_plugin: Without = None,
    no_color: NoColour = False,
) -> int:
    """List every image, who uses it, and whether by digest."""
    from tfgitops.cli.environments import compiled, opened
    from tfgitops.report.imagelist import as_json, as_text, used_images
    from tfgitops.report.show import show
    from tfgitops.spec.diagnostics import CompileError, has_errors, ordered

    results: list[Compiled] = []
    found: list[Diagnostic] = []
    try:
        results = compiled(opened(paths, no_plugin), found)
    except CompileError as error:
        found += error.diagnostics
    listed = used_images(results)
    if form == "json":  # one document, whatever happened
        sys.stdout.write(as_json(listed, ordered(found)))
        return int(has_errors(found))
    if any(one.ok for one in results):
        sys.stdout.write(as_text(listed))
    return show(found, "text", no_colour=no_color)
