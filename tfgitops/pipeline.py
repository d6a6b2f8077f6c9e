"""The compiler in one glance: load → validate → resolve → plan → admit → emit."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from tfgitops.admit import admit
from tfgitops.diagnostics import CompileError, Problem, as_errors, has_errors, ordered
from tfgitops.emit import emit
from tfgitops.gitops.kustomize import KUSTOMIZATION, kustomization
from tfgitops.headers import with_header
from tfgitops.load import load
from tfgitops.places import Places
from tfgitops.plan import Planner
from tfgitops.plugins.seals import Seal
from tfgitops.resolve import resolve
from tfgitops.validate import validate
from tfgitops.view import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfgitops.allowances import Allowances, Allowed
    from tfgitops.diagnostics import Diagnostic, Route
    from tfgitops.load import Source
    from tfgitops.model import Environment
    from tfgitops.plan import Planned
    from tfgitops.plugins.door import Plugins
    from tfgitops.project import Project
    from tfgitops.schema.spec import SpecSchema


_ANNOTATION_MAX = 262_144  # Kubernetes: all annotations of an object together
_REQUEST_MAX = 1_500_000  # etcd's default limit of a request is 1.5 MiB


@dataclass(frozen=True, kw_only=True)
class File:
    """One generated file: its path relative to ``manifests/``, and its text."""

    path: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Compiled:
    """What came of one environment: its files, unless something is wrong, and all that is to be said.

    The environment, and the objects that could be planned, are also there where something is wrong with the manifests.
    ``allowed`` is what would be to be said, were it not allowed by the environment.
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


def compile_environment(folder: Path, plugins: Plugins, project: Project | None = None) -> Compiled:
    """Compile one environment's folder; reads its files, writes none, and raises nothing for a bad spec or plugin."""
    findings = _Findings(plugins.faults)
    try:
        environment, objects = _compile(folder, plugins.afresh(), project, findings)
        findings.stop_on_errors(faults=True)
    except CompileError as error:
        left = findings.leftovers(plugins, finished=False)
        return Compiled(
            folder=folder,
            diagnostics=tuple(ordered([*findings.found, *findings.faults, *error.diagnostics, *left])),
            allowed=findings.allowed(), environment=findings.environment, objects=tuple(findings.objects),
        )  # fmt: skip
    files = tuple(_files(environment, objects))
    for file, planned in zip(files, objects, strict=False):
        if len(file.text) > _ANNOTATION_MAX:
            findings.tell(environment.places, _too_large(environment, planned, len(file.text)))
    findings.found += findings.leftovers(plugins, finished=True)
    return Compiled(
        folder=folder, diagnostics=tuple(ordered(findings.found)), allowed=findings.allowed(), environment=environment,
        objects=tuple(objects), files=files,
    )  # fmt: skip


def _compile(
    folder: Path, plugins: Plugins, project: Project | None, findings: _Findings
) -> tuple[Environment, list[Planned]]:
    source = load(folder, project)
    findings.found += source.warnings
    if source.project.settings:
        from tfgitops.plugins.settings import judge_settings  # noqa: PLC0415 - most repositories have none

        findings.found += judge_settings(source.project, plugins)
    findings.found += _judge_parts(source, plugins.schema)
    findings.stop_on_errors()

    environment, places, problems = resolve(source, plugins.schema)
    if environment and environment.data.get("allow"):
        problems += findings.allow(environment, plugins, source.day)
    findings.add(places, problems)
    assert environment is not None  # else there was an error
    seal = Seal(environment, plugins)
    _ask_about_environment(environment, plugins, findings)

    planner = Planner(environment, plugins, source.committed)
    objects = planner.plan()
    findings.environment, findings.objects = environment, objects
    findings.add(places, planner.problems, planner.faults)
    if planner.faults or not plugins.whole:  # what is missing in the manifests is not the spec's fault
        findings.stop_on_errors(faults=True)
    environment = planner.environment

    findings.add(places, admit(environment, objects, plugins))
    _ask_about_manifests(environment, objects, plugins, findings, seal)
    return environment, objects


