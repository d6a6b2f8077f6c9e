"""The frame of all commands: their arguments and options, the form of their help, and an exit code for each error."""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfgitops.spec.diagnostics import Diagnostic

EXIT_CODES = "Exit codes: 0 fine, 1 problems or differences, 2 wrong command line, 3 a bug of tfgitops."


def command_app() -> typer.Typer:
    """Return what a module adds its command to; it is shown as plain text, and fails as `guarded` has it."""
    return typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)


def example(line: str) -> str:
    """Return the last paragraph of a help text."""
    return f"Example: {line}. {EXIT_CODES}"


Format = Literal["text", "json", "sarif", "github", "gitlab"]
Form = Literal["text", "json"]
"""How the answer of a command is shown, where it is not about problems alone: the argument ``form``."""

Paths = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[PATH]...",
        help="An environment, its environment.yaml, or a folder of environments.",
        show_default="environments",
        readable=False,  # what cannot be read is a diagnostic, and no wrong command line
    ),
]
Strict = Annotated[bool, typer.Option("--strict", help="Treat warnings as errors.")]
FormatOption = Annotated[Format, typer.Option("--format", help="How problems are shown.")]
"""The argument ``format_``; `guarded` shows in this form what a command raises."""

Without = Annotated[list[str] | None, typer.Option("--no-plugin", metavar="NAME", help="Leave a plugin out.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show problems only.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="List every file, notes, and what is allowed.")]
NoColour = Annotated[bool, typer.Option("--no-color", help="Show problems without colours.")]


def guarded(command: Callable[..., int]) -> Callable[..., None]:
    """Turn what a command returns or raises into an exit code."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            Path.cwd()  # all that is said names files relative to it
            code = command(*args, **kwargs)
            sys.stdout.flush()
        except KeyboardInterrupt as error:
            where = "".join(f" {note}" for note in getattr(error, "__notes__", ()))  # of a plugin that does not end
            print(f"interrupted{where}; what was written is whole", file=sys.stderr)
            code = 130
        except (typer.Exit, typer.BadParameter):
            raise
        except Exception as error:  # noqa: BLE001 - the last net
            code = _told(error, kwargs.get("format_", "text"), no_colour=kwargs.get("no_color", False))
        raise typer.Exit(code)

    return run


def _told(error: Exception, form: Format, *, no_colour: bool) -> int:
    """Show what a command raised, and return the exit code: a bug of ours has a code of its own."""
    from tfgitops.report.show import show
    from tfgitops.spec.diagnostics import CompileError

    if isinstance(error, CompileError):
        return show(error.diagnostics, form, no_colour=no_colour)
    if isinstance(error, OSError):  # of a file: those of the streams end nothing (`tfgitops.__main__`)
        return show([_system_fault(error)], "text", no_colour=no_colour)
    import traceback

    traceback.print_exception(error)
    print("this is a bug of tfgitops; please report it with the lines above", file=sys.stderr)
    return 3


def _system_fault(error: OSError) -> Diagnostic:
    """Say what the system refuses, where nothing nearer to it said so."""
    from tfgitops.spec.diagnostics import Diagnostic
    from tfgitops.spec.disk import unreadable

    if isinstance(error.filename, str):
        return unreadable(Path(error.filename), error)
    message, hint = f"the system refuses: {error.strerror or error}", ""
    try:
        Path.cwd()
    except OSError:
        message, hint = "the working directory is not there any more", "go to a folder that is there"
    return Diagnostic(code="TF101", severity="error", message=message, hint=hint)
