"""Offer a shell the names of arguments: environments, their jobs, and Git's refs."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated

import typer


def _environments(incomplete: str) -> list[str]:
    """Offer the environments below `environments`, or below the folder that was begun."""
    from tfgitops.spec.disk import shown
    from tfgitops.spec.project import find_environments

    begun = Path(incomplete)
    top = begun if incomplete.endswith("/") else begun.parent
    if top == Path() and Path("environments").is_dir():
        top = Path("environments")
    return offered(incomplete, lambda: map(shown, find_environments(top)))


def jobs(ctx: typer.Context, incomplete: str) -> list[str]:
    """Offer jobs by name, and after a slash behind their environment: pinned ones to `unpin`, the others to `pin`."""
    paths = [ctx.params["env"]] if "env" in ctx.params else ctx.params.get("paths") or []
    prefix = "{}/" if "/" in incomplete else ""
    wanted = {"pin": (False,), "unpin": (True,)}.get(ctx.info_name or "", (False, True))

    def names() -> Iterable[str]:
        from tfgitops.cli.environments import opened
        from tfgitops.compiler.session import compile_all

        results = compile_all(opened([Path(path) for path in paths], None))
        found = [(one.environment, job) for one in results if one.environment for job in one.environment.jobs]
        return dict.fromkeys(prefix.format(one.name) + job.name for one, job in found if bool(job.pin) in wanted)

    return offered(incomplete, names)


def refs(incomplete: str) -> list[str]:
    """Offer Git's branches and tags."""
    from tfgitops.spec.git import run_git

    listed = ("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes", "refs/tags")
    return offered(incomplete, lambda: run_git(Path.cwd(), *listed).stdout.decode().split())


def offered(incomplete: str, names: Callable[[], Iterable[str]]) -> list[str]:
    """Return the names with a beginning; whatever goes wrong, a shell is not the place to say it."""
    silence = io.StringIO()
    with contextlib.suppress(Exception), contextlib.redirect_stdout(silence), contextlib.redirect_stderr(silence):
        return [name for name in names() if name.startswith(incomplete)]
    return []


Environment = Annotated[
    Path,
    typer.Argument(
        metavar="ENV", help="An environment, or its environment.yaml.", autocompletion=_environments, readable=False
    ),
]
Jobs = Annotated[list[str], typer.Argument(metavar="JOB...", help="Jobs of this environment.", autocompletion=jobs)]
