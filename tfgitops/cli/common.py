"""The command line: what all commands have in common, their options, exit codes and reports."""

from __future__ import annotations

import functools
import os
import sys
import traceback
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from tfgitops.compiler.compiled import Compiled
from tfgitops.compiler.session import Session, compile_all
from tfgitops.compiler.versionlock import check_lock
from tfgitops.compiler.write import alone
from tfgitops.plugins.plain import printable
from tfgitops.report import text
from tfgitops.spec.diagnostics import CODES, CompileError, Diagnostic, as_errors, has_errors, ordered, without_notes
from tfgitops.spec.disk import shown, unreadable
from tfgitops.spec.project import SPEC
from tfgitops.spec.survey import find_environments

EXIT_CODES = "Exit codes: 0 fine, 1 problems or differences, 2 wrong command line, 3 a bug of tfgitops."


def command_app() -> typer.Typer:
    """Return what a module adds its command to; it is shown as plain text, and fails as `guarded` has it."""
    return typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)


def example(line: str) -> str:
    """Return the last paragraph of a help text."""
    return f"Example: {line}. {EXIT_CODES}"


class Format(StrEnum):
    """How problems are shown."""

    text = "text"
    json = "json"
    sarif = "sarif"
    github = "github"


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


def guarded(command: Callable[..., int]) -> Callable[..., None]:
    """Turn what a command returns or raises into an exit code, the same everywhere."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            Path.cwd()  # all that is said names files relative to it
            code = command(*args, **kwargs)
            sys.stdout.flush()
        except CompileError as error:
            wanted = kwargs.get("format_")
            form = wanted if isinstance(wanted, Format) else Format.text  # a command may have formats of its own
            code = report(error.diagnostics, form, no_colour=kwargs.get("no_color", False))
        except OSError as error:  # of a file: those of the streams end nothing (streams.py)
            code = report([_system_fault(error)], Format.text, no_colour=kwargs.get("no_color", False))
        except KeyboardInterrupt as error:
            where = "".join(f" {note}" for note in getattr(error, "__notes__", ()))  # of a plugin that does not end
            print(f"interrupted{where}; what was written is whole", file=sys.stderr)
            code = 130
        except (typer.Exit, typer.BadParameter):
            raise
        except Exception:  # noqa: BLE001 - the last net: a bug of ours has a code of its own
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


def one_environment(path: Path) -> Path:
    """Return the folder of the one environment that a path stands for.

    Raises:
        CompileError: it stands for none, or for several.
    """
    folders = find_environments(path)
    if len(folders) > 1:
        message = f"{path} holds {len(folders)} environments"
        hint = f"name one of them, such as {shown(folders[0])}"
        raise CompileError([Diagnostic(code="TF101", severity="error", message=message, hint=hint)])
    return folders[0]


def undisturbed(folder: Path) -> AbstractContextManager[None]:
    """Keep builds off an environment while its spec is edited."""
    return alone(folder, lambda: sys.stderr.write(f"waiting for a build of {shown(folder)}\n"))


def check_versions(session: Session, *, locked: bool, strict: bool) -> tuple[bool, list[Diagnostic]]:
    """Compare the versions in use with the lock, and tell whether that forbids going on."""
    found = check_lock(session, strict=locked)
    if strict:
        found = list(as_errors(found))
    return has_errors(found), found


def compile_session(session: Session, *, strict: bool) -> list[Compiled]:
    """Compile all environments of a call, with a line of progress on a terminal."""
    results = compile_all(session, _progress(len(session.folders)))
    return [compiled.as_strict() for compiled in results] if strict else results


def exceptions(results: Iterable[Compiled]) -> list[str]:
    """Return a line for each problem that an environment allows: where, until when, and why."""
    lines = {
        f"allowed  {one.span.file}:{one.span.line}  {one.by.code} at {one.by.at} until {one.by.until}: {one.by.reason}"
        for compiled in results
        for one in compiled.allowed
    }
    return [printable(line) for line in sorted(lines)]


def _progress(total: int) -> Callable[[int, Path], None]:
    def show(index: int, folder: Path) -> None:
        if total > 1 and sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[Kcompiling {shown(folder)} ({index + 1} of {total})")
            if index + 1 == total:
                sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    return show


def report(
    diagnostics: Iterable[Diagnostic],
    form: Format,
    *,
    no_colour: bool,
    files: Iterable[tuple[str, str]] = (),
    session: Session | None = None,
    verbose: bool = False,
) -> int:
    """Show all diagnostics in the form that was asked for, and return the exit code that they call for.

    Args:
        diagnostics: what was found, in any order.
        form: text goes to standard error, all others to standard output.
        no_colour: whether text has no colours, whatever the terminal.
        files: the state and path of each manifest that `build` changed, or found different; for JSON alone.
        session: what was compiled, if it came to that: paths are relative to its checkout, codes are its plugins'.
        verbose: whether notes are shown, too.
    """
    found = list(ordered(diagnostics) if verbose else without_notes(ordered(diagnostics)))
    if form is not Format.text:
        sys.stdout.write(_rendered(found, form, files, session))
    elif found:
        sys.stderr.write(text.render(found, colour=coloured(sys.stderr, no_colour=no_colour)))
        sys.stderr.write("\n" + text.totals(found) + "\n")
    return int(has_errors(found))


def _rendered(
    found: list[Diagnostic], form: Format, files: Iterable[tuple[str, str]], session: Session | None
) -> str:  # fmt: skip
    """Show what was found for other programs, each format imported when it is asked for."""
    if form is Format.json:
        from tfgitops.report import as_json  # noqa: PLC0415

        return as_json.render(found, files)
    from tfgitops.report.checkout import Checkout  # noqa: PLC0415

    if session:
        checkout = Checkout.around(session.project.root, [folder / SPEC for folder in session.folders])
    else:
        checkout = Checkout.around(Path.cwd())
    if form is Format.github:
        from tfgitops.report import as_github  # noqa: PLC0415

        return as_github.render(found, checkout)
    from tfgitops.report import as_sarif  # noqa: PLC0415

    return as_sarif.render(found, checkout, session.plugins.codes if session else CODES)


def coloured(stream: TextIO, *, no_colour: bool) -> bool:
    """Tell whether a stream gets colours: terminals do, and those who ask."""
    if no_colour or os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or stream.isatty()
