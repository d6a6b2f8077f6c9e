"""The arguments and options that several commands have, and the form of their help."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tfgitops.report.show import Format

EXIT_CODES = "Exit codes: 0 fine, 1 problems or differences, 2 wrong command line, 3 a bug of tfgitops."


def command_app() -> typer.Typer:
    """Return what a module adds its command to; it is shown as plain text, and fails as `guarded` has it."""
    return typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)


def example(line: str) -> str:
    """Return the last paragraph of a help text."""
    return f"Example: {line}. {EXIT_CODES}"


class Form(StrEnum):
    """How what a command tells is shown, where it is not about problems alone."""

    text = "text"
    json = "json"


Paths = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[PATH]...",
        help="An environment, its environment.yaml, or a folder of environments.",
        show_default="environments",
        readable=False,  # what cannot be read is a diagnostic, and no wrong command line
    ),
]
Environment = Annotated[
    Path, typer.Argument(metavar="ENV", help="An environment's folder, or its environment.yaml.", readable=False)
]
Jobs = Annotated[list[str], typer.Argument(metavar="JOB...", help="Jobs of this environment.")]
Strict = Annotated[bool, typer.Option("--strict", help="Treat warnings as errors.")]
FormatOption = Annotated[Format, typer.Option("--format", help="How problems are shown.")]
Without = Annotated[list[str] | None, typer.Option("--no-plugin", metavar="NAME", help="Leave a plugin out.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show problems only.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="List every file, notes, and what is allowed.")]
NoColour = Annotated[bool, typer.Option("--no-color", help="Show problems without colours.")]
