"""The causes of new runs: the lines of the specs that changed since a commit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
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
    """Explains changed fields by the differences between the specs and those of a commit.

    A difference at the origin of a field comes with that origin.
    """

    def __init__(self, past: CommittedSpec, plugins: Plugins, present: Provenance) -> None:
        self.specs = SpecDifferences(past)
        self._past = past
        self._plugins = plugins
        self._present = present

    def explain(
        self, job: Job, planned: Planned, change: Change, fields: Iterable[FieldChange]
    ) -> tuple[Found, list[FieldChange]]:
        """Return the differences that changed some fields, and the fields that no difference explains."""
        found: Found = []
        left = []
        for field in fields:
            told = self._told(job, planned, change, field)
            found += told
            if not told:
                left.append(field)
        return found, left

    def rest(self, job: Job, planned: Planned, change: Change, left: Iterable[FieldChange], found: Found) -> Found:
        """Return the other differences, any of which may have changed the fields that are left.

        Differences outside of jobs count only if a plugin made one of the fields.
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
        told: Found = [(one, origin) for origin in new for one in self.specs.said(origin)]
        known, still = {one for one, _ in told}, {origin.at for _, origin in told if origin}
        if len(known) == len(self.specs.differences):  # the earlier origins can add none, and take as long to find
            return told
        old = list(self._origins_then(job, change, field))
        moved = (one for origin in old if origin.at not in still for one in self.specs.unsaid(job, origin))
        told += [(one, None) for one in moved if one not in known]
        if not told and _places(new) != _places(old):
            told = [(one, None) for one in self.specs.led(job)]
        return told

    @cached_property
    def _provenance(self) -> Provenance | None:
        return Provenance(self._past.environment, self._plugins) if self._past.environment else None

    def _origins_then(self, job: Job, change: Change, field: FieldChange) -> Iterator[Origin]:
        """Yield the earlier origins of a field; none where the manifest does not come from the specs of its commit."""
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
        except (LookupError, TypeError):  # the manifest is older than its specs, or was edited
            return


def origins(provenance: Provenance, planned: Planned, field: FieldChange, *, then: bool = False) -> Iterator[Origin]:
    """Yield the origins of a changed field, now or then; for two lists, those of the elements that differ."""
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
    """Tell whether a list holds an element; after a change of order, the compared elements are names."""
    held = reach(planned.manifest, at)
    return isinstance(held, list) and element in held


def _places(found: Iterable[Origin]) -> set[tuple[str, Route]]:
    return {(origin.file, origin.at) for origin in found}


_TASKS = ("spec", "tasks")


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Cause:
    """A place in a spec: its line, and its route as it is written there.

    ``own`` is whether the file belongs to the environment, and is not one that it extends. ``gone`` is whether the key
    was removed; then the line is the nearest one left.
    """

    span: Span
    route: Route
    own: bool
    gone: bool = False

    @property
    def label(self) -> str:
        """The route as text, such as ``defaults.image``."""
        return (".".join(map(str, self.route)) or "the spec") + (" (removed)" if self.gone else "")


