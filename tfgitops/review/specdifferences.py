"""The differences between a spec and the same spec in a commit, and which of them a field comes from."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from tfgitops.plugins.settingsfile import TABLE
from tfgitops.review.committedspecs import SettingsFile
from tfgitops.spec.committed import NO_NEW_RUN
from tfgitops.spec.places import role_depth
from tfgitops.spec.project import read_project
from tfgitops.targets.routes import MISSING, Route

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops.provenance.origins import Origin
    from tfgitops.review.committedspecs import CommittedSpec
    from tfgitops.spec.document import Document
    from tfgitops.spec.model import Job

    File = Document | SettingsFile
    Kind = Literal["said", "removed", "null"]


@dataclass(frozen=True, eq=False, slots=True)
class SpecDifference:
    """One change of a file: another value (``said``), a removed key, or a key that is ``null`` by now.

    ``now`` and ``then`` are the file; one is None where only the other is part of the spec. ``route`` is the outermost
    route that differs, in the wide form.
    """

    now: File | None
    then: File | None
    route: Route
    kind: Kind
    value: Any

    @property
    def file(self) -> str:
        """The name of the file."""
        document = self.now or self.then
        assert document is not None
        return document.name

    @property
    def place(self) -> tuple[File, Route]:
        """The file that has the change, or had the removed key, and the route as written there."""
        document = self.then if self.kind == "removed" else self.now
        assert document is not None
        return document, document.written(self.route)

    def link(self, route: Route) -> Route | None:
        """Return the alias or merge key of the file that brings a route, if the change is that it stands there."""
        document, _ = self.place
        other = self.then if document is self.now else self.now
        here = None if isinstance(document, SettingsFile) else document.link(route)
        there = None if other is None or isinstance(other, SettingsFile) else other.link(route)
        return here[0] if here and here != there else None

    def is_at(self, document: File | None, origin: Origin) -> bool:
        """Tell whether the change is at a field's origin, or in the block from which a plugin made the field."""
        if document is None:
            return False
        written = document.written(self.route)
        short = min(len(written), len(origin.at))
        is_block = bool(origin.through) and bool(_key(origin.at))  # and not the job, or the role, that is there
        return written[:short] == origin.at[:short] and (short == len(written) or is_block)


class SpecDifferences:
    """The differences between the files of a spec and those of a commit, for some of its jobs."""

    def __init__(self, past: CommittedSpec) -> None:
        self._past = past

    def said(self, origin: Origin) -> list[SpecDifference]:
        """Return the differences at a field's origin of today."""
        return [one for one in self._near(origin) if one.kind != "removed" and one.is_at(one.now, origin)]

    def unsaid(self, job: Job, origin: Origin) -> list[SpecDifference]:
        """Return the differences at a field's earlier origin, else those that remove or hide it elsewhere."""
        found = [one for one in self._near(origin) if one.is_at(one.then, origin)]
        return found or [one for one in self._of(job) if _hides(one, origin.at)]

    def only(self, job: Job) -> SpecDifference | None:
        """Return the one difference that a job can follow; None if there are several, or none."""
        found = [*self._of(job), *(one for one in self.differences if one.route[0] not in ("jobs", "defaults"))]
        return found[0] if len(found) == 1 else None

    def led(self, job: Job) -> list[SpecDifference]:
        """Return the differences that lead a job to other blocks or files."""
        links = [one for one in self._of(job) if one.route[:1] == ("jobs",) and one.route[2:] == ("from",)]
        return links or [one for one in self.differences if one.route == ("extends",)]

    def pins(self, job: Job) -> list[SpecDifference]:
        """Return the removed pin of a job, with which all that changed meanwhile takes effect."""
        return [one for one in self._of(job) if one.kind != "said" and one.route == (*job.route, "pin")]

    def of_job(self, job: Job) -> list[SpecDifference]:
        """Return the differences that a job has or inherits, and that can start a new run."""
        return [one for one in self._of(job) if (_key(one.route) or "extends") not in (*NO_NEW_RUN, "from")]

    def of_environment(self) -> list[SpecDifference]:
        """Return the differences outside of jobs and defaults, in blocks that plugins may read."""
        return [one for one in self.differences if one.route[0] not in ("jobs", "defaults", "extends", "allow")]

    @cached_property
    def differences(self) -> list[SpecDifference]:
        """All differences, by file."""
        past = self._past
        then = {document.name: document for document in past.documents}
        found: list[SpecDifference] = []
        for document in past.present:
            was = then.pop(document.name, None) or past.beside(document)
            if was is None or was.text != document.text or (document.texts and was.value != document.value):
                value = was.value if was else {}
                found += _between(was, document, value, document.value, document.prefix)
        for was in then.values():
            if was.prefix:  # of other files, `extends` says that they are no more
                found += _between(was, None, was.value, {}, was.prefix)
        settings = SettingsFile(root=past.root, settings=read_project(past.root).settings)
        found += _between(past.settings, settings, past.settings.settings, settings.settings, TABLE)
        return [one for one in found if not str(one.route[0]).startswith("x-")]

    @cached_property
    def _by_route(self) -> dict[Route, list[SpecDifference]]:
        """The differences by the first two keys of their route, and outside of jobs by the first alone, too."""
        found: dict[Route, list[SpecDifference]] = defaultdict(list)
        for one in self.differences:
            found[one.route[:2]].append(one)
            if len(one.route) > 1 and one.route[0] != "jobs":
                found[one.route[:1]].append(one)
        return found

    def _at(self, route: Route) -> Iterator[SpecDifference]:
        """Yield the differences at a route, below it, or above it; only its first two keys count."""
        yield from self._by_route.get(route[:2], ())
        if len(route) > 1:
            yield from (one for one in self._by_route.get(route[:1], ()) if len(one.route) == 1)

    def _near(self, origin: Origin) -> list[SpecDifference]:
        """Return the differences in the file and the block of a field's origin."""
        settings = origin.at[: len(TABLE)] == TABLE
        return [one for one in self._at(origin.at) if settings or one.file == origin.file]

    def _of(self, job: Job) -> Iterator[SpecDifference]:
        """Yield the differences in a job, in the jobs that it starts from, and in `defaults`."""
        links: dict[Route, None] = dict.fromkeys(self._past.now.places.chains.get(job.name, (job.route,)))
        if len(self.differences) > 1 and self._past.environment:  # else no job starts from another one than before
            links |= dict.fromkeys(self._past.environment.places.chains.get(job.name, ()))
        for link in {**links, ("defaults",): None}:
            yield from self._at(link)


