"""Offer a shell the names of arguments: environments, their jobs, and Git's refs."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from tfgitops.cli.environments import opened
from tfgitops.compiler.compiled import Compiled
from tfgitops.compiler.session import compile_all
from tfgitops.spec.disk import shown
from tfgitops.spec.git import run_git
from tfgitops.spec.project import find_environments


def _environments(incomplete: str) -> list[str]:
    """Offer the environments below `environments`, or below the folder that was begun."""
    begun = Path(incomplete)
    top = begun if incomplete.endswith("/") else begun.parent
    if top == Path() and Path("environments").is_dir():
        top = Path("environments")
    return [name for name in quietly(lambda: map(shown, find_environments(top))) if name.startswith(incomplete)]


def _jobs(ctx: typer.Context, incomplete: str) -> list[str]:
    """Offer the jobs of the environment that was named: to `unpin` those that are pinned, to `pin` the others."""
    found = [one.environment for one in quietly(lambda: compiled_at(ctx.params["env"])) if one.environment]
    jobs = [job for environment in found for job in environment.jobs if bool(job.pin) == (ctx.info_name == "unpin")]
    return [job.name for job in jobs if job.name.startswith(incomplete)]


def restartable(ctx: typer.Context, incomplete: str) -> list[str]:
    """Offer the jobs of a build by their names, and from a slash on by those of their environments, too."""
    found = [one.environment for one in quietly(lambda: compiled_at(*ctx.params.get("paths") or ())) if one.environment]
    names = [(f"{one.name}/" if "/" in incomplete else "") + job.name for one in found for job in one.jobs]
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete)]


def refs(incomplete: str) -> list[str]:
    """Offer Git's branches and tags."""
    listed = ("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes", "refs/tags")
    names = quietly(lambda: run_git(Path.cwd(), *listed).stdout.decode().split())
    return [name for name in names if name.startswith(incomplete)]


def compiled_at(*paths: Path) -> list[Compiled]:
    """Compile the environments of a command line that is being typed."""
    return compile_all(opened([Path(path) for path in paths], None))


def quietly(offer: Callable[[], Iterable[Any]]) -> list[Any]:
    """Return what there is to offer; whatever goes wrong, a shell is not the place to say it."""
    silence = io.StringIO()
    with contextlib.suppress(Exception), contextlib.redirect_stdout(silence), contextlib.redirect_stderr(silence):
        return list(offer())
    return []


Environment = Annotated[
    Path,
    typer.Argument(
        metavar="ENV", help="An environment, or its environment.yaml.", autocompletion=_environments, readable=False
    ),
]
Jobs = Annotated[
    list[str] | None, typer.Argument(metavar="JOB...", help="Jobs of this environment.", autocompletion=_jobs)
]
