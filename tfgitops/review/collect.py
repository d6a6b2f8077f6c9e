"""Reviews a change: what is committed at the merge base against what the working tree compiles to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfgitops.disk import is_there, kind_of, read_file
from tfgitops.load import shown
from tfgitops.pipeline import compile_environment
from tfgitops.project import LOCK, SPEC
from tfgitops.review.changes import changes_of, identity
from tfgitops.review.compare import committed, review_environment, review_gone, sort_changes
from tfgitops.review.history import find_base
from tfgitops.review.model import EnvironmentReview, Review
from tfgitops.review.queues import queue_totals, refused_queues
from tfgitops.review.risks import risks_of
from tfgitops.survey import survey

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence
    from pathlib import Path

    from tfgitops.diagnostics import Problem
    from tfgitops.pipeline import Compiled
    from tfgitops.project import Project
    from tfgitops.review.changes import Change
    from tfgitops.review.history import Base
    from tfgitops.session import Session
    from tfgitops.volcano.fault import Fault


def review(session: Session, results: Sequence[Compiled], paths: Iterable[Path], ref: str | None = None) -> Review:
    """Review compiled environments, and those below the same paths that only the base has.

    Raises:
        CompileError: Git cannot say what was there before.
    """
    base = find_base(session.project.root, [*_places(results, paths), *_versions(session.project)], ref)
    was = committed(base, session.folders)
    found = [
        review_environment(compiled, was.pop(base.path(compiled.folder), None), base, session) for compiled in results
    ]
    found += [
        review_gone(base.top / folder, old, base)
        for folder, old in was.items()
        if old.manifests and not is_there(base.top / folder / SPEC)
    ]
    found = _with_refused_queues(moved_between(sorted(found, key=lambda one: one.name)))
    problems: list[Problem] = []
    accelerators = [one for _, one in session.plugins.ask("tfgitops_accelerators", (), problems)]
    others = _others(session, {one.cluster for one in found})
    return Review(
        ref=base.ref, commit=base.commit, environments=tuple(found), risks=tuple(risks_of(found, base)),
        queues=tuple(queue_totals(found, accelerators, others)), beside=tuple(shown(one.folder) for one in others),
        outside=tuple(_outside(session.project, base)),
    )  # fmt: skip


def _others(session: Session, clusters: Container[str]) -> list[Compiled]:
    """Compile what stands beside the reviewed environments and lands on the same clusters: it shares their queues."""
    beside = {folder.parent for folder in session.folders if folder.parent != session.project.root}
    folders = {folder for parent in beside for folder in survey(parent).environments} - {*session.folders}
    compiled = [compile_environment(folder, session.plugins, session.project) for folder in sorted(folders)]
    return [one for one in compiled if one.ok and one.environment and one.environment.cluster in clusters]


def _places(results: Iterable[Compiled], paths: Iterable[Path]) -> list[Path]:
    """Return the folders that are reviewed, and the files that their specs are made of."""
    folders = [path.parent if path.name == SPEC else path for path in paths]
    environments = [compiled.environment for compiled in results if compiled.environment]
    return [*folders, *(document.path for one in environments for document in one.places.documents)]


def _versions(project: Project) -> list[Path]:
    """Return the files that name the versions of the compiler and its plugins, or are a plugin."""
    return [project.root / name for name in (LOCK, "pyproject.toml", *project.plugins)]


def _outside(project: Project, base: Base) -> Iterator[str]:
    for path in _versions(project):
        text = read_file(path).decode("utf-8", "replace") if kind_of(path) == "file" else None
        full = base.path(path)
        if (full in base.blobs) != (text is not None) or (text is not None and base.differs(full, text)):
            yield shown(path)


def moved_between(found: list[EnvironmentReview]) -> list[EnvironmentReview]:
    """Join what one environment writes no more and another of the same cluster writes now: it is the same object."""
    gone = {
        (one.cluster, *identity(change.manifest)): change
        for one in found
        for change in one.changes
        if change.verdict == "removed"
    }
    paired: set[int] = set()
    joined = []
    for one in found:
        changes: list[Change] = []
        still: list[Change] = []
        for change in one.changes:
            old = gone.get((one.cluster, *identity(change.manifest))) if change.verdict == "added" else None
            if old is not None:
                paired.add(id(old))
                change = changes_of(change.path, old.before, change.after)[0]  # noqa: PLW2901 - what it really is
            (still if change.verdict == "unchanged" else changes).append(change)
        jobs = sum(change.is_job for change in still)
        joined.append(
            replace(
                one, changes=tuple(sort_changes(changes)), unchanged=one.unchanged + len(still),
                jobs_unchanged=one.jobs_unchanged + jobs,
            )
        )  # fmt: skip
    return [replace(one, changes=tuple(c for c in one.changes if id(c) not in paired)) for one in joined]


def _with_refused_queues(found: list[EnvironmentReview]) -> list[EnvironmentReview]:
    """Mark the changes of Queues that Volcano will refuse, and say why."""
    refused = refused_queues(found)
    if not refused:
        return found
    marked = []
    for one in found:
        changes = [
            replace(change, verdict="refused", reason=_why(refused[id(change)])) if id(change) in refused else change
            for change in one.changes
        ]
        marked.append(replace(one, changes=tuple(sort_changes(changes))))
    return marked


def _why(fault: Fault) -> str:
    return f"while the queues below it are as they were: {fault.message}"
