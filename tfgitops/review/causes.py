"""The cause of each difference that a review reports: the line of a spec, or the origin of a field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tfgitops.planning.plan import Planned
from tfgitops.provenance.origins import Provenance
from tfgitops.review.committedspecs import CommittedSpec
from tfgitops.review.specdifferences import SpecDifferences
from tfgitops.spec.committed import MANIFESTS
from tfgitops.spec.schema.formats import RESERVED_ENV
from tfgitops.targets.routes import MISSING, reach

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfgitops.compiler.session import Session
    from tfgitops.plugins.door import Plugins
    from tfgitops.provenance.origins import Origin
    from tfgitops.review.changes import Change, FieldChange
    from tfgitops.review.history import Base
    from tfgitops.review.specdifferences import File, SpecDifference
    from tfgitops.spec.diagnostics import Span
    from tfgitops.spec.model import Environment, Job
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
        changed = (field for field in left if field.before is not MISSING)
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
        if self._provenance is None or field.before is MISSING or change.before is None:
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
    if mine is MISSING:
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


_TASKS = ("spec", "tasks")


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Cause:
    """A place in a spec: its line, and its route as it is written there.

    ``own`` is whether it stands in a file of the environment's own, and not in one that it extends; ``gone`` is whether
    it stood there, and the line is the nearest that is left.
    """

    span: Span
    route: Route
    own: bool
    gone: bool = False

    @property
    def label(self) -> str:
        """The route for people, such as ``defaults.image``."""
        return (".".join(map(str, self.route)) or "the spec") + (" (removed)" if self.gone else "")


class Causes:
    """Finds the causes of some jobs' new runs in one environment.

    Where the specs of the base do not say why a field differs, its manifests may be older than they are: then the specs
    of the commit that wrote the manifests are asked. ``stale`` are the names of the jobs of which they know more.
    """

    def __init__(self, environment: Environment, session: Session, base: Base | None, jobs: Iterable[Job]) -> None:
        """Look into an environment for some of its jobs; without a base nobody knows what was said."""
        self.stale: set[str] = set()
        self._environment = environment
        self._session = session
        self._base = base
        self._jobs = frozenset(job.name for job in jobs)
        self._present = Provenance(environment, session.plugins)
        self._documents = {document.name: document for document in environment.places.documents}

    def of(self, job: Job, planned: Planned, change: Change) -> list[Cause]:
        """Return the causes of a job's new run, sorted; none where no line of the specs is one."""
        asked = {id(other): other for field in change.hard for other in _asked_by(field, change)}
        fields = list(asked.values())
        if self._since is None:
            return self._said_now(job, planned, fields)
        found, left = self._since.explain(job, planned, change, fields)
        unpinned: Found = [(one, None) for one in self._since.specs.pins(job)]
        if left and not unpinned:
            more, left = self._explain_by_older(job, planned, change, left)
            found += more
            if not found and self._older is None:  # nobody knows what was said when the manifests were written
                return self._said_now(job, planned, fields)
        if left and not unpinned and (not found or any(field.gone for field in left)):
            found += self._since.rest(job, planned, change, left, found)
        return sorted({self._cause(*one) for one in (*found, *unpinned)})

    @cached_property
    def _since(self) -> Since | None:
        return self._after(self._base) if self._base else None

    @cached_property
    def _older(self) -> Since | None:
        """What differs since the manifests were written; None where nobody knows when that was."""
        assert self._base is not None
        folder = self._environment.folder
        files = [folder, *(document.path for document in self._environment.places.documents)]
        older = self._base.newest(self._base.path(folder / MANIFESTS), files)
        return self._since if older is self._base else self._after(older) if older else None

    def _after(self, base: Base) -> Since:
        plugins, root = self._session.plugins, self._session.project.root
        past = CommittedSpec(now=self._environment, base=base, root=root, schema=plugins.schema, jobs=self._jobs)
        return Since(past, plugins, self._present)

    def _explain_by_older(
        self, job: Job, planned: Planned, change: Change, fields: list[FieldChange]
    ) -> tuple[Found, list[FieldChange]]:
        """Explain fields by the specs of the commit that wrote the manifests; return those that are left, too."""
        if self._older is None or self._older is self._since:
            return [], fields
        found, left = self._older.explain(job, planned, change, fields)
        if found:
            self.stale.add(job.name)
        return found, left

    def _said_now(self, job: Job, planned: Planned, fields: Iterable[FieldChange]) -> list[Cause]:
        """Return the lines that give the fields that differ, and are not the job's own: nobody changed that."""
        said = {
            self._place(self._documents[origin.span.file], origin.at)
            for field in fields
            for origin in origins(self._present, planned, field)
            if not isinstance(origin.value, Mapping) and not origin.through and origin.at
        }
        return sorted(cause for cause in said if not (cause.own and cause.route[:2] == job.route))

    def _cause(self, difference: SpecDifference, origin: Origin | None) -> Cause:
        """Return the place of a difference, or of what comes from there."""
        document, route = difference.place
        if origin is not None and len(origin.at) > len(route):
            route = origin.at
        if difference.kind != "removed":
            return self._place(document, route)
        home = document.home(route)
        there = difference.now or self._environment.places.documents[0]
        span = there.span(home[:-1] if isinstance(home[-1], int) else home)
        return Cause(span=span, route=home, own=self._is_own(document), gone=True)

    def _place(self, document: File, route: Route) -> Cause:
        return Cause(span=document.span(route), route=document.home(route), own=self._is_own(document))

    def _is_own(self, document: File) -> bool:
        return bool(document.prefix) or document.path.parent == self._environment.folder


def _asked_by(field: FieldChange, change: Change) -> Iterator[FieldChange]:
    """Yield the fields that a field follows from: addresses follow from how many pods there are of each role."""
    sizes = [other for other in change.fields if _is_size(other)] if is_discovery(field) else []
    yield from sizes or [field]


def is_discovery(field: FieldChange) -> bool:
    """Tell whether a field is a variable that tells pods each other's addresses, or their own."""
    return bool(RESERVED_ENV.fullmatch(field.path.rpartition(".env[")[2].partition("]")[0]))


def _is_size(field: FieldChange) -> bool:
    inner = field.at[len(_TASKS) + 1 :]
    return field.at[: len(_TASKS)] == _TASKS and (inner == ("replicas",) or not inner)