def _between(then: File | None, now: File | None, was: Any, value: Any, at: Route) -> Iterator[SpecDifference]:
    """Yield where two values differ, the outermost routes."""
    if was == value:
        return
    if isinstance(was, dict) and isinstance(value, dict):
        for key in {**was, **value}:
            if now and (*at, key) in now.texts and was.get("path") != value["path"]:
                continue  # another path is the difference, and not the other text
            if key not in value:
                yield SpecDifference(now, then, (*at, key), "removed", was[key])
            else:
                yield from _between(then, now, was.get(key, MISSING), value[key], (*at, key))
    elif isinstance(was, list) and isinstance(value, list):
        yield from _between_lists(then, now, was, value, at)
    else:
        yield SpecDifference(now, then, at, "null" if value is None else "said", value)
        for inner in _nulls(value) if was is MISSING else ():
            if inner:
                yield SpecDifference(now, then, (*at, *inner), "null", None)


def _between_lists(
    then: File | None, now: File | None, was: list[Any], value: list[Any], at: Route
) -> list[SpecDifference]:
    found = []
    for index, element in enumerate(value):
        if element not in was:
            of_file = now and (*at, index, "text") in now.texts and index < len(was)
            step = _between(then, now, was[index], element, (*at, index)) if of_file else ()
            found += [*step] or [SpecDifference(now, then, (*at, index), "said", element)]
    found += [
        SpecDifference(now, then, (*at, index), "removed", element)
        for index, element in enumerate(was)
        if element not in value and (index >= len(value) or value[index] in was)
    ]
    return found or [SpecDifference(now, then, at, "said", value)]


def _nulls(value: Any, at: Route = ()) -> Iterator[Route]:
    if value is None:
        yield at
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _nulls(inner, (*at, key))


def _inner(route: Route) -> Route:
    """Return a route below its job or `defaults`."""
    return route[2:] if route[:1] == ("jobs",) else route[1:] if route[:1] == ("defaults",) else route


def _key(route: Route) -> str:
    """Return the key of a job, of a role, or at the top, into which a route leads, if any."""
    inner = _inner(route)
    depth = role_depth(inner) if inner else 0
    return str(inner[depth]) if len(inner) > depth else ""


def _hides(one: SpecDifference, at: Route) -> bool:
    """Tell whether a difference removes or overrides a weaker value at a route."""
    if one.kind == "removed" or isinstance(one.value, dict):
        return False
    return any(keys == others[: len(keys)] for keys in _forms(one.route) for others in _forms(at))


def _forms(route: Route) -> Iterator[Route]:
    """Yield a route below its job, with and without its role: a role's keys may be its job's."""
    inner = _inner(route)
    yield inner
    depth = role_depth(inner) if inner else 0
    if len(inner) > depth > 0:
        yield inner[depth:]
