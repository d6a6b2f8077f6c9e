"""The files of an environment: each planned object as text with its header, and a kustomization where one is wanted."""

from __future__ import annotations

import os
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from tfgitops.compiler.compiled import File
from tfgitops.compiler.emit import emit
from tfgitops.spec.committed import with_header
from tfgitops.spec.diagnostics import Problem
from tfgitops.targets.gitops import KUSTOMIZATION, kustomization

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfgitops.planning.plan import Planned
    from tfgitops.spec.model import Environment
    from tfgitops.targets.routes import Route

_ANNOTATION_MAX = 262_144  # Kubernetes: all annotations of an object together
_REQUEST_MAX = 1_500_000  # etcd's default limit of a request is 1.5 MiB


def files(environment: Environment, objects: Iterable[Planned]) -> Iterator[File]:
    """Yield each file of an environment, in the order of applying."""
    names = {
        document.path: Path(os.path.relpath(document.path, environment.folder)).as_posix()
        for document in environment.places.documents
    }

    def source(route: Route) -> str:
        """Name the file, relative to the environment, and the route that a manifest comes from."""
        document, written = environment.places.find(route)
        return " ".join(filter(None, (names[document.path], ".".join(map(str, written[len(document.prefix) :])))))

    for planned in objects:
        text = planned.text or with_header(emit(planned.manifest), source(planned.because), planned.own)
        yield File(path=planned.path, text=text)
    if environment.data.get("kustomization"):
        for folder, group in groupby(objects, key=lambda planned: planned.folder):
            body = emit(kustomization([planned.file for planned in group]))
            yield File(path=f"{folder}/{KUSTOMIZATION}", text=with_header(body, source(("kustomization",))))


def too_large(environment: Environment, files: Iterable[File], objects: Iterable[Planned]) -> Iterator[Problem]:
    """Yield a problem for each manifest that is larger than an apply or the API server takes."""
    for file, planned in zip(files, objects, strict=False):
        if len(file.text) > _ANNOTATION_MAX:
            yield from _too_large(environment, planned, len(file.text))


def _too_large(environment: Environment, planned: Planned, size: int) -> Iterator[Problem]:
    """Say that a manifest is larger than what applies it can take."""
    what = f"the manifest of {planned.manifest['kind']} '{planned.manifest['metadata']['name']}' has {size:,} bytes"
    at, hint = planned.because, "fewer replicas, or scripts and data in the image or on a volume"
    if size > _REQUEST_MAX:
        message = f"{what}, and Kubernetes stores {_REQUEST_MAX:,} at most"
        yield Problem(code="TF501", message=message, at=at, on_key=True, hint=hint)
    elif environment.gitops != "flux":
        message = f"{what}, and a client-side apply keeps a copy in an annotation, which takes {_ANNOTATION_MAX:,}"
        hint += "; or apply on the server: kubectl --server-side, Argo CD ServerSideApply=true"
        yield Problem(code="TF502", message=message, at=at, on_key=True, hint=hint, severity="warning")
