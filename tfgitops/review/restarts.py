"""The guard against accidental restarts: jobs that a build would restart although nobody asked it to."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from tfgitops.spec.committed import MANIFESTS, read_header, read_manifest
from tfgitops.spec.diagnostics import CompileError, Diagnostic, a_few
from tfgitops.spec.disk import is_there, shown
from tfgitops.spec.load import load
from tfgitops.spec.project import SPEC
from tfgitops.spec.resolve import merge_files
from tfgitops.targets.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.compiler.session import Session
    from tfgitops.compiler.write import Difference
    from tfgitops.planning.plan import Planned
    from tfgitops.review.causes import Cause, Causes
    from tfgitops.review.history import Base
    from tfgitops.spec.committed import Header
    from tfgitops.spec.model import Environment, Job

_NAME = re.compile(r"^metadata:\n(?:  .*\n)*?  name: '?([^\s']+)'?$", re.MULTILINE)
_NAMESPACE = re.compile(r"^metadata:\n(?:  .*\n)*?  namespace: '?([^\s']+)'?$", re.MULTILINE)
_REPLICAS = re.compile(r"^ +(?:- )?replicas: (\d+)$", re.MULTILINE)
_NO_LINE = "what is no longer in the spec, or another version of a plugin or ours,"


@dataclass(frozen=True, kw_only=True)
class Ran:
    """A committed manifest of a job: its text, and the folder of its environment from the top of the repository."""

    home: str
    text: str = field(repr=False)

    @property
    def header(self) -> Header | None:
        """The header, None if it is not ours."""
        return read_header(self.text)

    @property
    def name(self) -> str:
        """The name of the Job, "" if it cannot be read."""
        found = _NAME.search(self.text)
        return found[1] if found else ""

    @property
    def namespace(self) -> str:
        """Its namespace, "" if it has none."""
        found = _NAMESPACE.search(self.text)
        return found[1] if found else ""


@dataclass(frozen=True, kw_only=True)
class Restart:
    """A job that would start anew although its own block in the spec is unchanged, or although it changes in place.

    ``scaled`` says why a scale-down restarts it, else it is empty.
    """

    job: Job
    folder: Path
    planned: Planned
    ran: Ran
    scaled: str = ""

    @property
    def moved(self) -> str:
        """The namespaces that the job leaves and enters, "" if it stays."""
        there = self.planned.manifest["metadata"]["namespace"]
        return f"{self.ran.namespace} → {there}" if self.ran.namespace not in ("", there) else ""

    def __str__(self) -> str:
        name = self.planned.manifest["metadata"]["name"]
        said = f"{self.ran.name}, in place" if self.scaled else f"{self.ran.name} → {name}"
        moved = f", namespace {self.moved}" if self.moved else ""
        return f"{shown(self.folder / MANIFESTS)}/{self.planned.path}  {said}{moved}"


@dataclass(frozen=True, kw_only=True)
class Consent:
    """The trainings that may restart: named as ``JOB`` or ``ENV/JOB``, or all; ``pin_rest`` pins the others."""

    jobs: frozenset[str] = frozenset()
    all: bool = False
    pin_rest: bool = False

    def covers(self, restart: Restart) -> bool:
        """Tell whether a job may restart."""
        return self.all or bool(self.jobs & _names(restart.folder, restart.job.name))

    def unknown(self, results: Iterable[Compiled]) -> list[tuple[str, str]]:
        """Return each unknown name with a hint; none if an environment that may have it did not compile."""
        known: set[str] = set()
        for compiled in results if self.jobs else ():
            if compiled.environment is None:
                return []
            for job in compiled.environment.jobs:
                known |= _names(compiled.folder, job.name)
        return [(name, did_you_mean(name, known, among="the jobs are")) for name in sorted(self.jobs - known)]


def _names(folder: Path, job: str) -> set[str]:
    return {job, f"{folder.name}/{job}", f"{shown(folder)}/{job}"}


def edited_pins(compiled: Compiled, base: Base) -> list[Planned]:
    """Return the objects that a pin keeps, and whose file differs from a commit in its first line alone."""
    top = compiled.folder / MANIFESTS
    kept = {base.path(top / one.path): one for one in compiled.objects if one.text}
    there = {path: content.decode(errors="replace").replace("\r\n", "\n") for path, content in base.read(kept).items()}
    edited = [kept[path] for path, text in there.items() if text != kept[path].text]
    return [one for one in edited if one.text.partition("\n")[2] == there[base.path(top / one.path)].partition("\n")[2]]


class Guard:
    """Keeps the trainings of the environments of one call from accidental restarts.

    The committed manifests are those of HEAD; without Git, those of the working tree.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def restarts(self, compiled: Compiled, differences: Iterable[Difference]) -> list[Restart]:
        """Return the jobs of an environment that would start anew, and that nobody asked to.

        They stand in the order of their files; only committed manifests of jobs that differ are read.
        """
        environment = compiled.environment
        changed = {one.path: one.state for one in differences if one.state in ("missing", "stale", "edited")}
        differ = [one for one in compiled.objects if one.own and not one.text and one.path in changed]
        if environment is None or not differ:
            return []
        jobs = {job.route: job for job in environment.jobs}
        if self._head is None:  # a missing manifest may be a new one
            differ = [one for one in differ if changed[one.path] != "missing"]
        there = self._committed(compiled.folder, differ)
        found = []
        for planned in differ:
            ran = self._last(environment, planned, there.get(planned.path, ()))
            scaled = self._asked(environment, planned, ran) if ran and ran.header and ran.name else None
            if ran and scaled is not None:
                job = jobs[planned.because]
                found.append(Restart(job=job, folder=compiled.folder, planned=planned, ran=ran, scaled=scaled))
        return found

    def refuse_edited_pins(self, compiled: Compiled) -> None:
        """Raise CompileError if a manifest that a pin keeps has another first line than in HEAD, as no digest tells."""
        if not compiled.environment or not any(one.text for one in compiled.objects) or not self._head:
            return
        found = [
            Diagnostic(
                code="TF306", span=compiled.environment.places.span((*one.because[:2], "pin")),
                message=f"{MANIFESTS}/{one.path} was edited: its first line is not the committed one",
                hint=f"restore it: git checkout -- {shown(compiled.folder / MANIFESTS / one.path)}",
            )
            for one in edited_pins(compiled, self._head)
        ]  # fmt: skip
        if found:
            raise CompileError(found)

    def _asked(self, environment: Environment, planned: Planned, ran: Ran) -> str | None:
        """Return why a job restarts although it changes in place, "" if it does not; None if there is nothing to ask.

        A block that changed in force asks for a new run, but a number that changes in place never asks for a restart.
        """
        metadata = planned.manifest["metadata"]
        if (ran.name, ran.namespace or metadata["namespace"]) == (metadata["name"], metadata["namespace"]):
            numbers = [str(task.get("replicas", 0)) for task in planned.manifest["spec"]["tasks"]]
            return _scaled(planned, ran) if _REPLICAS.findall(ran.text) != numbers else None
        assert ran.header is not None
        return "" if ran.header.own in ("", planned.own) or self._pinned(environment, planned, ran) else None

    def _pinned(self, environment: Environment, planned: Planned, ran: Ran) -> bool:
        """Tell whether HEAD pins a job and has its block as it is now, so that it was not changed to be in force."""
        from tfgitops.review.committedspecs import CommittedSpec  # noqa: PLC0415 - for jobs that were pinned

        head, job = self._head, str(planned.because[-1])
        files = [f"{ran.home}/{name}".removeprefix("./") for name in (SPEC, f"jobs/{job}.yaml")]
        if head is None or not any(ran.name.encode() in content for content in head.read(files).values()):
            return False
        then = replace(head, moves={head.path(environment.folder): ran.home})
        root, schema = self._session.project.root, self._session.plugins.schema
        spec = CommittedSpec(now=environment, base=then, root=root, schema=schema, jobs={job}).environment
        past = spec.by_name.get(job) if spec else None
        return past is not None and bool(past.pin) and past.own == planned.own

    def _last(self, environment: Environment, planned: Planned, there: Iterable[Ran]) -> Ran | None:
        """Return the committed manifest that the cluster knows as an earlier one of a job, wherever its file was."""
        metadata = planned.manifest["metadata"]
        own = self._head.path(environment.folder) if self._head else ""

        def rank(ran: Ran) -> tuple[bool, bool, bool]:
            stays = ran.namespace in ("", metadata["namespace"])
            return stays and ran.name == metadata["name"], stays, ran.home == own

        for ran in sorted(there, key=rank, reverse=True):
            if ran.home == own or (rank(ran)[1] and self._gave(ran.home, environment, planned.because[-1])):
                return ran
        return None

    def _gave(self, home: str, taker: Environment, job: str | int) -> bool:
        """Tell whether an environment had the training of another one's job in HEAD, and does not have it any more."""
        from tfgitops.review.environmentreview import cluster_at  # noqa: PLC0415 - for jobs that may have moved

        assert self._head is not None
        folder = self._head.top / home
        if cluster_at(self._head, folder) not in (None, taker.cluster):
            return False
        if not is_there(folder / SPEC):
            return True
        try:
            spec = merge_files(load(folder, self._session.project).documents)
        except CompileError:  # its manifests stay, and so does what runs
            return False
        namespace = spec.get("namespace")
        namespace = namespace.get("name") if isinstance(namespace, dict) else namespace
        there = namespace, spec.get("cluster") or folder.name
        return there != (taker.namespace, taker.cluster) or (spec.get("jobs") or {}).get(job) is None

    @cached_property
    def _head(self) -> Base | None:
        from tfgitops.review.history import find_head  # noqa: PLC0415 - for builds that change a job

        project = self._session.project
        return find_head(project.root, [project.root, *project.versions])

    def _committed(self, folder: Path, wanted: Sequence[Planned]) -> Mapping[str, Sequence[Ran]]:
        """Return the committed manifests of some jobs, those of the same path in other environments too."""
        if self._head is None:
            read = {one.path: read_manifest(f"{folder}/{MANIFESTS}/{one.path}") for one in wanted}
            return {path: [Ran(home="", text=text)] for path, text in read.items() if text is not None}
        places = {
            f"{home}/{MANIFESTS}/{one.path}".removeprefix("./"): (one.path, home)
            for one in wanted
            for home in self._head.homes.get(one.path, ())
        }
        found: dict[str, list[Ran]] = defaultdict(list)
        for full, content in self._head.read(places).items():
            path, home = places[full]
            found[path].append(Ran(home=home, text=content.decode(errors="replace").replace("\r\n", "\n")))
        return found

    def diagnose(self, compiled: Compiled, restarts: Sequence[Restart]) -> Iterator[Diagnostic]:
        """Yield a diagnostic for each cause, with the trainings that it would restart."""
        from tfgitops.review.causes import Causes  # noqa: PLC0415 - for builds that stop alone
        from tfgitops.review.reviewresult import NO_LINE  # noqa: PLC0415

        environment, head = compiled.environment, self._head
        assert environment is not None
        finders: dict[str, Causes] = {}
        by_cause: dict[tuple[Cause | str, str], list[Restart]] = defaultdict(list)
        for restart in restarts:
            home = restart.ran.home
            if home not in finders:
                then = replace(head, moves={head.path(compiled.folder): home}) if head else None
                jobs = [other.job for other in restarts if other.ran.home == home]
                finders[home] = Causes(environment, self._session, then, jobs)
            causes = _causes(finders[home], restart)
            blamed = _NO_LINE
            if head and causes == []:
                versions = [shown(path) for path in self._session.project.versions if head.has_changed(path)]
                blamed = f"{NO_LINE} ({', '.join(versions) or 'no file says so'})"
            for cause in causes or (blamed,):
                by_cause[cause, restart.scaled].append(restart)
        for (cause, _), group in by_cause.items():
            yield _diagnostic(cause, group)


