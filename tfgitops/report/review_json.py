"""A review as one JSON document, of the form that schemas/review.schema.json describes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.report.as_json import json_document, place, problems
from tfgitops.targets.kubernetes import quantity
from tfgitops.targets.routes import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfgitops.review.causes import Cause
    from tfgitops.review.changes import Change, FieldChange
    from tfgitops.review.reviewresult import EnvironmentReview, QueueTotals, Review
    from tfgitops.spec.diagnostics import Diagnostic

    Json = dict[str, Any]


def render(review: Review | None, diagnostics: Iterable[Diagnostic]) -> str:
    """Return the document; without a review, because there is nothing to compare with, it holds the problems alone."""
    return json_document(
        base={"ref": review.ref, "commit": review.commit} if review else None,
        environments=[_environment(one) for one in review.environments] if review else [],
        queues=[_queue(one) for one in review.queues] if review else [],
        beside=list(review.beside) if review else [],
        risks=[risk._asdict() for risk in review.risks] if review else [],
        problems=problems(diagnostics),
    )


def _environment(one: EnvironmentReview) -> Json:
    causes = {
        change.path: (*group.causes, *group.also.get(change.path, ()))
        for group in one.groups
        for change in group.changes
    }
    return {
        "name": one.name,
        "state": one.state,
        "cluster": one.cluster,
        "otherCluster": one.other_cluster or None,
        "unchanged": one.unchanged,
        "jobsUnchanged": one.jobs_unchanged,
        "changes": [_change(change, causes.get(change.path, ())) for change in one.changes],
        "differences": [{"state": found.state, "path": found.path} for found in one.differences],
        "pinned": list(one.pinned),
        "notes": list(one.notes),
    }


def _change(change: Change, causes: Iterable[Cause]) -> Json:
    return {
        "verdict": change.verdict,
        "kind": change.kind,
        "name": change.title,
        "path": change.path,
        "oldName": change.old_name or None,
        "newName": change.new_name or None,
        "fields": [_field(field, hard=field in change.hard) for field in change.fields],
        "causes": [{"route": list(one.route), **place(one.span), "removed": one.gone} for one in causes],
        "reason": change.reason or None,
    }


def _field(field: FieldChange, *, hard: bool) -> Json:
    values = dict(zip(("before", "after"), field.shown, strict=True))
    return {"path": field.path, "immutable": hard} | {k: value for k, value in values.items() if value is not MISSING}


def _queue(one: QueueTotals) -> Json:
    return {
        "cluster": one.cluster,
        "name": one.name,
        "state": one.state,
        "jobs": {"before": one.jobs_before, "after": one.jobs_after},
        "amounts": [
            {
                "resource": amount.resource,
                "title": amount.title,
                "before": _written(amount.before),
                "after": _written(amount.after),
                "capability": {"before": _written(amount.was_most), "after": _written(amount.most)},
            }
            for amount in one.amounts
        ],
    }


def _written(nanos: int | None) -> str | None:
    return None if nanos is None else quantity.write(nanos)
