"""One environment through all stages, and the result: files, diagnostics, and the objects behind them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from tfgitops.admission.admit import admit
from tfgitops.compiler.emit import emit
from tfgitops.planning.plan import Planner, level
from tfgitops.spec.committed import with_header
from tfgitops.spec.diagnostics import CompileError, Problem, as_errors, has_errors, ordered
from tfgitops.spec.load import load
from tfgitops.spec.model import View
from tfgitops.spec.resolve import resolve
from tfgitops.spec.schema.validation import validate_parts
from tfgitops.targets.gitops import KUSTOMIZATION, kustomization

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfgitops.admission.allowances import Allowances, Allowed
    from tfgitops.planning.plan import Planned
    from tfgitops.plugins.door import Plugins
    from tfgitops.spec.diagnostics import Diagnostic
    from tfgitops.spec.model import Environment
    from tfgitops.spec.places import Places
    from tfgitops.spec.project import Project
    from tfgitops.targets.routes import Route


class Findings:
    """The diagnostics so far, and the planned objects; a stage reports all it can, the next never runs on bad input.

    Faults of plugins are no bad input: they stand beside the problems of the spec, and end the compile where the
    manifests are not whole without those plugins.
    """

    def __init__(self, plugins: Plugins) -> None:
        self.found: list[Diagnostic] = []
        self.faults = list(plugins.faults)
        self.environment: Environment | None = None
        self.objects: list[Planned] = []
        self._plugins = plugins
        self._allowances: Allowances | None = None

    def allow(self, environment: Environment, day: str) -> list[Problem]:
        """Suppress the diagnostics that an environment allows, earlier ones too; return the faults of exceptions."""
        from tfgitops.admission.allowances import Allowances  # noqa: PLC0415 - for environments with exceptions alone

        self._allowances = Allowances(environment, self._plugins.schema.environment, day)
        self.found = list(self._allowances.sift_read(self.found))
        return self._allowances.problems

    @property
    def allowed(self) -> tuple[Allowed, ...]:
        """The diagnostics that an exception suppressed."""
        return self._allowances.allowed if self._allowances else ()

    def leftovers(self, *, finished: bool) -> list[Diagnostic]:
        """Return a diagnostic for each exception that nothing needed."""
        return [*self._allowances.leftovers(self._plugins.codes, finished=finished)] if self._allowances else []

    def tell(self, places: Places, problems: Iterable[Problem]) -> None:
        """Add problems that end nothing."""
        self.found += self._allowances.sift(problems) if self._allowances else places.diagnose(problems)

    def add(self, places: Places, problems: Iterable[Problem], faults: Iterable[Problem] = ()) -> None:
        """Add a stage's problems, and the faults of plugins that came up while it found them.

        Raises CompileError if there is an error among the problems.
        """
        self.tell(places, problems)
        self.faults += places.diagnose(faults)
        self.stop_on_errors()

    def stop_on_errors(self, *, faults: bool = False) -> None:
        """End the compile after an error, or with ``faults`` after a plugin's fault.

        Raises CompileError if there is an error.
        """
        if has_errors(self.found) or (faults and self.faults):
            raise CompileError(())


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


@dataclass(frozen=True, kw_only=True)
class File:
    """One generated file: its path relative to ``manifests/``, and its text."""

    path: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Compiled:
    """The result of one environment: its files, unless something is wrong, and all diagnostics.

    The environment, and the objects that could be planned, are also there where something is wrong with the manifests.
    ``allowed`` are the diagnostics that an exception suppresses.
    """

    folder: Path
    diagnostics: tuple[Diagnostic, ...]
    allowed: tuple[Allowed, ...] = ()
    environment: Environment | None = None
    objects: tuple[Planned, ...] = field(default=(), repr=False)
    files: tuple[File, ...] = field(default=(), repr=False)

    @property
    def ok(self) -> bool:
        """Whether nothing forbids writing the files."""
        return not has_errors(self.diagnostics)

    def as_strict(self) -> Compiled:
        """Return the same with warnings as errors."""
        return replace(self, diagnostics=tuple(as_errors(self.diagnostics)))


def files(environment: Environment, objects: Iterable[Planned]) -> Iterator[File]:
    """Yield each object's manifest with its header, in the order of applying, and kustomizations where wanted."""
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


def documents(results: Iterable[Compiled]) -> str:
    """Return the manifests of all environments as one stream of YAML documents, in the order of applying."""
    found = [file for compiled in results if compiled.ok for file in compiled.files]
    found = [file for file in found if not file.path.endswith(f"/{KUSTOMIZATION}")]
    return "---\n".join(file.text for file in sorted(found, key=lambda file: level(file.path.partition("/")[0])))


def compile_environment(folder: Path, plugins: Plugins, project: Project | None = None) -> Compiled:
    """Compile one environment's folder; reads its files, writes none, and raises nothing for a bad spec or plugin."""
    findings = Findings(plugins)
    written: tuple[File, ...] = ()
    try:
        written = _compile(folder, plugins.afresh(), project, findings)
        left_over = findings.leftovers(finished=True)
    except CompileError as error:
        left_over = [*error.diagnostics, *findings.leftovers(finished=False)]
    return Compiled(
        folder=folder, diagnostics=tuple(ordered([*findings.found, *findings.faults, *left_over])),
        allowed=findings.allowed, environment=findings.environment, objects=tuple(findings.objects), files=written,
    )  # fmt: skip


def _compile(folder: Path, plugins: Plugins, project: Project | None, findings: Findings) -> tuple[File, ...]:
    source = load(folder, project)
    findings.found += source.warnings
    if source.project.settings:
        from tfgitops.plugins.settingsfile import judge_settings  # noqa: PLC0415 - most repositories have none

        findings.found += judge_settings(source.project, plugins)
    findings.found += validate_parts(source.documents, plugins.schema)
    findings.stop_on_errors()

    environment, places, problems = resolve(source, plugins.schema)
    if environment and environment.data.get("allow"):
        problems += findings.allow(environment, source.day)
    findings.add(places, problems)
    assert environment is not None  # else there was an error
    check_environment(environment, plugins, findings)

    planner = Planner(environment, plugins, source.committed)
    objects = planner.plan()
    findings.environment, findings.objects = environment, objects
    findings.add(places, planner.problems, planner.faults)
    if planner.faults or not plugins.whole:  # what is missing in the manifests is not the spec's fault
        findings.stop_on_errors(faults=True)
    environment = planner.environment

    findings.add(places, admit(environment, objects, plugins))
    check_manifests(environment, objects, plugins, findings)
    findings.stop_on_errors(faults=True)
    findings.environment = environment
    written = tuple(files(environment, objects))
    findings.tell(places, check_sizes(environment, written, objects))
    return written
