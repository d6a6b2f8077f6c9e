"""Guard a command: whatever it returns or raises becomes an exit code, the same for all commands."""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tfgitops.report.show import Format, show
from tfgitops.spec.diagnostics import CompileError, Diagnostic
from tfgitops.spec.disk import unreadable

if TYPE_CHECKING:
    from collections.abc import Callable


def guarded(command: Callable[..., int]) -> Callable[..., None]:
    """Turn what a command returns or raises into an exit code."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            Path.cwd()  # all that is said names files relative to it
            code = command(*args, **kwargs)
            sys.stdout.flush()
        except CompileError as error:
            wanted = kwargs.get("format_")
            form = wanted if isinstance(wanted, Format) else Format.text  # a command may have formats of its own
            code = show(error.diagnostics, form, no_colour=kwargs.get("no_color", False))
        except OSError as error:  # of a file: those of the streams end nothing (streams.py)
            code = show([_system_fault(error)], Format.text, no_colour=kwargs.get("no_color", False))
        except KeyboardInterrupt as error:
            where = "".join(f" {note}" for note in getattr(error, "__notes__", ()))  # of a plugin that does not end
            print(f"interrupted{where}; what was written is whole", file=sys.stderr)
            code = 130
        except (typer.Exit, typer.BadParameter):
            raise
        except Exception:  # noqa: BLE001 - the last net: a bug of ours has a code of its own
            import traceback  # noqa: PLC0415 - for bugs alone

            traceback.print_exc()
            print("this is a bug of tfgitops; please report it with the lines above", file=sys.stderr)
            code = 3
        raise typer.Exit(code)

    return run


def _system_fault(error: OSError) -> Diagnostic:
    """Say what the system refuses, where nothing nearer to it said so."""
    if isinstance(error.filename, str):
        return unreadable(Path(error.filename), error)
    message, hint = f"the system refuses: {error.strerror or error}", ""
    try:
        Path.cwd()
    except OSError:
        message, hint = "the working directory is not there any more", "go to a folder that is there"
    return Diagnostic(code="TF101", severity="error", message=message, hint=hint)
