"""The checks of a whole environment: those of plugins, and the size of each manifest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfgitops.spec.diagnostics import Problem
from tfgitops.spec.model import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfgitops.compiler.compiled import File
    from tfgitops.compiler.findings import Findings
    from tfgitops.planning.plan import Planned
    from tfgitops.plugins.door import Plugins
    from tfgitops.spec.model import Environment

_ANNOTATION_MAX = 262_144  # Kubernetes: all annotations of an object together
_REQUEST_MAX = 1_500_000  # etcd's default limit of a request is 1.5 MiB


def check_environment(environment: Environment, plugins: Plugins, findings: Findings) -> None:
    """Add the problems that plugins find in a resolved environment, without the blocks of pinned jobs."""
    faults: list[Problem] = []
    asked = plugins.ask("tfgitops_check_environment", (), faults, environment=environment)
    pinned = {job.route for job in environment.jobs if job.pin}
    problems = (problem for _, problem in asked if problem.at[:2] not in pinned)
    findings.add(environment.places, problems, faults)


def check_manifests(environment: Environment, objects: Iterable[Planned], plugins: Plugins, findings: Findings) -> None:
    """Add the problems that plugins find in the planned manifests; those of a pinned job stand at its pin."""
    faults: list[Problem] = []
    asked = plugins.ask(
        "tfgitops_check_manifests", (), faults, environment=environment,
        manifests=tuple(View(planned.manifest) for planned in objects),
        accelerators=tuple(one for _, one in plugins.ask("tfgitops_accelerators", (), faults)),
    )  # fmt: skip
    pins = {job.route: (*job.route, "pin") for job in environment.jobs if job.pin}
    problems = (replace(problem, at=pins.get(problem.at[:2], problem.at)) for _, problem in asked)
    findings.add(environment.places, problems, faults)


def check_sizes(environment: Environment, files: Iterable[File], objects: Iterable[Planned]) -> Iterator[Problem]:
    """Yield a problem for each manifest that is larger than an apply or the API server takes."""
    for file, planned in zip(files, objects, strict=False):
        if (size := len(file.text)) <= _ANNOTATION_MAX:
            continue
        what = f"the manifest of {planned.manifest['kind']} '{planned.manifest['metadata']['name']}' has {size:,} bytes"
        at, hint = planned.because, "fewer replicas, or scripts and data in the image or on a volume"
        if size > _REQUEST_MAX:
            message = f"{what}, and Kubernetes stores {_REQUEST_MAX:,} at most"
            yield Problem(code="TF501", message=message, at=at, on_key=True, hint=hint)
        elif environment.gitops != "flux":
            message = f"{what}, and a client-side apply keeps a copy in an annotation, which takes {_ANNOTATION_MAX:,}"
            hint += "; or apply on the server: kubectl --server-side, Argo CD ServerSideApply=true"
            yield Problem(code="TF502", message=message, at=at, on_key=True, hint=hint, severity="warning")
