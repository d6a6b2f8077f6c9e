"""The compiler at one glance: load → validate → resolve → plan → admit → emit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfgitops.admission.admit import admit
from tfgitops.compiler.compiled import Compiled, bootstrap_files, files
from tfgitops.compiler.findings import Findings, check_environment, check_manifests, check_sizes
from tfgitops.planning.plan import Planner
from tfgitops.spec.diagnostics import CompileError, ordered
from tfgitops.spec.disk import Disk, resolved
from tfgitops.spec.formerkeys import former_names, with_present_keys
from tfgitops.spec.load import load
from tfgitops.spec.places import inherited
from tfgitops.spec.resolve import resolve
from tfgitops.spec.schema.validation import validate_parts
from tfgitops.spec.textfiles import completed

if TYPE_CHECKING:
    from pathlib import Path

    from tfgitops.compiler.compiled import File
    from tfgitops.plugins.door import Plugins
    from tfgitops.spec.project import Project


def compile_environment(folder: Path, plugins: Plugins, project: Project | None = None) -> Compiled:
    """Compile the environment of a folder. Writes no file, and raises nothing for a bad spec or plugin."""
    findings = Findings(plugins)
    written: tuple[File, ...] = ()
    bootstrap: tuple[File, ...] = ()
    try:
        written, bootstrap = _compile(folder, plugins.afresh(), project, findings)
        left_over = findings.leftovers(finished=True)
    except CompileError as error:
        left_over = [*error.diagnostics, *findings.leftovers(finished=False)]
    return Compiled(
        folder=folder, diagnostics=tuple(ordered([*findings.found, *findings.faults, *left_over])),
        allowances=findings.allowances, environment=findings.environment, objects=tuple(findings.objects),
        files=written, bootstrap=bootstrap, answers=findings.answers,
    )  # fmt: skip


def _compile(
    folder: Path, plugins: Plugins, project: Project | None, findings: Findings
) -> tuple[tuple[File, ...], tuple[File, ...]]:
    source = load(folder, project)
    findings.found += source.warnings
    if source.project.settings:
        from tfgitops.plugins.settingsfile import judge_settings  # noqa: PLC0415 - most repositories have none

        findings.found += judge_settings(source.project, plugins)
    source = replace(source, documents=with_present_keys(source.documents, plugins.schema))
    findings.found += inherited(former_names(source.documents), source.documents[0])
    findings.found += inherited(validate_parts(source.documents, plugins.schema), source.documents[0])
    findings.stop_on_errors()
    documents, unread = completed(source.documents, plugins.schema, Disk(resolved(source.project.root), source.answers))
    findings.found += inherited(unread, source.documents[0])
    findings.stop_on_errors()
    findings.answers = source.answers

    source = replace(source, documents=documents)
    environment, places, problems = resolve(source, plugins.schema)
    if environment and environment.data.get("allow"):
        problems += findings.allow(environment, source.day)
    findings.add(places, problems)
    assert environment is not None  # else there was an error
    check_environment(environment, plugins, findings)
    if "bootstrap" in environment.data:
        from tfgitops.controllers.bootstrapfiles import check_bootstrap  # noqa: PLC0415 - few specs ask for the files

        findings.add(places, check_bootstrap(environment))

    planner = Planner(environment, plugins, source.committed)
    objects = planner.plan()
    findings.environment, findings.objects = environment, objects
    findings.add(places, planner.problems, planner.faults)
    if planner.faults or not plugins.whole:  # the next stages need complete manifests
        findings.stop_on_errors(faults=True)
    environment = planner.environment

    findings.add(places, admit(environment, objects, plugins))
    check_manifests(environment, objects, plugins, findings)
    findings.stop_on_errors(faults=True)
    findings.environment = environment
    written = tuple(files(environment, objects))
    findings.tell(places, check_sizes(environment, written, objects))
    if "bootstrap" not in environment.data:
        return written, ()
    return written, tuple(bootstrap_files(environment, objects, source.project.root))
