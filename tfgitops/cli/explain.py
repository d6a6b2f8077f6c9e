"""`tfgitops explain`: say where a field of a manifest comes from."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from tfgitops.cli.completion import environments, field_names, objects
from tfgitops.cli.environments import opened
from tfgitops.cli.guard import guarded
from tfgitops.cli.options import Form, NoColour, Without, command_app, example
from tfgitops.compiler.compiled import Compiled
from tfgitops.compiler.pipeline import compile_environment
from tfgitops.compiler.session import Session
from tfgitops.provenance.fields import written
from tfgitops.provenance.lookup import fields, route_of, select, title
from tfgitops.provenance.origins import Provenance
from tfgitops.provenance.summary import summarize
from tfgitops.report import explanation, explanation_json
from tfgitops.report.jobsummary import job_summary
from tfgitops.report.show import Format, coloured, show
from tfgitops.spec.committed import MANIFESTS
from tfgitops.spec.diagnostics import CompileError, Diagnostic, has_errors, ordered
from tfgitops.spec.disk import shown

app = command_app()


@app.command(epilog=example("tfgitops explain environments/prod resnet 'spec.tasks[worker].replicas'"))
@guarded
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
    format_: Annotated[Form, typer.Option("--format", help="How the answer is shown.")] = Form.text,
    no_plugin: Without = None,
    no_color: NoColour = False,
) -> int:  # fmt: skip
    """Say where a field comes from, and what it overrode.

    Without FIELD it tells of a job in short, without OBJECT it lists the objects.
    """
    session = opened([env], no_plugin)
    compiled = compile_environment(_one(session, env), session.plugins, session.project)
    found = list(ordered(compiled.diagnostics))
    if compiled.environment is None:
        return show(found, Format(format_.value), no_colour=no_color)
    try:
        told = _Teller(compiled, session, no_colour=no_color).tell(object_, field, as_json=format_ is Form.json)
    except CompileError as error:
        return show([*found, *error.diagnostics], Format(format_.value), no_colour=no_color)
    if format_ is Form.json:
        sys.stdout.write(explanation_json.render(told, found))
        return int(has_errors(found))
    sys.stdout.write(told)
    return show(found, Format(format_.value), no_colour=no_color)


def _one(session: Session, path: Path) -> Path:
    """Return the one environment of a path.

    Raises:
        CompileError: there are several.
    """
    if len(session.folders) == 1:
        return session.folders[0]
    names = ", ".join(shown(folder) for folder in session.folders)
    message = f"{path} holds {len(session.folders)} environments, and `explain` is of one"
    raise CompileError([Diagnostic(code="TF101", severity="error", message=message, hint=f"name one: {names}")])


class _Teller:
    """Tells of one compiled environment, as text or in JSON's form."""

    def __init__(self, compiled: Compiled, session: Session, *, no_colour: bool) -> None:
        assert compiled.environment is not None
        self._compiled = compiled
        self._environment = compiled.environment
        self._provenance = Provenance(compiled.environment, session.plugins)
        terminal = sys.stdout.isatty()
        self._paper = explanation.Paper(
            folder=shown(compiled.folder),
            colour=coloured(sys.stdout, no_colour=no_colour), cut=terminal,
            width=shutil.get_terminal_size().columns if terminal else 80,
        )  # fmt: skip

    def tell(self, wanted: str | None, field: str | None, *, as_json: bool) -> Any:
        """Return what was asked for: a text, or a part of a JSON document."""
        if wanted is None:
            return self._list(as_json=as_json)
        planned = select(self._compiled, wanted)
        name, manifest = title(planned, self._environment), f"{shown(self._compiled.folder)}/{MANIFESTS}/{planned.path}"
        head = {"object": name, "manifest": manifest}
        job = self._environment.job_of(planned.manifest) if planned.own else None
        if job and field is None:
            told = summarize(planned, job, self._provenance)
            summary = explanation_json.summary(told)
            return {**head, "job": summary} if as_json else job_summary(told, manifest, self._paper)
        at = route_of(planned, self._environment, field or ".", self._provenance)
        found = fields(planned, at, self._provenance)
        if as_json:
            return {**head, "fields": explanation_json.fields(found)}
        if len(found) == 1 and found[0].at == at:
            return explanation.chain(name, found[0], self._paper)
        heading = name if not at else f"{name}  {written(planned.manifest, at)}"
        return explanation.blame(heading, planned.manifest, at, found, self._paper)

    def _list(self, *, as_json: bool) -> Any:
        rows = [
            (title(planned, self._environment), planned.manifest["metadata"]["name"], f"{MANIFESTS}/{planned.path}")
            for planned in self._compiled.objects
        ]
        if as_json:
            return {"objects": [dict(zip(("object", "name", "manifest"), row, strict=True)) for row in rows]}
        return explanation.listing(rows, self._paper)
