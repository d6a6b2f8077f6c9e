"""Compile the environments of one call, which have one root; no object may belong to two of them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tfgitops.compiler.pipeline import compile_environment
from tfgitops.plugins.discovery import discover
from tfgitops.spec.diagnostics import CompileError, Diagnostic
from tfgitops.spec.disk import resolved, shown
from tfgitops.spec.project import SPEC, Project, find_root, read_project, survey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.planning.plan import Planned
    from tfgitops.plugins.door import Plugins

    Owner = tuple[Compiled, Planned]


@dataclass(frozen=True, kw_only=True)
class Session:
    """The environments of one call.

    ``abandoned`` are folders that have manifests and no spec. ``absent`` are paths without an environment, each with
    the error to report if there never was one.
    """

    project: Project
    plugins: Plugins
    folders: Sequence[Path]
    abandoned: Sequence[Path]
    absent: Sequence[tuple[Path, Diagnostic]] = ()


def open_session(
    paths: Iterable[Path],
    without: Iterable[str] = (),
    before_plugins: Callable[[Project], object] = lambda _: None,
    *,
    keep_absent: bool = False,
) -> Session:
    """Find the environments at some paths, their root and its plugins.

    ``before_plugins`` may raise before the import of a plugin runs its code. ``keep_absent`` allows paths without an
    environment, because there may have been one. Raises CompileError if a path is missing, cannot be read or has no
    environment, or if there is more than one root.
    """
    surveys = [(path, survey(path)) for path in paths]
    kept = {id(found) for _, found in surveys if keep_absent and found.absent}
    if problems := [problem for _, found in surveys if id(found) not in kept for problem in found.problems]:
        raise CompileError(problems)
    absent = [
        (resolved(path.parent if path.name == SPEC else path), found.problems[0])
        for path, found in surveys
        if id(found) in kept
    ]
    lost = sorted({folder for _, found in surveys for folder in found.abandoned})
    folders = sorted({folder for _, found in surveys for folder in found.environments})
    roots = {find_root(folder) for folder in (*folders, *lost, *(path for path, _ in absent))}
    if len(roots) > 1:
        names = " and ".join(shown(root) for root in sorted(roots))
        raise CompileError.of("TF101", f"the environments have more than one root: {names}", "one call for each")
    project = read_project(roots.pop())
    before_plugins(project)
    plugins = discover(project, without)
    return Session(project=project, plugins=plugins, folders=folders, abandoned=lost, absent=absent)


def compile_all(session: Session, progress: Callable[[int, Path], None] = lambda *_: None) -> list[Compiled]:
    """Compile each environment; a broken one does not stop the others."""
    results = []
    for index, folder in enumerate(session.folders):
        progress(index, folder)
        results.append(compile_environment(folder, session.plugins, session.project))
    return _refuse_two_owners(results)


def _refuse_two_owners(results: list[Compiled]) -> list[Compiled]:
    """Add an error to both environments that write the same object of one cluster, so neither is written."""
    owners: dict[tuple[str, str, str, str], Owner] = {}
    extra: dict[Path, list[Diagnostic]] = defaultdict(list)
    for compiled in results:
        if compiled.environment is None or not compiled.files:
            continue
        for planned in compiled.objects:
            metadata = planned.manifest["metadata"]
            kind, namespace, name = planned.manifest["kind"], metadata.get("namespace", ""), metadata["name"]
            second = (compiled, planned)
            first = owners.setdefault((compiled.environment.cluster, kind, namespace, name), second)
            if first[0] is not compiled:
                extra[first[0].folder].append(_two_owners(second, first))
                extra[compiled.folder].append(_two_owners(first, second))
    return [
        replace(compiled, diagnostics=(*compiled.diagnostics, *extra.get(compiled.folder, ()))) for compiled in results
    ]


def _two_owners(first: Owner, second: Owner) -> Diagnostic:
    (one, theirs), (other, ours) = first, second
    assert one.environment is not None
    assert other.environment is not None
    name = f"{ours.manifest['kind']} '{ours.manifest['metadata']['name']}'"
    return Diagnostic(
        code="TF404",
        message=f"{name} is written by {shown(one.folder)} too, for the same cluster '{other.environment.cluster}'",
        span=other.environment.places.span(ours.because, on_key=True),
        hint="write it in one environment; in the other declare it as existing, or set another `cluster`",
        notes=(("the other owner", one.environment.places.span(theirs.because, on_key=True)),),
    )  # fmt: skip
