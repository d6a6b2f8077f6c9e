"""`tfgitops bootstrap`: write the objects by which Argo CD or Flux applies environments."""

from __future__ import annotations

import shlex
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from tfgitops.cli.commandapp import FormatOption, NoColour, Paths, Quiet

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tfgitops.pins.deliver import Delivery
    from tfgitops.spec.diagnostics import Diagnostic


class Controller(StrEnum):
    """The controllers that apply environments."""

    argocd = "argocd"
    flux = "flux"


def bootstrap(
    controller: Annotated[Controller, typer.Argument(help="The controller.")],
    paths: Paths = None,
    repo: Annotated[str, typer.Option("--repo", metavar="URL", help="This repository, as the controller has it.")] = "",
    revision: Annotated[
        str, typer.Option("--revision", metavar="NAME", help="The branch, whole reference or commit; main by default.")
    ] = "",
    format_: FormatOption = "text",
    quiet: Quiet = False,
    no_color: NoColour = False,
) -> int:  # fmt: skip
    """Write the objects by which Argo CD or Flux applies environments: puts `bootstrap` into the specs."""
    from tfgitops.cli.environments import compiled, opened, undisturbed
    from tfgitops.pins.bootstrapping import bootstrap_environment, refuse_others
    from tfgitops.report.show import show
    from tfgitops.spec.diagnostics import has_errors

    settings = {key: value for key, value in (("repo", repo), ("revision", revision)) if value}
    _refuse_wrong(settings)
    session = opened(paths, None)
    found: list[Diagnostic] = []
    results = compiled(session, found)
    if has_errors(found):
        return show(found, format_, no_colour=no_color, session=session)
    refuse_others(results, controller)
    if not repo and any("bootstrap" not in (one.environment.data if one.environment else {}) for one in results):
        raise typer.BadParameter("--repo is missing: give the URL of this repository, as the controller reaches it")
    telling = format_ == "text" and not quiet
    for one in results:
        with undisturbed(one.folder):
            done, keys = bootstrap_environment(one, controller, settings, session)
        if telling:
            print("\n".join(_told(one.folder, done, keys)))
    if telling:
        print(*_next(controller, [one.folder for one in results]), sep="\n")
    return show((), format_, no_colour=no_color)


def _refuse_wrong(settings: dict[str, str]) -> None:
    from tfgitops.spec.schema.formats import complain

    for key, value in settings.items():
        if problem := complain(f"git-{'url' if key == 'repo' else key}", value):
            raise typer.BadParameter(f"--{key}: {problem.message}; {problem.hint or f'write {problem.expected}'}")


def _told(folder: Path, done: Delivery, keys: list[str]) -> list[str]:
    from tfgitops.report.buildreport import changed_files
    from tfgitops.spec.committed import BOOTSTRAP
    from tfgitops.spec.disk import shown

    told = [f"edited  {shown(folder / 'environment.yaml')}  {', '.join(keys)}"] * bool(keys)
    told += [f"{word}  {path}" for word, path in changed_files(done, check=False)]
    return told or [f"{shown(folder / BOOTSTRAP)}: nothing changed"]


def _next(controller: Controller, folders: list[Path]) -> Iterator[str]:
    """Yield what to do with the files; one environment stands for the others."""
    from tfgitops.spec.committed import BOOTSTRAP
    from tfgitops.spec.disk import shown

    top = shlex.quote(shown(folders[0] / BOOTSTRAP))
    others = ", for each environment as for the first:" * (len(folders) > 1)
    yield f"next: run `tfgitops build`, commit, and push; then{others}"
    if controller is Controller.argocd:
        yield f"  kubectl patch configmap argocd-cm --namespace argocd --patch-file {top}/argocd-cm/argocd-cm.yaml"
        yield f"  kubectl apply --server-side -f {top}/argocd/appproject.yaml -f {top}/argocd/application.yaml"
    else:
        yield f"  kubectl apply --server-side -f {top}/flux/"