class Causes:
    """Finds the causes of the new runs of some jobs in one environment.

    The manifests of the base may be older than its specs. So a field that these specs do not explain is compared with
    the specs of the commit that wrote the manifests. ``stale`` are the names of the jobs that only those explain.
    """

    def __init__(self, environment: Environment, session: Session, base: Base | None, jobs: Iterable[Job]) -> None:
        """Prepare to explain the new runs of ``jobs``; without a base, there are no earlier specs to compare with."""
        self.stale: set[str] = set()
        self._known: dict[Any, list[Cause]] = {}
        self._environment = environment
        self._session = session
        self._base = base
        self._jobs = frozenset(job.name for job in jobs)
        self._present = Provenance(environment, session.plugins)
        self._documents = {document.name: document for document in environment.places.documents}

    def of(self, job: Job, planned: Planned, change: Change) -> list[Cause]:
        """Return the causes of a job's new run, sorted; none if no line of the specs changed it."""
        asked = {id(other): other for field in _telling(change) for other in _asked_by(field, change)}
        fields = list(asked.values())
        if self._since is None:
            return self._said_now(job, planned, fields)
        only = self._since.specs.only(job)
        alike = only and (only, *((field.path, str(field.before), str(field.after)) for field in fields))
        if alike in self._known:
            return self._known[alike]
        found, left = self._since.explain(job, planned, change, fields)
        unpinned: Found = [(one, None) for one in self._since.specs.pins(job)]
        if left and not unpinned:
            if self._older and self._older is not self._since:
                more, left = self._older.explain(job, planned, change, left)
                found += more
                self.stale |= {job.name} if more else set()
            if not found and self._older is None:  # the specs that made the manifests are unknown
                return self._said_now(job, planned, fields)
        if left and not unpinned and (not found or any(field.gone for field in left)):
            found += self._since.rest(job, planned, change, left, found)
        causes = sorted({self._cause(*one) for one in (*found, *unpinned)})
        if alike and not left and not unpinned:  # of a thousand jobs that one difference changes, one is looked at
            self._known[alike] = causes
        return causes

    @cached_property
    def _since(self) -> Since | None:
        return self._after(self._base) if self._base else None

    @cached_property
    def _older(self) -> Since | None:
        """The differences since the manifests were written; None if the commit is unknown."""
        assert self._base is not None
        folder = self._environment.folder
        files = [folder, *(document.path for document in self._environment.places.documents)]
        older = self._base.newest(self._base.path(folder / MANIFESTS), files)
        return self._since if older is self._base else self._after(older) if older else None

    def _after(self, base: Base) -> Since:
        plugins, root = self._session.plugins, self._session.project.root
        past = CommittedSpec(now=self._environment, base=base, root=root, schema=plugins.schema, jobs=self._jobs)
        return Since(past, plugins, self._present)

    def _said_now(self, job: Job, planned: Planned, fields: Iterable[FieldChange]) -> list[Cause]:
        """Return the lines that give the changed fields, except those in the job's own block, which nobody changed."""
        said = {
            self._place(self._documents[origin.file], origin.at)
            for field in fields
            for origin in origins(self._present, planned, field)
            if not isinstance(origin.value, Mapping) and (origin.spec or not origin.through) and origin.at
        }
        return sorted(cause for cause in said if not (cause.own and cause.route[:2] == job.route))

    def _cause(self, difference: SpecDifference, origin: Origin | None) -> Cause:
        """Return the place of a difference, or the origin of a field within it."""
        document, route = difference.place
        if difference.route in document.texts:
            return self._place(document, difference.route, then=difference.then)
        if origin is not None and len(origin.at) > len(route) and origin.at not in document.texts:
            route = origin.at
        link = difference.link(route)
        if difference.kind != "removed":
            return self._place(document, route, link)
        home = link or document.home(route)
        there = difference.now or self._environment.places.documents[0]
        span = there.span(home[:-1] if isinstance(home[-1], int) else home)
        return Cause(span=span, route=home, own=self._is_own(document), gone=True)

    def _place(self, document: File, route: Route, link: Route | None = None, then: File | None = None) -> Cause:
        span = document.span(link, on_key=True) if link else document.span(route)
        if path := document.texts.get(route):
            return Cause(span=_first_changed(span, document, then, route), route=(path.name,), own=False)
        return Cause(span=span, route=link or document.home(route), own=self._is_own(document))

    def _is_own(self, document: File) -> bool:
        return bool(document.prefix) or document.path.parent == self._environment.folder


def _first_changed(span: Span, document: File, then: File | None, route: Route) -> Span:
    """Return the first line of a text file that differs from an earlier version, else the top of the file."""
    now, was = (_lines(one, route) for one in (document, then or document))
    number = next((index for index, (new, old) in enumerate(zip_longest(now, was)) if new != old), 0)
    number = min(number, len(now) - 1)
    return replace(span, line=number + 1, excerpt=now[number].rstrip("\r"))


def _lines(document: File, route: Route) -> list[str]:
    return str(reach(document.value, route[len(document.prefix) :])).split("\n")


def _asked_by(field: FieldChange, change: Change) -> Iterator[FieldChange]:
    """Yield the fields that explain a field: addresses follow from the numbers of pods."""
    sizes = [other for other in change.fields if _is_size(other)] if is_discovery(field) else []
    yield from sizes or [field]


def _telling(change: Change) -> Iterable[FieldChange]:
    """Return the fields that restart a job: those that cannot change in place, else the numbers of its pods."""
    return change.hard or filter(_is_size, change.fields)


def is_discovery(field: FieldChange) -> bool:
    """Tell whether a field belongs to a discovery variable, such as TF_CONFIG."""
    return bool(RESERVED_ENV.fullmatch(field.path.rpartition(".env[")[2].partition("]")[0]))


def _is_size(field: FieldChange) -> bool:
    inner = field.at[len(_TASKS) + 1 :]
    return field.at[: len(_TASKS)] == _TASKS and (inner == ("replicas",) or not inner)
