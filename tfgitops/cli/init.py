"""`tfgitops init`: write the files of a new repository."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Literal

import typer


def init(
    path: Annotated[
        Path, typer.Argument(metavar="[PATH]", help="The top of the repository.", show_default=".", readable=False)
    ] = Path(),
    gitops: Annotated[
        Literal["argocd", "flux", "none"], typer.Option("--gitops", help="The controller that applies the manifests.")
    ] = "none",
    ci: Annotated[Literal["github", "gitlab", "both"], typer.Option("--ci", help="The host of the CI files.")] = "both",
) -> int:
    """Write the files of a new repository, CI included; leave every file that is there.

    It asks nothing. The exit code is 1 if a file is there with another content.
    """
    from tfgitops.spec.disk import shown
    from tfgitops.starting.newrepository import write_repository

    hosts = ("github", "gitlab") if ci == "both" else (ci,)
    left = False
    for file, written in write_repository(path, gitops, hosts):
        left |= not written
        print(f"{'wrote' if written else 'left '}  {shown(file)}{'/' if file.is_dir() else ''}")
    if left:
        print("\nThe files that `init` left have another content. To compare, run it in an empty folder.")
    print("\nNext:", *_next_steps(path), sep="\n  ")
    return int(left)


def _next_steps(path: Path) -> list[str]:
    from tfgitops.spec.disk import is_there
    from tfgitops.starting.newrepository import ENVIRONMENTS

    steps = [("edit CODEOWNERS", "who approves a change")]
    if path.resolve() != Path.cwd():
        steps.insert(0, (f"cd {shlex.quote(str(path))}", ""))
    if not is_there(path / ".git"):
        steps.insert(-1, ("git init --initial-branch=main", "CI runs on the branch main"))
    specs = {"base.yaml": "your image, and what all trainings share", "prod/environment.yaml": "your trainings"}
    there = [name for name in specs if is_there(path / ENVIRONMENTS / name)]
    steps[-1:-1] = [(f"edit {ENVIRONMENTS}/{name}", specs[name]) for name in there]
    steps.insert(-1, (f"tfgitops import FILE -o {ENVIRONMENTS}/NAME", "if you have Volcano Jobs or TFJobs"))
    steps.insert(-1, ("tfgitops build", "then commit the specs with the manifests"))
    return [f"{command:<43}{reason}".rstrip() for command, reason in steps]
