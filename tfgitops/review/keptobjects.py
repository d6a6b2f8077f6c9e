"""Finds the queues and claims that earlier commits removed from Git, and that are kept in the cluster."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tfgitops.review.changes import changes_of, identity, manifest_in
from tfgitops.spec.committed import MANIFESTS, read_header
from tfgitops.targets.gitops import kept_by

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tfgitops.review.changes import Change
    from tfgitops.review.history import Base
    from tfgitops.review.reviewresult import EnvironmentReview

    Kept = Mapping[str, Mapping[Any, dict[str, Any]]]


def kept_objects(environments: Sequence[EnvironmentReview], base: Base) -> Kept:
    """Return the last manifests of what is kept, by cluster and by what identifies the object.

    Git does not know what was deleted by hand since.
    """
    kept: dict[str, dict[Any, dict[str, Any]]] = defaultdict(dict)
    tops = {
        f"{base.path(one.folder)}/{MANIFESTS}": one for one in environments if one.changes and not one.other_cluster
    }
    removed = base.removed([*tops], ("queue-", "pvc-")) if tops else {}
    for top, one in tops.items():
        for path, content in removed.items():
            text = content.decode(errors="replace")
            manifest = manifest_in(text) if path.startswith(f"{top}/") and read_header(text) else None
            if manifest and (kept_by(manifest) or one.controller == "none"):
                kept[one.cluster].setdefault(identity(manifest), manifest)
    return kept


def against_kept(change: Change, kept: Mapping[Any, dict[str, Any]]) -> Change:
    """Return what becomes of an object that is new to Git where the cluster has kept an earlier one and refuses it."""
    old = kept.get(identity(change.manifest)) if change.verdict == "added" else None
    again = changes_of(change.path, old, change.after)[0] if old else change
    if again is change or again.verdict != "refused":
        return change
    return replace(
        again, way_out="it went from Git and stayed in the cluster: take another name, unless you deleted it"
    )
