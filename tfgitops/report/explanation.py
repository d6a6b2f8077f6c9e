"""Answer `explain`: find the object or fields that somebody asks for, and tell of them as text or for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.provenance.fields import written
from tfgitops.provenance.lookup import fields, route_of, select, title
from tfgitops.provenance.origins import Provenance
from tfgitops.provenance.summary import summarize
from tfgitops.report import explanation_text
from tfgitops.report.as_json import place
from tfgitops.spec.committed import MANIFESTS
from tfgitops.spec.disk import shown

if TYPE_CHECKING:
    from tfgitops.compiler.compiled import Compiled
    from tfgitops.plugins.door import Plugins
    from tfgitops.provenance.lookup import Field
    from tfgitops.provenance.origins import Origin
    from tfgitops.provenance.summary import Summary
    from tfgitops.report.explanation_text import Paper


def answer(compiled: Compiled, plugins: Plugins, wanted: str | None, field: str | None, paper: Paper | None) -> Any:
    """Return the text about an object and a field of it, or without ``paper`` a part of a JSON document.

    Without ``wanted`` it is the list of all objects, without ``field`` a job in short. Raises CompileError if there is
    no such object or field.
    """
    environment = compiled.environment
    assert environment is not None
    if wanted is None:
        rows = [
            (title(planned, environment), planned.manifest["metadata"]["name"], f"{MANIFESTS}/{planned.path}")
            for planned in compiled.objects
        ]
        if paper:
            return explanation_text.listing(rows, paper)
        return {"objects": [dict(zip(("object", "name", "manifest"), row, strict=True)) for row in rows]}
    provenance = Provenance(environment, plugins)
    planned = select(compiled, wanted)
    name, manifest = title(planned, environment), f"{shown(compiled.folder)}/{MANIFESTS}/{planned.path}"
    head = {"object": name, "manifest": manifest}
    job = environment.job_of(planned.manifest) if planned.own else None
    if job and field is None:
        told = summarize(planned, job, provenance)
        return explanation_text.job_summary(told, manifest, paper) if paper else {**head, "job": _summary(told)}
    at = route_of(planned, environment, field or ".", provenance)
    found = fields(planned, at, provenance)
    if not paper:
        return {**head, "fields": [_field(one) for one in found]}
    if len(found) == 1 and found[0].at == at:
        return explanation_text.chain(name, found[0], paper)
    heading = name if not at else f"{name}  {written(planned.manifest, at)}"
    return explanation_text.blame(heading, planned.manifest, at, found, paper)


def _field(found: Field) -> dict[str, Any]:
    origins = [_origin(origin) for origin in found.origins]
    return {"field": found.name, "route": list(found.at), "value": found.value, "origins": origins}


def _summary(found: Summary) -> dict[str, Any]:
    return {
        "name": found.job,
        **place(found.span),
        "object": found.object,
        "namespace": found.namespace,
        "bases": [{"name": name, **place(span)} for name, span in found.bases],
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
                **place(part.span),
            }
            for part in found.parts
        ],
        "total": dict(found.total),
    }


def _origin(origin: Origin) -> dict[str, Any]:
    return {
        "layer": origin.layer, "through": origin.through, "won": origin.won, "route": list(origin.route),
        "value": origin.value, **place(origin.span), "note": origin.note,
    }  # fmt: skip
