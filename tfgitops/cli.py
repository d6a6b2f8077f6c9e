"""The command line: one short function a command, flags in, exit code out."""

from __future__ import annotations

import functools
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from tfgitops.build import build as settle
from tfgitops.build import documents
from tfgitops.diagnostics import CompileError, Diagnostic, as_errors, has_errors, ordered
from tfgitops.editors import for_editors
from tfgitops.load import shown
from tfgitops.lock import check_lock, versions, write_lock
from tfgitops.pipeline import Compiled
from tfgitops.plugins import discover
from tfgitops.project import find_root, read_project
from tfgitops.report import as_json, text
from tfgitops.session import Session, compile_all, open_session
from tfgitops.version import __version__

EXIT_CODES = "Exit codes: 0 fine, 1 problems or differences, 2 wrong command line, 3 a bug of tfgitops."

app = typer.Typer(
    name="tfgitops",
    help="Compile short specs into the Volcano Job manifests that run distributed TensorFlow from Git.",
    epilog=f"Example: tfgitops build environments/prod. {EXIT_CODES}",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Format(StrEnum):
    """How problems are shown."""

    text = "text"
    json = "json"


class Which(StrEnum):
    """Which file a schema is for."""

    environment = "environment"
    job = "job"


Paths = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[PATH]...",
        help="An environment, its environment.yaml, or a folder of environments.",
        show_default="environments",
    ),
]
Strict = Annotated[bool, typer.Option("--strict", help="Treat warnings as errors.")]
FormatOption = Annotated[Format, typer.Option("--format", help="How problems are shown.")]
Without = Annotated[list[str] | None, typer.Option("--no-plugin", metavar="NAME", help="Leave a plugin out.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show problems only.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="List every file.")]
NoColour = Annotated[bool, typer.Option("--no-color", help="Show problems without colours.")]


def _guarded(command: Callable[..., int]) -> Callable[..., None]:
    """Turn what a command returns or raises into an exit code, the same everywhere."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            code = command(*args, **kwargs)
            sys.stdout.flush()
        except CompileError as error:
            code = _report(
                error.diagnostics, kwargs.get("format_", Format.text), no_colour=kwargs.get("no_color", False)
            )
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = 0
        except OSError as error:  # a full disk behind standard output: files of ours report theirs themselves
            sys.stderr.write(f"standard output cannot be written: {error.strerror}\n")
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = 1
        except KeyboardInterrupt:
            print("interrupted; what was written is whole", file=sys.stderr)
            code = 130
        except (typer.Exit, typer.BadParameter):
            raise
        except Exception:  # noqa: BLE001 - the last net: a bug of ours has a code of its own
            traceback.print_exc()
            print("this is a bug of tfgitops; please report it with the lines above", file=sys.stderr)
            code = 3
        raise typer.Exit(code)

    return run


def _version(*, value: bool) -> None:
    if value:
        project = read_project(find_root(Path.cwd()))
        names = ", ".join(f"{plugin.name} {plugin.version}" for plugin in discover(project).plugins)
        print(f"tfgitops {__version__} (plugins: {names or 'none'})")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=lambda value: _version(value=value), is_eager=True, help="Show the versions."
        ),
    ] = False,
) -> None:
    """Take the options that stand before a command."""


@app.command(epilog=f"Example: tfgitops build environments/prod. {EXIT_CODES}")
@_guarded
def build(
    paths: Paths = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail if a manifest differs.")] = False,
    stdout: Annotated[bool, typer.Option("--stdout", help="Write the manifests to standard output.")] = False,
    locked: Annotated[bool, typer.Option("--locked", help="Refuse versions other than tfgitops.lock's.")] = False,
    strict: Strict = False,
    format_: FormatOption = Format.text,
    no_plugin: Without = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    no_color: NoColour = False,
) -> int:  # fmt: skip
    """Compile environments and write their manifests."""
    if stdout and (check or format_ is Format.json):
        raise typer.BadParameter("--stdout goes with neither --check nor --format json")
    session = open_session(paths or [Path("environments")], no_plugin or ())
    refused, found = _check_versions(session, locked=locked, strict=strict)
    if refused:
        return _report(found, format_, no_colour=no_color)
    results = _compile(session, strict=strict)
    found += [diagnostic for compiled in results for diagnostic in compiled.diagnostics]
    if stdout:
        sys.stdout.write(documents(results))
        return _report(found, format_, no_colour=no_color)
    outcome = settle(results, session.abandoned, check=check, verbose=verbose)
    found += outcome.diagnostics
    code = _report(found, format_, no_colour=no_color, files=outcome.differences)
    if format_ is Format.text:
        lines = outcome.lines if not quiet else [f"{word}  {path}" for word, path in outcome.differences if check]
        sys.stdout.write("".join(f"{line}\n" for line in lines))
    return code or int(check and bool(outcome.differences))


@app.command(epilog=f"Example: tfgitops validate environments/prod. {EXIT_CODES}")
@_guarded
def validate(
    paths: Paths = None,
    strict: Strict = False,
    format_: FormatOption = Format.text,
    no_plugin: Without = None,
    quiet: Quiet = False,
    no_color: NoColour = False,
) -> int:
    """Make every check, and write nothing."""
    session = open_session(paths or [Path("environments")], no_plugin or ())
    _, found = _check_versions(session, locked=False, strict=strict)
    results = _compile(session, strict=strict)
    found += [diagnostic for compiled in results for diagnostic in compiled.diagnostics]
    code = _report(found, format_, no_colour=no_color)
    if format_ is Format.text and not quiet:
        for compiled in results:
            print(f"{shown(compiled.folder)}: {'valid' if compiled.ok else 'not valid'}")
    return code


@app.command(epilog=f"Example: tfgitops schema -o schemas/environment.schema.json. {EXIT_CODES}")
@_guarded
def schema(
    which: Annotated[
        Which, typer.Argument(metavar="[environment|job]", help="A spec, or a jobs/*.yaml.")
    ] = Which.environment,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to a file.")] = None,
    no_plugin: Without = None,
) -> int:  # fmt: skip
    """Write the JSON Schema of a spec for editors, plugins included."""
    plugins = discover(read_project(find_root(Path.cwd())), no_plugin or ())
    content = json.dumps(for_editors(plugins.fragments, job=which is Which.job), indent=2, ensure_ascii=False) + "\n"
    if output is None:
        sys.stdout.write(content)
        return 0
    try:
        output.write_text(content, encoding="utf-8", newline="\n")
    except OSError as error:
        message = f"{output} cannot be written: {error.strerror}"
        raise CompileError([Diagnostic(code="TF602", severity="error", message=message)]) from error
    return 0


@app.command(epilog=f"Example: tfgitops lock. {EXIT_CODES}")
@_guarded
def lock(paths: Paths = None, no_plugin: Without = None, quiet: Quiet = False) -> int:
    """Record the versions of the compiler and the plugins in tfgitops.lock."""
    session = open_session(paths or [Path("environments")], no_plugin or ())
    path = write_lock(session)
    if not quiet:
        print(f"{shown(path)}: " + ", ".join(f"{name} {version[:19]}" for name, version in versions(session).items()))
    return 0


def _check_versions(session: Session, *, locked: bool, strict: bool) -> tuple[bool, list[Diagnostic]]:
    """Compare the versions in use with the lock, and tell whether that forbids going on."""
    found = check_lock(session, strict=locked)
    if strict:
        found = list(as_errors(found))
    return has_errors(found), found


def _compile(session: Session, *, strict: bool) -> list[Compiled]:
    results = compile_all(session, _progress(len(session.folders)))
    return [compiled.as_strict() for compiled in results] if strict else results


def _progress(total: int) -> Callable[[int, Path], None]:
    def show(index: int, folder: Path) -> None:
        if total > 1 and sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[Kcompiling {shown(folder)} ({index + 1} of {total})")
            if index + 1 == total:
                sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    return show


def _report(
    diagnostics: Iterable[Diagnostic], form: Format, *, no_colour: bool, files: Iterable[tuple[str, str]] = ()
) -> int:
    """Show all diagnostics in the form that was asked for, and return the exit code that they call for."""
    found = list(ordered(diagnostics))
    if form is Format.json:
        sys.stdout.write(as_json.render(found, files))
    elif found:
        sys.stderr.write(text.render(found, colour=_colour(no_colour=no_colour)))
        sys.stderr.write("\n" + text.totals(found) + "\n")
    return int(has_errors(found))


def _colour(*, no_colour: bool) -> bool:
    if no_colour or os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stderr.isatty()
