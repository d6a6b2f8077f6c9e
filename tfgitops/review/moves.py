"""Objects that go over from one environment to another: the same to a cluster, whichever folder they come from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tfgitops.review.changes import changes_of, identity, is_job, job_name
from tfgitops.review.compare import groups_of, sort_changes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tfgitops.compiler.session import Session
    from tfgitops.review.changes import Change
    from tfgitops.review.findings import EnvironmentReview
    from tfgitops.review.history import Base

    Json = dict[str, Any]
    Pairs = dict[int, tuple[Change, EnvironmentReview]]


def moved_between(found: Sequence[EnvironmentReview], base: Base, session: Session) -> list[EnvironmentReview]:
    """Join what one environment writes no more and another of the same cluster writes now.

    That is the same object, or else another run of the same job in the same namespace.
    """
    pairs: Pairs = {}
    for kin in (identity, _job):
        _pair(found, kin, pairs)
    if not pairs:
        return [*found]
    given = {id(old) for old, _ in pairs.values()}
    return [_joined(one, pairs, given, base, session) for one in found]


def _job(manifest: Json) -> tuple[str, str] | None:
    return (manifest["metadata"].get("namespace", ""), job_name(manifest)) if is_job(manifest) else None


def _pair(found: Iterable[EnvironmentReview], kin: Callable[[Json], Any], pairs: Pairs) -> None:
    """Find for what comes what goes and is its kin, each once; of what comes by its identity in memory."""
    given = {id(old) for old, _ in pairs.values()}
    changes = [(one, change) for one in found for change in one.changes]
    gone = {
        (one.cluster, known): (change, one)
        for one, change in changes
        if change.verdict == "removed" and id(change) not in given and (known := kin(change.manifest)) is not None
    }
    for one, change in changes:
        if change.verdict == "added" and id(change) not in pairs:
            old = gone.pop((one.cluster, kin(change.manifest)), None)
            if old is not None:
                pairs[id(change)] = old


def _joined(
    one: EnvironmentReview, pairs: Pairs, given: set[int], base: Base, session: Session
) -> EnvironmentReview:  # fmt: skip
    """Return an environment's review without what it gave away, and with what becomes of what it was given."""
    changes: list[Change] = []
    still: list[Change] = []
    moves: dict[str, str] = {}
    for change in one.changes:
        if id(change) in given:
            continue
        old, before = pairs.get(id(change), (None, one))
        if old is not None:
            change = changes_of(change.path, old.before, change.after)[0]  # noqa: PLW2901 - what it really is
            moves[base.path(one.folder)] = base.path(before.folder)
        (still if change.verdict == "unchanged" else changes).append(change)
    changes = sort_changes(changes)
    groups = one.groups
    if one.compiled and moves:
        groups = tuple(groups_of(one.compiled, replace(base, moves=moves), changes, session))
    return replace(
        one, changes=tuple(changes), groups=groups, unchanged=one.unchanged + len(still),
        jobs_unchanged=one.jobs_unchanged + sum(change.is_job for change in still),
        shared=bool(moves) or len(changes) + len(still) < len(one.changes),
    )  # fmt: skip
