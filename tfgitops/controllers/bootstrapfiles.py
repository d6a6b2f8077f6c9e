"""The files below ``bootstrap/`` of an environment: by these objects its controller finds and applies the manifests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tfgitops.controllers.argocd import argocd_objects
from tfgitops.controllers.fluxcd import flux_objects
from tfgitops.spec.committed import MANIFESTS
from tfgitops.spec.diagnostics import Problem
from tfgitops.spec.disk import is_there, resolved
from tfgitops.targets.kubernetes.names import suggest_label
from tfgitops.targets.volcano.identity import short_digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from tfgitops.planning.plan import Planned
    from tfgitops.spec.model import Environment

KEY = "bootstrap"
_ONE_SIDED = {
    "server": ("argocd", "Argo CD", "Flux applies to the cluster in which it runs"),
    "secret": ("flux", "Flux", "Argo CD finds the Secret of a repository by the URL in it"),
}
_NAME_MAX = 52
"""Flux writes the name of a Kustomization, with the folder behind it, into a label: 63 characters."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """What a controller must know of an environment: its repository, its path there, and its objects.

    ``settings`` is the block `bootstrap` of the spec.
    """

    environment: Environment
    objects: Sequence[Planned]
    settings: Mapping[str, Any]
    path: str

    @property
    def repo(self) -> str:
        """The URL of the repository."""
        return str(self.settings["repo"])

    @property
    def revision(self) -> str:
        """The branch, the whole reference or the commit that is applied."""
        return str(self.settings.get("revision", "main"))

    @property
    def manifests(self) -> str:
        """The folder of the manifests, from the top of the repository."""
        return f"{self.path}/{MANIFESTS}".removeprefix("./")

    @property
    def name(self) -> str:
        """The name of the controller's objects: the repository, and the environment's path without `environments`."""
        repository = self.repo.rstrip("/").rpartition("/")[2].removesuffix(".git")
        steps = [step for step in self.path.split("/") if step not in ("environments", ".")]
        whole = "-".join([repository, *steps])
        name = suggest_label(whole)
        if len(name) <= _NAME_MAX:
            return name
        return f"{name[: _NAME_MAX - 9].rstrip('-')}-{short_digest(whole)}"


def check_bootstrap(environment: Environment) -> Iterator[Problem]:
    """Find what `bootstrap` needs beside it, or cannot have."""
    settings = environment.data.get(KEY) or {}
    if settings and environment.gitops == "none":
        hint = "write `gitops: argocd` or `gitops: flux`: the objects are those of the controller"
        message = "`bootstrap` needs a controller, and `gitops` names none"
        yield Problem(code="TF204", message=message, at=(KEY,), on_key=True, hint=hint)
        return
    for key in settings.keys() & _ONE_SIDED.keys():
        controller, title, instead = _ONE_SIDED[key]
        if controller != environment.gitops:
            message = f"`{key}` is for {title}, and `gitops` is {environment.gitops}"
            yield Problem(code="TF203", message=message, at=(KEY, key), on_key=True, hint=f"leave it out: {instead}")


def bootstrap_objects(
    environment: Environment, objects: Sequence[Planned], root: Path
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the path below ``bootstrap/`` and the manifest of each object for the environment's controller.

    Paths in them start at the top of the Git repository, which is above ``root`` where a pyproject.toml below it makes
    the root.
    """
    if settings := environment.data.get(KEY):
        root = resolved(root)
        top = next((folder for folder in (root, *root.parents) if is_there(folder / ".git")), root)
        path = resolved(environment.folder).relative_to(top).as_posix()
        target = Target(environment=environment, objects=objects, settings=settings, path=path)
        yield from {"argocd": argocd_objects, "flux": flux_objects}[environment.gitops](target)
