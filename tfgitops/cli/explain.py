"""`tfgitops explain`: say where a field of a manifest comes from, and offer a shell the names of its arguments."""

from __future__ import annotations

import contextlib
import io
import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated

import typer

from tfgitops.cli.commandapp import Form, NoColour, Without
from tfgitops.cli.environments import opened
from tfgitops.compiler.compiled import Compiled
from tfgitops.compiler.pipeline import compile_environment
from tfgitops.compiler.session import compile_all
from tfgitops.provenance.fields import candidates
from tfgitops.provenance.lookup import select, title
from tfgitops.report.as_json import json_document, problems
from tfgitops.report.explanation import Paper, answer
from tfgitops.report.show import coloured, show
from tfgitops.spec.diagnostics import CompileError, has_errors, ordered
from tfgitops.spec.disk import shown
from tfgitops.spec.project import find_environments


def _environments(incomplete: str) -> list[str]:
    """Offer the environments below `environments`, or below the folder that was begun."""
    begun = Path(incomplete)
    top = begun if incomplete.endswith("/") else begun.parent
    if top == Path() and Path("environments").is_dir():
        top = Path("environments")
    return [name for name in _quietly(lambda: map(shown, find_environments(top))) if name.startswith(incomplete)]


def _objects(ctx: typer.Context, incomplete: str) -> list[str]:
    """Offer the objects of the environment that was named: jobs by their names, all by kind and name."""
    names = _quietly(lambda: _titles(_compiled(ctx)))
    short = [name.removeprefix("job/") for name in names if name.startswith("job/")]
    return [name for name in (*short, *names) if name.startswith(incomplete)]


def _field_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Offer the fields of the object that was named, a step further than the part that was typed."""
    return _quietly(lambda: candidates(select(_compiled(ctx), str(ctx.params["object_"])).manifest, incomplete))


def _titles(compiled: Compiled) -> list[str]:
    return [title(planned, compiled.environment) for planned in compiled.objects] if compiled.environment else []


def _compiled(ctx: typer.Context) -> Compiled:
    return compile_all(opened([Path(ctx.params["env"])], None))[0]


def _quietly(offer: Callable[[], Iterable[str]]) -> list[str]:
    """Return the names to offer; whatever goes wrong, a shell is not the place to say it."""
    silence = io.StringIO()
    with contextlib.suppress(Exception), contextlib.redirect_stdout(silence), contextlib.redirect_stderr(silence):
        return list(offer())
    return []


def explain(
    env: Annotated[
        Path,
        typer.Argument(
            metavar="ENV", help="An environment, or its environment.yaml.", autocompletion=_environments, readable=False
        ),
    ],
    object_: Annotated[
        str | None,
        typer.Argument(metavar="[OBJECT]", help="A job, or kind/name, such as queue/vision.", autocompletion=_objects),
    ] = None,
    field: Annotated[
        str | None,
        typer.Argument(
            metavar="[FIELD]", help="A field: spec.tasks[worker].replicas, or . for all.", autocompletion=_field_names
        ),
    ] = None,
    form: Annotated[Form, typer.Option("--format", help="How the answer is shown.")] = "text",
    no_plugin: Without = None,
    no_color: NoColour = False,
) -> int:  # fmt: skip
    """Say where a field comes from, and what it overrode.

    Without FIELD it tells of a job in short, without OBJECT it lists the objects.
    """
    session = opened([env], no_plugin)
    if len(session.folders) > 1:
        names = ", ".join(shown(folder) for folder in session.folders)
        message = f"{env} holds {len(session.folders)} environments, and `explain` is of one"
        raise CompileError.of("TF101", message, f"name one: {names}")
    compiled = compile_environment(session.folders[0], session.plugins, session.project)
    found = list(ordered(compiled.diagnostics))
    if compiled.environment is None:
        return show(found, form, no_colour=no_color)
    paper = None if form == "json" else _paper(session.folders[0], no_colour=no_color)
    try:
        told = answer(compiled, session.plugins, object_, field, paper)
    except CompileError as error:
        return show([*found, *error.diagnostics], form, no_colour=no_color)
    if form == "json":
        sys.stdout.write(json_document(problems=problems(found), **told))
        return int(has_errors(found))
    sys.stdout.write(told)
    return show(found, "text", no_colour=no_color)


def _paper(folder: Path, *, no_colour: bool) -> Paper:
    terminal = sys.stdout.isatty()
    return Paper(
        folder=shown(folder), colour=coloured(sys.stdout, no_colour=no_colour), cut=terminal,
        width=shutil.get_terminal_size().columns if terminal else 80,
    )  # fmt: skip
