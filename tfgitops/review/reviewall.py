"""Reviews all environments: the manifests at the merge base against what the working tree compiles to."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from tfgitops.compiler.pipeline import compile_environment
from tfgitops.compiler.session import compile_each
from tfgitops.review import phrases
from tfgitops.review.changes import identity
from tfgitops.review.environmentreview import (
    cluster_at,
    committed,
    differences_of,
    joined_between,
    names_cluster,
    review_environment,
    review_gone,
)
from tfgitops.review.history import find_base
from tfgitops.review.pairing import training
from tfgitops.review.queues import queue_totals, with_refused
from tfgitops.review.rereading import manifest_in
from tfgitops.review.reviewresult import EnvironmentReview, Review
from tfgitops.review.risks import risks_of
from tfgitops.spec.committed import MANIFESTS, read_header
from tfgitops.spec.diagnostics import CompileError, Diagnostic
from tfgitops.spec.disk import is_there, shown
from tfgitops.spec.project import SPEC, survey
from tfgitops.targets.gitops import kept_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.compiler.session import Session
    from tfgitops.review.history import Base
    from tfgitops.review.queues import Kept
    from tfgitops.spec.diagnostics import Problem


def review(session: Session, results: Sequence[Compiled], paths: Iterable[Path], ref: str | None = None) -> Review:
    """Review compiled environments, and those below the same paths that only the base has.

    Raises CompileError if Git cannot read the base.
    """
    base = _base(session, [*_places(results, paths), *session.project.versions], ref)
    found = _compared(session, results, base)
    asked = {one.folder for one in found}
    if any(one.state in ("new", "gone") for one in found):  # it may have moved, from or to where nobody looks
        base = _base(session, [session.project.root, *_places(results, paths), *session.project.versions], ref)
        found = _compared(session, [*results, *_new(session, base)], base)
    found = joined_between(sorted(found, key=lambda one: one.name), base, session)
    found = [one for one in found if {one.folder, one.moved} & asked]
    others = _others(session, found)
    found = with_refused(found, _kept(found, base), others)
    problems: list[Problem] = []
    accelerators = [one for _, one in session.plugins.ask("tfgitops_accelerators", (), problems)]
    return Review(
        ref=base.ref, commit=base.commit, environments=tuple(found), risks=tuple(risks_of(found, base, others)),
        queues=tuple(queue_totals(found, accelerators, others)),
        beside=tuple(phrases.named(one.folder) for one in others),
        outside=tuple(phrases.near(shown(path)) for path in session.project.versions if base.has_changed(path)),
    )  # fmt: skip


def _new(session: Session, base: Base) -> Iterator[Compiled]:
    """Compile the environments that the base does not have, without those that are reviewed in any case."""
    for folder in survey(session.project.root).environments:
        if folder not in session.folders and base.path(folder / SPEC) not in base.blobs:
            yield compile_environment(folder, session.plugins, session.project)


def _kept(environments: Sequence[EnvironmentReview], base: Base) -> Kept:
    """Return what earlier commits removed from Git and no controller prunes: the last manifests of queues and claims.

    They stand by cluster, and by what identifies the object. Git does not know what was deleted by hand since.
    """
    kept: Kept = defaultdict(dict)
    tops = {f"{base.path(one.home)}/{MANIFESTS}/": one for one in environments if one.changes and not one.other_cluster}
    removed = base.removed([*tops], ("queue-", "pvc-")) if tops else {}
    for top, path in ((top, path) for top in tops for path in removed if path.startswith(top)):
        text = removed[path].decode(errors="replace")
        manifest = manifest_in(text) if read_header(text) else None
        if manifest and (kept_by(manifest) or tops[top].controller == "none"):
            kept[tops[top].cluster].setdefault(identity(manifest), manifest)
    return kept


def stuck_queues(compiled: Compiled, head: Base) -> Iterator[Diagnostic]:
    """Yield a problem for each change of queues since HEAD that stays refused however often it is applied."""
    was = committed(head, [compiled.folder]).get(head.path(compiled.folder))
    routes = {planned.path: planned.because for planned in compiled.objects}
    for one in with_refused(_on_its_clusters(compiled, was, head), {}):
        for change in one.changes:
            if change.stuck and compiled.environment:
                at = (*routes[change.path], "queue") if change.is_job else routes[change.path]
                yield Diagnostic(
                    code="TF607", span=compiled.environment.places.span(at, on_key=not change.is_job),
                    message=f"{change.kind} '{change.title}' can never be applied after HEAD: {change.reason}",
                    hint=f"{change.way_out}; --queues-at-once builds it all the same, if the cluster is not as in HEAD",
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
        found += _on_its_clusters(compiled, was.pop(base.path(compiled.folder), None), base)
    for folder, old in was.items():
        place = base.top / folder
        gone = review_gone(place, old, base) if old and not is_there(place / SPEC) else None
        if gone and (gone.changes or base.path(place / SPEC) in base.blobs):  # else others wrote it
            found.append(replace(gone, **differences_of(place, ())))
    found = _renamed(found)
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


def _renamed(found: Sequence[EnvironmentReview]) -> list[EnvironmentReview]:
    """Put what is gone on the cluster of the new folder that has most of it, if neither spec names a cluster."""
    new = [one for one in found if one.state == "new" and one.compiled and not names_cluster(one.compiled.environment)]
    gone = [one for one in found if one.state == "gone" and one.cluster == one.folder.name and not one.other_cluster]
    clusters: dict[Path, str] = {}
    for one in new:
        most = max(gone, key=lambda other: len(_known(one) & _known(other)), default=one)
        if most is not one and _known(one) & _known(most):
            clusters[most.folder] = one.cluster
    return [replace(one, cluster=clusters.get(one.folder, one.cluster)) for one in found]


def _known(one: EnvironmentReview) -> set[tuple[str, ...]]:
    """Return by what a cluster knows the objects of an environment, and its trainings."""
    manifests = [change.manifest for change in one.changes]
    return {*map(identity, manifests), *filter(None, map(training, manifests))}


def _on_its_clusters(compiled: Compiled, was: Mapping[str, str] | None, base: Base) -> Iterator[EnvironmentReview]:
    """Review an environment; one whose `cluster` changed is gone from the old cluster and new on the present one."""
    environment = compiled.environment
    if was and environment and compiled.ok:
        cluster = cluster_at(base, compiled.folder)
        if cluster not in (None, environment.cluster):
            yield replace(review_gone(compiled.folder, was, base), other_cluster=environment.cluster)
            yield replace(review_environment(compiled, None, base), other_cluster=str(cluster))
            return
    yield review_environment(compiled, was, base)


def _others(session: Session, found: Iterable[EnvironmentReview]) -> list[Compiled]:
    """Compile the neighbours of the reviewed environments on the same clusters, which share their queues and claims."""
    clusters, root = {one.cluster for one in found}, session.project.root
    tops = (next((up for up in one.folder.parents if up.name == "environments"), one.folder.parent) for one in found)
    beside = {*tops} - {root, *root.parents}
    folders = {folder for parent in beside for folder in survey(parent).environments}
    folders -= {*session.folders, *(one.folder for one in found)}
    return [
        one
        for one in compile_each(session, sorted(folders))
        if one.ok and one.environment and one.environment.cluster in clusters
    ]


def _places(results: Iterable[Compiled], paths: Iterable[Path]) -> list[Path]:
    """Return the reviewed folders and the files of their specs."""
    folders = [path.parent if path.name == SPEC else path for path in paths]
    environments = [compiled.environment for compiled in results if compiled.environment]
    return [*folders, *(document.path for one in environments for document in one.places.documents)]
