"""Find what a build refuses to write beside restarts: files that a pin keeps and Git does not, and stuck objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfgitops.provenance.origins import Provenance
from tfgitops.review.phrases import fields_of
from tfgitops.review.pinhistory import uncommitted_pins
from tfgitops.spec.diagnostics import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.compiler.session import Session
    from tfgitops.planning.plan import Planned
    from tfgitops.review.changes import Change
    from tfgitops.review.lastruns import LastRuns

_WAY_OUT = "or delete it in the cluster, and take it out of the spec in an earlier commit"


def refusals(compiled: Compiled, wanted: Sequence[Planned], last: LastRuns, session: Session) -> Iterator[Diagnostic]:
    """Yield an error for each of some files of an environment that must not be written as it is."""
    environment = compiled.environment
    assert environment is not None
    yield from uncommitted_pins(compiled, last)
    provenance = Provenance(environment, session.plugins)
    there = last.committed(compiled.folder, [one for one in wanted if not one.text], last.at(compiled))
    for one in wanted:
        change = there[one.path].change(one) if one.path in there else None
        if change and change.verdict == "refused":
            (name, old, new), *_ = fields_of(change)
            first = change.hard[0]
            origin = None if first.gone else next(iter(provenance.winners(one, first.at)), None)
            yield Diagnostic(
                code="TF501", span=origin.span if origin else environment.places.span(one.because),
                hint=f"{another_name(change)}; {_WAY_OUT}",
                message=f"{change.kind} '{change.title}' is committed, and its {name} cannot change from {old} to "
                f"{new}: the cluster refuses the update, and the sync stops there",
            )  # fmt: skip


def another_name(change: Change) -> str:
    """Return the advice to replace an object that cannot change, and the price of it."""
    if change.kind == "PersistentVolumeClaim":
        return "declare a volume under another name, and copy the data: the trainings that mount it restart"
    return "give the object another name"
