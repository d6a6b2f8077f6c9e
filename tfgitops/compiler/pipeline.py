"""The compiler in one glance: load → validate → resolve → plan → admit → emit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfgitops.admission.admit import admit
from tfgitops.compiler.compiled import Compiled
from tfgitops.compiler.files import files, too_large
from tfgitops.compiler.findings import Findings
from tfgitops.compiler.pluginchecks import check_environment, check_manifests
from tfgitops.planning.plan import Planner
from tfgitops.spec.diagnostics import CompileError, ordered
from tfgitops.spec.load import load
from tfgitops.spec.resolve import resolve
from tfgitops.spec.schema.validation import validate_parts

if TYPE_CHECKING:
    from pathlib import Path

    from tfgitops.planning.plan import Planned
    from tfgitops.plugins.door import Plugins
    from tfgitops.spec.model import Environment
    from tfgitops.spec.project import Project


def compile_environment(folder: Path, plugins: Plugins, project: Project | None = None) -> Compiled:
    """Compile one environment's folder; reads its files, writes none, and raises nothing for a bad spec or plugin."""
    findings = Findings(plugins.faults)
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
    written = tuple(files(environment, objects))
    findings.tell(environment.places, too_large(environment, written, objects))
    findings.found += findings.leftovers(plugins, finished=True)
    return Compiled(
        folder=folder, diagnostics=tuple(ordered(findings.found)), allowed=findings.allowed(), environment=environment,
        objects=tuple(objects), files=written,
    )  # fmt: skip


def _compile(
    folder: Path, plugins: Plugins, project: Project | None, findings: Findings
) -> tuple[Environment, list[Planned]]:
    source = load(folder, project)
    findings.found += source.warnings
    if source.project.settings:
        from tfgitops.plugins.settingsfile import judge_settings  # noqa: PLC0415 - most repositories have none

        findings.found += judge_settings(source.project, plugins)
    findings.found += validate_parts(source.documents, plugins.schema)
    findings.stop_on_errors()

    environment, places, problems = resolve(source, plugins.schema)
    if environment and environment.data.get("allow"):
        problems += findings.allow(environment, plugins, source.day)
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
    return environment, objects
