"""Reviews all environments: the manifests at the merge base against what the working tree compiles to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfgitops.compiler.pipeline import compile_environment
from tfgitops.review import phrases
from tfgitops.review.environmentreview import (
    BaseFiles,
    cluster_at,
    committed,
    differences_of,
    moved_between,
    review_environment,
    review_gone,
    sort_changes,
)
from tfgitops.review.history import find_base
from tfgitops.review.queues import queue_totals, refused_queues
from tfgitops.review.reviewresult import EnvironmentReview, Review
from tfgitops.review.risks import risks_of
from tfgitops.spec.diagnostics import CompileError
from tfgitops.spec.disk import is_there, shown
from tfgitops.spec.project import SPEC, survey

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.compiler.session import Session
    from tfgitops.review.changes import Change
    from tfgitops.review.history import Base
    from tfgitops.spec.diagnostics import Problem


def review(session: Session, results: Sequence[Compiled], paths: Iterable[Path], ref: str | None = None) -> Review:
    """Review compiled environments, and those below the same paths that only the base has.

    Raises CompileError if Git cannot read the base.
    """
    base = _base(session, [*_places(results, paths), *session.project.versions], ref)
    found = _compared(session, results, base)
    found = _with_refused_queues(moved_between(sorted(found, key=lambda one: one.name), base, session))
    problems: list[Problem] = []
    accelerators = [one for _, one in session.plugins.ask("tfgitops_accelerators", (), problems)]
    others = _others(session, found)
    return Review(
        ref=base.ref, commit=base.commit, environments=tuple(found), risks=tuple(risks_of(found, base)),
        queues=tuple(queue_totals(found, accelerators, others)),
        beside=tuple(phrases.named(one.folder) for one in others),
        outside=tuple(phrases.near(shown(path)) for path in session.project.versions if base.has_changed(path)),
    )  # fmt: skip


def _base(session: Session, places: Iterable[Path], ref: str | None) -> Base:
    try:
        return find_base(session.project.root, places, ref)
    except CompileError as error:  # then an absent path may never have existed
        raise CompileError([*(problem for _, problem in session.absent), *error.diagnostics]) from error


def _compared(session: Session, results: Iterable[Compiled], base: Base) -> list[EnvironmentReview]:
    """Review each environment that exists now or existed at one of the requested paths."""
    was = committed(base, session.folders)
    never = [
        problem
        for path, problem in session.absent
        if not any(f"{folder}/".startswith(f"{base.path(path)}/") or base.path(path) == "." for folder in was)
    ]
    if never:
        raise CompileError(never)
    found: list[EnvironmentReview] = []
    for compiled in results:
        found += _on_its_clusters(compiled, was.pop(base.path(compiled.folder), None), base, session)
    for folder, old in was.items():
        place = base.top / folder
        if old.manifests and not is_there(place / SPEC):
            found.append(replace(review_gone(place, old, base), **differences_of(place, ())))
    known = {one.folder for one in found}
    for left in session.abandoned:  # manifests that had no spec at the base either
        if left not in known:
            found.append(
                EnvironmentReview(
                    name=phrases.named(left), folder=left, state="compared", cluster=left.name,
                    **differences_of(left, ()),
                )
            )  # fmt: skip
    return found


def _on_its_clusters(
    compiled: Compiled, was: BaseFiles | None, base: Base, session: Session
) -> Iterator[EnvironmentReview]:
    """Review an environment; one whose `cluster` changed is gone from the old cluster and new on the present one."""
    environment = compiled.environment
    if was and was.manifests and environment and compiled.ok:
        cluster = cluster_at(base, was, compiled.folder)
        if cluster not in (None, environment.cluster):
            yield replace(review_gone(compiled.folder, was, base), other_cluster=environment.cluster)
            yield replace(review_environment(compiled, None, base, session), other_cluster=str(cluster))
            return
    yield review_environment(compiled, was, base, session)


def _others(session: Session, found: Iterable[EnvironmentReview]) -> list[Compiled]:
    """Compile the neighbours of the reviewed environments on the same clusters, which share their queues."""
    clusters = {one.cluster for one in found}
    beside = {one.folder.parent for one in found} - {session.project.root}
    folders = {folder for parent in beside for folder in survey(parent).environments} - {*session.folders}
    compiled = [compile_environment(folder, session.plugins, session.project) for folder in sorted(folders)]
    return [one for one in compiled if one.ok and one.environment and one.environment.cluster in clusters]


def _places(results: Iterable[Compiled], paths: Iterable[Path]) -> list[Path]:
    """Return the reviewed folders and the files of their specs."""
    folders = [path.parent if path.name == SPEC else path for path in paths]
    environments = [compiled.environment for compiled in results if compiled.environment]
    return [*folders, *(document.path for one in environments for document in one.places.documents)]


def _with_refused_queues(found: list[EnvironmentReview]) -> list[EnvironmentReview]:
    """Mark the changes of Queues that Volcano will refuse, and say why."""
    why = refused_queues(found)

    def marked(change: Change) -> Change:
        return replace(change, verdict="refused", reason=why[id(change)]) if id(change) in why else change

    return [replace(one, changes=tuple(sort_changes(map(marked, one.changes)))) for one in found]
