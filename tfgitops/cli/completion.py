"""What the shell offers for the arguments of a command: quietly, and nothing where nothing compiles."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from tfgitops.compiler.compiled import Compiled


def environments(incomplete: str) -> list[str]:
    """Offer the environments below `environments`, or below the folder that was begun."""
    return _quietly(lambda: [name for name in _environments(incomplete) if name.startswith(incomplete)])


def objects(ctx: typer.Context, incomplete: str) -> list[str]:
    """Offer the objects of the environment that was named: jobs by their names, all by kind and name."""
    return _quietly(lambda: [name for name in _objects(ctx) if name.startswith(incomplete)])


def field_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Offer the fields of the object that was named, a step further than what was begun."""
    return _quietly(lambda: _fields(ctx, incomplete))


def _environments(incomplete: str) -> list[str]:
    from tfgitops.spec.disk import shown  # noqa: PLC0415 - only for a shell that asks
    from tfgitops.spec.project import find_environments  # noqa: PLC0415 - only for a shell that asks

    begun = Path(incomplete)
    top = begun if incomplete.endswith("/") else begun.parent
    if top == Path() and Path("environments").is_dir():
        top = Path("environments")
    return [shown(folder) for folder in find_environments(top)]


def _objects(ctx: typer.Context) -> list[str]:
    from tfgitops.provenance.lookup import title  # noqa: PLC0415 - only for a shell that asks

    compiled = _compiled(ctx)
    assert compiled.environment is not None
    names = [title(planned, compiled.environment) for planned in compiled.objects]
    return [*(name.removeprefix("job/") for name in names if name.startswith("job/")), *names]


def _fields(ctx: typer.Context, incomplete: str) -> list[str]:
    from tfgitops.provenance.fields import candidates  # noqa: PLC0415
    from tfgitops.provenance.lookup import select  # noqa: PLC0415 - only for a shell that asks

    return candidates(select(_compiled(ctx), str(ctx.params["object_"])).manifest, incomplete)


def _compiled(ctx: typer.Context) -> Compiled:
    from tfgitops.compiler.pipeline import compile_environment  # noqa: PLC0415 - only for a shell that asks
    from tfgitops.compiler.session import open_session  # noqa: PLC0415

    session = open_session([Path(ctx.params["env"])])
    return compile_environment(session.folders[0], session.plugins, session.project)


def _quietly(offer: Callable[[], list[Any]]) -> list[str]:
    """Return what there is to offer; whatever goes wrong, a shell is not the place to say it."""
    silence = io.StringIO()
    with contextlib.suppress(Exception), contextlib.redirect_stdout(silence), contextlib.redirect_stderr(silence):
        return offer()
    return []
