"""The names that the shell offers for the arguments of `explain`; none where the environment does not compile."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterable
from pathlib import Path

import typer

from tfgitops.compiler.compiled import Compiled


def environments(incomplete: str) -> list[str]:
    """Offer the environments below `environments`, or below the folder that was begun."""
    from tfgitops.spec.disk import shown  # noqa: PLC0415 - here and below, only for a shell that asks
    from tfgitops.spec.project import find_environments  # noqa: PLC0415

    begun = Path(incomplete)
    top = begun if incomplete.endswith("/") else begun.parent
    if top == Path() and Path("environments").is_dir():
        top = Path("environments")
    return [name for name in _quietly(lambda: map(shown, find_environments(top))) if name.startswith(incomplete)]


def objects(ctx: typer.Context, incomplete: str) -> list[str]:
    """Offer the objects of the environment that was named: jobs by their names, all by kind and name."""
    names = _quietly(lambda: _titles(_compiled(ctx)))
    short = [name.removeprefix("job/") for name in names if name.startswith("job/")]
    return [name for name in (*short, *names) if name.startswith(incomplete)]


def field_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Offer the fields of the object that was named, a step further than the part that was typed."""
    from tfgitops.provenance.fields import candidates  # noqa: PLC0415
    from tfgitops.provenance.lookup import select  # noqa: PLC0415

    return _quietly(lambda: candidates(select(_compiled(ctx), str(ctx.params["object_"])).manifest, incomplete))


def _titles(compiled: Compiled) -> list[str]:
    from tfgitops.provenance.lookup import title  # noqa: PLC0415

    return [title(planned, compiled.environment) for planned in compiled.objects] if compiled.environment else []


def _compiled(ctx: typer.Context) -> Compiled:
    from tfgitops.compiler.session import compile_all, open_session  # noqa: PLC0415

    return compile_all(open_session([Path(ctx.params["env"])]))[0]


def _quietly(offer: Callable[[], Iterable[str]]) -> list[str]:
    """Return the names to offer; whatever goes wrong, a shell is not the place to say it."""
    silence = io.StringIO()
    with contextlib.suppress(Exception), contextlib.redirect_stdout(silence), contextlib.redirect_stderr(silence):
        return list(offer())
    return []
