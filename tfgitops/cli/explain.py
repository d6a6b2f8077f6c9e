"""`tfgitops explain`: say where a field of a manifest comes from."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tfgitops.cli.commandapp import Form, NoColour, Without
from tfgitops.cli.completion import Environment, offered
from tfgitops.cli.progress import progress

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.report.explanation import Paper


def _objects(ctx: typer.Context, incomplete: str) -> list[str]:
    """Offer the objects of the environment that was named: jobs by their names, all by kind and name."""

    def names() -> list[str]:
        from tfgitops.provenance.lookup import title

        compiled = _compiled(ctx)
        assert compiled.environment
        titles = [title(planned, compiled.environment) for planned in compiled.objects]
        return [*(name.removeprefix("job/") for name in titles if name.startswith("job/")), *titles]

    return offered(incomplete, names)


def _field_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Offer the fields of the object that was named, a step further than the part that was typed."""

    def names() -> Iterable[str]:
        from tfgitops.provenance.fields import candidates
        from tfgitops.provenance.lookup import select

        return candidates(select(_compiled(ctx), str(ctx.params["object_"])).manifest, incomplete)

    return offered("", names)


def _compiled(ctx: typer.Context) -> Compiled:
    from tfgitops.cli.environments import opened
    from tfgitops.compiler.session import compile_all

    return compile_all(opened([Path(ctx.params["env"])], None))[0]


def explain(
    env: Environment,
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
    from tfgitops.cli.environments import one_environment, opened
    from tfgitops.compiler.pipeline import compile_environment
    from tfgitops.report.as_json import json_document, problems
    from tfgitops.report.explanation import answer
    from tfgitops.report.show import show
    from tfgitops.spec.diagnostics import CompileError, has_errors, ordered

    session = opened([one_environment(env)], no_plugin)
    compiled = compile_environment(session.folders[0], session.plugins, session.project)
    found = list(ordered(compiled.diagnostics))
    if compiled.environment is None:
        return show(found, form, no_colour=no_color)
    paper = None if form == "json" else _paper(session.folders[0], no_colour=no_color)
    try:
        with progress(session, lambda: "explaining"):
            told = answer(compiled, session.plugins, object_, field, paper)
    except CompileError as error:
        return show([*found, *error.diagnostics], form, no_colour=no_color)
    if form == "json":
        sys.stdout.write(json_document(problems=problems(found), **told))
        return int(has_errors(found))
    sys.stdout.write(told)
    return show(found, "text", no_colour=no_color)


def _paper(folder: Path, *, no_colour: bool) -> Paper:
    from tfgitops.report.explanation import Paper
    from tfgitops.report.show import coloured
    from tfgitops.spec.disk import shown

    terminal = sys.stdout.isatty()
    return Paper(
        folder=shown(folder), colour=coloured(sys.stdout, no_colour=no_colour), cut=terminal,
        width=shutil.get_terminal_size().columns if terminal else 80,
    )  # fmt: skip
