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
from tfgitops.resolve import resolve
from tfgitops.validate import validate
from tfgitops.view import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfgitops.diagnostics import Diagnostic, Route
    from tfgitops.load import Source
    from tfgitops.model import Environment
    from tfgitops.plan import Planned
    from tfgitops.plugins import Plugins
    from tfgitops.project import Project
    from tfgitops.schema import SpecSchema


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
    """

    folder: Path
    diagnostics: tuple[Diagnostic, ...]
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
    """Compile one environment's folder; reads its files, writes none, and raises nothing for a bad spec."""
    findings = _Findings()
    try:
        environment, objects = _compile(folder, plugins, project, findings)
    except CompileError as error:
        return Compiled(
            folder=folder, diagnostics=tuple(ordered([*findings.found, *error.diagnostics])),
            environment=findings.environment, objects=tuple(findings.objects),
        )  # fmt: skip
    files = tuple(_files(environment, objects))
    for file, planned in zip(files, objects, strict=False):
        if len(file.text) > _ANNOTATION_MAX:
            findings.found += environment.places.diagnose(_too_large(environment, planned, len(file.text)))
    return Compiled(
        folder=folder, diagnostics=tuple(ordered(findings.found)), environment=environment, objects=tuple(objects),
        files=files,
    )  # fmt: skip


def _compile(
    folder: Path, plugins: Plugins, project: Project | None, findings: _Findings
) -> tuple[Environment, list[Planned]]:
    source = load(folder, project)
    findings.found += source.warnings
    if source.project.settings:
        from tfgitops.settings import judge_settings  # noqa: PLC0415 - most repositories have none

        findings.found += judge_settings(source.project, plugins)
    findings.found += _judge_parts(source, plugins.schema)
    findings.stop_on_errors()

    environment, places, problems = resolve(source, plugins.schema)
    findings.add(places, problems)
    assert environment is not None  # else there was an error
    problems = []
    asked = plugins.ask("tfgitops_check_environment", (), problems, environment=environment)
    findings.add(places, [*_in_force(environment, asked), *problems])

    planner = Planner(environment, plugins, source.committed)
    objects = planner.plan()
    findings.environment, findings.objects = environment, objects
    findings.add(places, planner.problems)
    environment = planner.environment

    findings.add(places, admit(environment, objects, plugins))

    problems = []
    manifests = tuple(View(planned.manifest) for planned in objects)
    asked = plugins.ask("tfgitops_check_manifests", (), problems, environment=environment, manifests=manifests)
    findings.add(places, [*_at_pins(environment, asked), *problems])
    return environment, objects


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
    """All that was found so far, and what was planned; a stage reports all it can, the next never runs on bad input."""

    def __init__(self) -> None:
        self.found: list[Diagnostic] = []
        self.environment: Environment | None = None
        self.objects: list[Planned] = []

    def add(self, places: Places, problems: Iterable[Problem]) -> None:
        """Add a stage's problems.

        Raises:
            CompileError: there is an error among them.
        """
        self.found += places.diagnose(problems)
        self.stop_on_errors()

    def stop_on_errors(self) -> None:
        """End the compile where anything found forbids going on.

        Raises:
            CompileError: there is an error.
        """
        if has_errors(self.found):
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
