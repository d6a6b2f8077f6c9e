"""`tfgitops schema`: write the JSON Schema of a spec for editors."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from tfgitops.cli.commandapp import Without


def schema(
    which: Annotated[
        Literal["environment", "job"], typer.Argument(metavar="[environment|job]", help="A spec, or a jobs/*.yaml.")
    ] = "environment",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to a file.", readable=False)
    ] = None,
    no_plugin: Without = None,
) -> int:  # fmt: skip
    """Write the JSON Schema of a spec for editors, plugins included."""
    from tfgitops.plugins.discovery import plugins_here
    from tfgitops.spec.diagnostics import CompileError
    from tfgitops.spec.disk import unwritable
    from tfgitops.spec.schema.editors import as_text

    plugins = plugins_here(no_plugin)
    if plugins.faults:
        raise CompileError(plugins.faults)
    content = as_text(plugins.fragments, job=which == "job")
    if output is None:
        sys.stdout.write(content)
        return 0
    try:
        output.write_text(content, encoding="utf-8", newline="\n")
    except OSError as error:
        raise unwritable(output, error) from error
    return 0
