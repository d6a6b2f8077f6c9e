"""What `explain` tells, as one JSON document for other programs (docs/explain.md)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tfgitops.report.as_json import VERSION, problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tfgitops.provenance.lookup import Field
    from tfgitops.provenance.origins import Origin
    from tfgitops.provenance.summary import Summary
    from tfgitops.spec.diagnostics import Diagnostic, Span


def render(told: Mapping[str, Any], diagnostics: Iterable[Diagnostic]) -> str:
    """Return ``{version, problems, …}``: what was asked for beside what is wrong with the environment."""
    document = {"version": VERSION, "problems": [problem(found) for found in diagnostics], **told}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def field(found: Field) -> dict[str, Any]:
    """Return ``{field, route, value, origins}`` of one field."""
    return {
        "field": found.name, "route": list(found.at), "value": found.value,
        "origins": [_origin(origin) for origin in found.origins],
    }  # fmt: skip


def fields(found: Sequence[Field]) -> list[dict[str, Any]]:
    """Return all fields of a part of a manifest."""
    return [field(one) for one in found]


def summary(found: Summary) -> dict[str, Any]:
    """Return a job in short."""
    return {
        "name": found.job,
        **_place(found.span),
        "object": found.object,
        "namespace": found.namespace,
        "bases": [{"name": name, **_place(span)} for name, span in found.bases],
        "strategy": {"name": found.strategy, "why": found.why},
        "queue": {"name": found.queue, "origin": _origin(found.queue_origin)},
        "pods": found.pods,
        "minAvailable": found.min_available,
        "roles": [
            {
                "name": part.name,
                "pods": part.pods,
                "requests": dict(part.requests),
                "images": list(part.images),
                **_place(part.span),
            }
            for part in found.parts
        ],
        "total": dict(found.total),
    }


def _origin(origin: Origin) -> dict[str, Any]:
    return {
        "layer": origin.layer, "through": origin.through, "won": origin.won, "route": list(origin.route),
        "value": origin.value, **_place(origin.span), "note": origin.note,
    }  # fmt: skip


def _place(span: Span) -> dict[str, Any]:
    return {"file": span.file, "line": span.line, "column": span.column}
