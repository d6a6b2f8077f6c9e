"""Pairs what was with what will be by what a cluster knows an object by, whatever file it is in."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tfgitops.review.changes import Change, changes_of, compared, identity, is_job, job_name
from tfgitops.spec.model import JOB_LABEL
from tfgitops.targets.volcano.identity import PLACEHOLDER, digest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    Json = dict[str, Any]
    Placed = tuple[Path | None, Change]


def training(manifest: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return what all runs of a job share in a cluster, its namespace and its name; None for other objects."""
    return (manifest["metadata"].get("namespace") or "", job_name(manifest)) if is_job(manifest) else None


def paired(placed: Sequence[Placed]) -> list[tuple[Path | None, Placed]]:
    """Return the changes of one cluster with the folder of their environment, those of one object joined.

    Behind that folder stand the folder in which the object was, and the change. See `_KINS` for what counts first.
    """
    pairs: dict[int, Placed] = {}
    for kin in _KINS:
        given = {id(old) for _, old in pairs.values()}
        left = [one for one in placed if one[1].verdict == "removed" and id(one[1]) not in given]
        gone = {known: one for one in left if (known := kin(*one)) is not None}
        for home, new in placed if gone else ():
            if new.verdict == "added" and id(new) not in pairs and (old := gone.pop(kin(home, new), None)):
                pairs[id(new)] = old
    given = {id(old) for _, old in pairs.values()}
    left = [one for one in placed if id(one[1]) not in given]
    return [(home, _joined(pairs[id(one)], one) if id(one) in pairs else (home, one)) for home, one in left]


def _joined(removed: Placed, new: Change) -> Placed:
    """Join the removal of an object with its addition elsewhere."""
    home, old = removed
    if old.is_job and old.title != new.title:
        return home, replace(new, verdict="renamed", before=old.before)
    assert old.before is not None
    assert new.after is not None
    return home, compared(new.path, old.before, new.after)


def changes_between(before: Mapping[str, Json], after: Mapping[str, Json]) -> list[Change]:
    """Return the changes between two sets of manifests by path, without unchanged objects."""
    found = paired([(None, change) for change in changes_of_all(before, after)])
    return [change for _, (_, change) in found if change.verdict != "unchanged"]


def changes_of_all(before: Mapping[str, Json], after: Mapping[str, Json]) -> list[Change]:
    """Return the changes of some files, not yet paired."""
    return [change for path in {**after, **before} for change in changes_of(path, before.get(path), after.get(path))]


def _kin(manifest: Json) -> str:
    """Return a digest of what two runs of one training share whatever its name."""
    name, job = manifest["metadata"]["name"], job_name(manifest)
    text = json.dumps(manifest["spec"], ensure_ascii=False).replace(name, PLACEHOLDER)
    label = json.dumps({JOB_LABEL: job})[1:-1]
    return digest(json.loads(text.replace(label, json.dumps({JOB_LABEL: ""})[1:-1])))


_KINS: tuple[Callable[[Path | None, Change], Any], ...] = (
    lambda _, change: identity(change.manifest),
    lambda home, change: (home, training(change.manifest)) if change.is_job else None,
    lambda _, change: training(change.manifest),
    lambda home, change: (home, change.path) if change.is_job else None,  # it leaves its namespace
    lambda home, change: (home, _kin(change.manifest)) if change.is_job else None,  # it has another name
)
"""What two changes have in common if they are of one object, the surest first."""
