"""`tfgitops explain`: say where a field of a manifest comes from."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from tfgitops.cli.commandapp import Form, NoColour, Without
from tfgitops.cli.completion import environments, field_names, objects
from tfgitops.cli.environments import opened
from tfgitops.compiler.pipeline import compile_environment
from tfgitops.report.as_json import json_document, problems
from tfgitops.report.explanation import answer
from tfgitops.report.explanation_text import Paper
from tfgitops.report.show import coloured, show
from tfgitops.spec.diagnostics import CompileError, has_errors, ordered
from tfgitops.spec.disk import shown


def explain(
    env: Annotated[
        Path,
        typer.Argument(
            metavar="ENV", help="An environment, or its environment.yaml.", autocompletion=environments, readable=False
        ),
    ],
    object_: Annotated[
        str | None,
        typer.Argument(metavar="[OBJECT]", help="A job, or kind/name, such as queue/vision.", autocompletion=objects),
    ] = None,
    field: Annotated[
        str | None,
        typer.Argument(
            metavar="[FIELD]", help="A field: spec.tasks[worker].replicas, or . for all.", autocompletion=field_names
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