def _diagnostic(cause: Cause | str, group: Sequence[Restart]) -> Diagnostic:
    folder, names, scaled = group[0].folder, [restart.job.name for restart in group], group[0].scaled
    line = None if isinstance(cause, str) else cause
    what = f"{len(names)} trainings" if len(names) > 1 else "a training"
    blamed = f"`{line.label}`" if line else cause
    why = (
        f"although it changes in place: {a_few(names)}; {scaled}" if scaled else f"that nobody changed: {a_few(names)}"
    )
    return Diagnostic(
        code="TF604", span=line.span if line else None,
        file="" if line else shown(folder / SPEC),
        message=f"{blamed} would restart {what} of {shown(folder)}{',' if scaled else ''} {why}",
        hint=_way_out(folder, group),
    )  # fmt: skip


def _causes(finder: Causes, restart: Restart) -> list[Cause] | None:
    """Return the places that changed a job, none if no line of the specs did; None if the manifest is unreadable."""
    from tfgitops.review.changes import compared, is_job, manifest_in  # noqa: PLC0415 - for builds that stop alone

    before = manifest_in(restart.ran.text)
    if before is None or not is_job(before):
        return None
    return finder.of(restart.job, restart.planned, compared(restart.planned.path, before, restart.planned.manifest))


def _way_out(folder: Path, group: Sequence[Restart]) -> str:
    """Name the flags to build with; a pin cannot keep a job in another namespace."""
    named = f"build with --restart {folder.name}/{group[0].job.name} to let it start again (repeatable)"
    if any(restart.moved for restart in group):
        return f"{named}, or with --restart-all; else leave `namespace` as it was: a pinned job cannot move"
    return f"{named}, with --restart-all to let all start again, or with --pin-rest to keep the others running"


def _scaled(planned: Planned, ran: Ran) -> str | None:
    """Return why a job restarts although it changes in place; None if it does not."""
    from tfgitops.review.changes import compared, is_job, manifest_in  # noqa: PLC0415 - for numbers that change

    before = manifest_in(ran.text)
    change = compared(planned.path, before, planned.manifest) if before and is_job(before) else None
    return change.reason if change and change.verdict == "restart" else None