def _ask_about_environment(environment: Environment, plugins: Plugins, findings: _Findings) -> None:
    faults: list[Problem] = []
    asked = plugins.ask("tfgitops_check_environment", (), faults, environment=environment)
    findings.add(environment.places, _in_force(environment, asked), faults)


def _ask_about_manifests(
    environment: Environment, objects: Iterable[Planned], plugins: Plugins, findings: _Findings, seal: Seal
) -> None:
    faults: list[Problem] = []
    manifests = tuple(View(planned.manifest) for planned in objects)
    accelerators = tuple(one for _, one in plugins.ask("tfgitops_accelerators", (), faults))
    asked = plugins.ask(
        "tfgitops_check_manifests", (), faults, environment=environment, manifests=manifests,
        accelerators=accelerators,
    )  # fmt: skip
    findings.add(environment.places, [*_at_pins(environment, asked)], [*faults, *seal.broken()])


def _in_force(environment: Environment, asked: Iterable[tuple[str, Problem]]) -> Iterator[Problem]:
    """Leave out what plugins say of pinned jobs' blocks: not they are what runs, but what was committed."""
    pinned = {job.route for job in environment.jobs if job.pin}
    return (problem for _, problem in asked if problem.at[:2] not in pinned)


def _at_pins(environment: Environment, asked: Iterable[tuple[str, Problem]]) -> Iterator[Problem]:
    """Show what plugins say of a pinned job's manifest where the spec asks for that manifest: at the pin."""
    pinned = {job.route for job in environment.jobs if job.pin}
    for _, problem in asked:
        yield replace(problem, at=(*problem.at[:2], "pin")) if problem.at[:2] in pinned else problem


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


class _Findings:
    """All that was found so far, and what was planned; a stage reports all it can, the next never runs on bad input.

    Faults of plugins are no bad input: they are told beside what is wrong with the spec, and end the compile where the
    manifests are not whole without those plugins.
    """

    def __init__(self, faults: Iterable[Diagnostic]) -> None:
        self.found: list[Diagnostic] = []
        self.faults = list(faults)
        self.environment: Environment | None = None
        self.objects: list[Planned] = []
        self._allowances: Allowances | None = None

    def allow(self, environment: Environment, plugins: Plugins, day: str) -> list[Problem]:
        """Leave out from here on, and of what was read, what an environment allows; return what is wrong with that."""
        from tfgitops.allowances import Allowances  # noqa: PLC0415 - for environments with exceptions alone

        self._allowances = Allowances(environment, plugins.schema.environment, day)
        self.found = list(self._allowances.sift_read(self.found))
        return self._allowances.problems

    def allowed(self) -> tuple[Allowed, ...]:
        """Return what was left out."""
        return self._allowances.allowed if self._allowances else ()

    def leftovers(self, plugins: Plugins, *, finished: bool) -> list[Diagnostic]:
        """Return what is to be said of exceptions that nothing needed."""
        return [*self._allowances.leftovers(plugins.codes, finished=finished)] if self._allowances else []

    def tell(self, places: Places, problems: Iterable[Problem]) -> None:
        """Add problems that end nothing."""
        self.found += self._allowances.sift(problems) if self._allowances else places.diagnose(problems)

    def add(self, places: Places, problems: Iterable[Problem], faults: Iterable[Problem] = ()) -> None:
        """Add a stage's problems, and the faults of plugins that came up while it found them.

        Raises:
            CompileError: there is an error among the problems.
        """
        self.tell(places, problems)
        self.faults += places.diagnose(faults)
        self.stop_on_errors()

    def stop_on_errors(self, *, faults: bool = False) -> None:
        """End the compile where anything found forbids going on, or a plugin's fault does.

        Raises:
            CompileError: there is an error.
        """
        if has_errors(self.found) or (faults and self.faults):
            raise CompileError(())


def _judge_parts(source: Source, schema: SpecSchema) -> Iterator[Diagnostic]:
    """Judge each file by itself: what is wrong in one is shown there, also where a stronger one overrides it."""
    for document in source.documents:
        shape = schema.job if document.prefix else schema.environment
        problems = validate(document.value, shape, document.prefix, part=True)
        yield from Places(documents=(document,)).diagnose(problems)


def _files(environment: Environment, objects: Iterable[Planned]) -> Iterator[File]:
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
