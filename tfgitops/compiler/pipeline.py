"""One environment through all stages, and the result: files, diagnostics, and the objects behind them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from tfgitops.admission.admit import admit
from tfgitops.compiler.emit import emit
from tfgitops.compiler.findings import Findings, check_environment, check_manifests, check_sizes
from tfgitops.planning.plan import Planner, level
from tfgitops.spec.committed import with_header
from tfgitops.spec.diagnostics import CompileError, as_errors, has_errors, ordered
from tfgitops.spec.load import load
from tfgitops.spec.resolve import resolve
from tfgitops.spec.schema.validation import validate_parts
from tfgitops.targets.gitops import KUSTOMIZATION, kustomization

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfgitops.admission.allowances import Allowed
    from tfgitops.planning.plan import Planned
    from tfgitops.plugins.door import Plugins
    from tfgitops.spec.diagnostics import Diagnostic
    from tfgitops.spec.model import Environment
    from tfgitops.spec.project import Project
    from tfgitops.targets.routes import Route


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
