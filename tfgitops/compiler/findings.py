"""Collect the diagnostics of one compile, and check an environment and its manifests by plugins and by size."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfgitops.spec.diagnostics import CompileError, Problem, has_errors
from tfgitops.spec.model import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet

    from tfgitops.admission.allowances import Allowances
    from tfgitops.compiler.compiled import File
    from tfgitops.planning.plan import Planned
    from tfgitops.plugins.door import Plugins
    from tfgitops.spec.diagnostics import Diagnostic
    from tfgitops.spec.disk import Answer
    from tfgitops.spec.model import Environment
    from tfgitops.spec.places import Places

_ANNOTATION_MAX = 262_144  # Kubernetes: all annotations of an object together
_REQUEST_MAX = 1_500_000  # etcd's default limit of a request is 1.5 MiB


class Findings:
    """The diagnostics so far, and the planned objects. No stage runs after one with errors.

    ``faults`` of plugins are separate, because they do not make the spec wrong. They end the compile before a stage
    that needs complete manifests.
    """

    def __init__(self, plugins: Plugins) -> None:
        self.found: list[Diagnostic] = []
        self.faults = list(plugins.faults)
        self.environment: Environment | None = None
        self.objects: list[Planned] = []
        self.answers: AbstractSet[Answer] = frozenset()
        self._plugins = plugins
        self.allowances: Allowances | None = None

    def allow(self, environment: Environment, day: str) -> list[Problem]:
        """Suppress what an environment allows, earlier diagnostics too; return the problems of its exceptions."""
        from tfgitops.admission.allowances import Allowances  # noqa: PLC0415 - for environments with exceptions alone

        self.allowances = Allowances(environment, self._plugins.schema.environment, day)
        self.found = list(self.allowances.sift_read(self.found))
        return self.allowances.problems

    def leftovers(self, *, finished: bool) -> list[Diagnostic]:
        """Return a diagnostic for each exception that suppressed nothing."""
        return [*self.allowances.leftovers(self._plugins.codes, finished=finished)] if self.allowances else []

    def tell(self, places: Places, problems: Iterable[Problem]) -> None:
        """Add problems, and go on after an error."""
        self.found += self.allowances.sift(problems) if self.allowances else places.diagnose(problems)

    def add(self, places: Places, problems: Iterable[Problem], faults: Iterable[Problem] = ()) -> None:
        """Add the problems of a stage, and the faults of its plugins; raise CompileError if there is an error."""
        self.tell(places, problems)
        self.faults += places.diagnose(faults)
        self.stop_on_errors()

    def stop_on_errors(self, *, faults: bool = False) -> None:
        """Raise CompileError if there is an error or, with ``faults``, a fault of a plugin."""
        if has_errors(self.found) or (faults and self.faults):
            raise CompileError(())


def check_environment(environment: Environment, plugins: Plugins, findings: Findings) -> None:
    """Add the problems that plugins find in an environment. The blocks of pinned jobs are not in force."""
    faults: list[Problem] = []
    asked = plugins.ask("tfgitops_check_environment", (), faults, environment=environment)
    pinned = {job.route for job in environment.jobs if job.pin}
    problems = (problem for _, problem in asked if problem.at[:2] not in pinned)
    findings.add(environment.places, problems, faults)


def check_manifests(environment: Environment, objects: Iterable[Planned], plugins: Plugins, findings: Findings) -> None:
    """Add the problems that plugins find in the manifests; those of a pinned job are at its pin."""
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
    """Yield a problem for each manifest that is too large for an apply or for the API server."""
    for file, planned in zip(files, objects, strict=False):
        if (size := len(file.text)) <= _ANNOTATION_MAX:
            continue
        what = f"the manifest of {planned.manifest['kind']} '{planned.manifest['metadata']['name']}' has {size:,} bytes"
        at, hint = planned.because, "fewer replicas, or data in the image or on a volume"
        if size > _REQUEST_MAX:
            message = f"{what}, and Kubernetes stores {_REQUEST_MAX:,} at most"
            yield Problem(code="TF501", message=message, at=at, on_key=True, hint=hint)
        elif environment.gitops != "flux":
            message = f"{what}, and a client-side apply keeps a copy in an annotation, which takes {_ANNOTATION_MAX:,}"
            hint += "; or apply on the server: kubectl --server-side, Argo CD ServerSideApply=true"
            yield Problem(code="TF502", message=message, at=at, on_key=True, hint=hint, severity="warning")
