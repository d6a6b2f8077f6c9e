"""Why fields of a job differ since a commit: followed to where they are said, and to where they were said then."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from tfgitops.planning.plan import Planned
from tfgitops.provenance.origins import Provenance
from tfgitops.review.changes import ABSENT
from tfgitops.review.specdifferences import SpecDifferences
from tfgitops.targets.routes import reach

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfgitops.plugins.door import Plugins
    from tfgitops.provenance.origins import Origin
    from tfgitops.review.changes import Change, FieldChange
    from tfgitops.review.committedspecs import CommittedSpec
    from tfgitops.review.specdifferences import SpecDifference
    from tfgitops.spec.model import Job
    from tfgitops.targets.routes import Route

    Found = list[tuple[SpecDifference, Origin | None]]


class Since:
    """Explains fields by what the specs say otherwise than in a commit.

    What is found are differences, each with the origin of the field, where that is what differs.
    """

    def __init__(self, past: CommittedSpec, plugins: Plugins, present: Provenance) -> None:
        self.specs = SpecDifferences(past)
        self._past = past
        self._plugins = plugins
        self._present = present

    def explain(
        self, job: Job, planned: Planned, change: Change, fields: Iterable[FieldChange]
    ) -> tuple[Found, list[FieldChange]]:
        """Return what made fields differ, and the fields of which that cannot be told."""
        found: Found = []
        left = []
        for field in fields:
            told = self._told(job, planned, change, field)
            found += told
            if not told:
                left.append(field)
        return found, left

    def rest(self, job: Job, planned: Planned, change: Change, left: Iterable[FieldChange], found: Found) -> Found:
        """Return what else differs, and may be why the fields that are left do.

        What stands outside of jobs can be that of a field which a plugin gave another value.
        """
        known = {one for one, _ in found}
        rest = [one for one in self.specs.of_job(job) if one not in known]
        changed = (field for field in left if field.before is not ABSENT)
        both = ((*origins(self._present, planned, field), *self._origins_then(job, change, field)) for field in changed)
        if not rest and any(origin.through for several in both for origin in several):
            rest = [one for one in self.specs.of_environment() if one not in known]
        return [(one, None) for one in rest]

    def _told(self, job: Job, planned: Planned, change: Change, field: FieldChange) -> Found:
        new = list(origins(self._present, planned, field))
        old = list(self._origins_then(job, change, field))
        told: Found = [(one, origin) for origin in new for one in self.specs.said(origin)]
        known, still = {one for one, _ in told}, {origin.at for _, origin in told if origin}
        moved = (one for origin in old if origin.at not in still for one in self.specs.unsaid(job, origin))
        told += [(one, None) for one in moved if one not in known]
        if not told and _places(new) != _places(old):
            told = [(one, None) for one in self.specs.led(job)]
        return told

    @cached_property
    def _provenance(self) -> Provenance | None:
        return Provenance(self._past.environment, self._plugins) if self._past.environment else None

    def _origins_then(self, job: Job, change: Change, field: FieldChange) -> Iterator[Origin]:
        """Yield where a field came from; nothing where the manifest is not what the specs of its commit say."""
        if self._provenance is None or field.before is ABSENT or change.before is None:
            return
        assert self._past.environment is not None
        then = self._past.environment.by_name.get(job.name)
        tasks = [task.get("name") for task in change.before["spec"].get("tasks") or ()]
        if then is None or then.pin or tasks != [role.name for role in then.roles]:
            return
        planned = Planned(manifest=change.before, folder="", file="", because=then.route, own=then.own)
        try:
            yield from origins(self._provenance, planned, field, then=True)
        except (LookupError, TypeError):  # a manifest that is older than its specs, or was edited
            return


def origins(provenance: Provenance, planned: Planned, field: FieldChange, *, then: bool = False) -> Iterator[Origin]:
    """Yield what gave a field its value, now or then: of a list, what gave the elements that only one side has."""
    mine, other, at = (field.before, field.after, field.was) if then else (field.after, field.before, field.at)
    if mine is ABSENT:
        return
    routes: list[Route] = [at]
    if isinstance(mine, list) and isinstance(other, list):
        routes = [(*at, index) for index, one in enumerate(mine) if one not in other and _is_there(planned, at, one)]
        if not routes and all(one in mine for one in other):
            routes = [at]
    for route in routes:
        yield from provenance.winners(planned, route)


def _is_there(planned: Planned, at: Route, element: Any) -> bool:
    """Tell whether a list holds an element: where its order differs, it is the names that were compared."""
    held = reach(planned.manifest, at)
    return isinstance(held, list) and element in held


def _places(found: Iterable[Origin]) -> set[tuple[str, Route]]:
    return {(origin.span.file, origin.at) for origin in found}
