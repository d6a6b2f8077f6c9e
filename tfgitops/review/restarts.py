"""The guard against accidental restarts: jobs that a build would restart although nobody asked it to."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tfgitops.review.lastruns import LastRuns
from tfgitops.spec.committed import MANIFESTS
from tfgitops.spec.diagnostics import CompileError, Diagnostic, a_few
from tfgitops.spec.disk import shown
from tfgitops.spec.project import SPEC
from tfgitops.targets.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.compiler.session import Session
    from tfgitops.compiler.write import Difference
    from tfgitops.planning.plan import Planned
    from tfgitops.review.causes import Cause, Causes
    from tfgitops.review.lastruns import Ran
    from tfgitops.spec.model import Environment, Job

_REPLICAS = re.compile(r"^ +(?:- )?replicas: (\d+)$", re.MULTILINE)
_NO_LINE = "what is no longer in the spec, or another version of a plugin or ours,"


@dataclass(frozen=True, kw_only=True)
class Restart:
    """A job that would restart although its own block in the spec is unchanged, or although it changes in place.

    ``scaled`` says why a scale-down restarts it, else it is empty.
    """

    job: Job
    folder: Path
    planned: Planned
    ran: Ran
    scaled: str

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
    """The trainings that may restart: named as ``JOB`` or ``ENV/JOB``, or all; ``pin_rest`` pins the others.

    ``queues_at_once`` lets queues change that a cluster as in HEAD would refuse to change in one step.
    """

    jobs: frozenset[str]
    all: bool
    pin_rest: bool
    queues_at_once: bool

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


class Guard:
    """Keeps the trainings of the environments of one call from accidental restarts."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._last = LastRuns(session)

    def refuse(self, compiled: Compiled, differences: Iterable[Difference]) -> None:
        """Raise CompileError if a file must not be written as it is, whatever may restart."""
        changed = {one.path for one in differences}  # a file that is missing here may be in the cluster
        wanted = [one for one in compiled.objects if one.text or (one.path in changed and not one.own)]
        if wanted:
            from tfgitops.review.refusals import refusals  # noqa: PLC0415 - for builds that change other objects

            if found := list(refusals(compiled, wanted, self._last, self._session)):
                raise CompileError(found)

    def refuse_pins(self, compiled: Compiled) -> None:
        """Raise CompileError if a pin keeps a file that is not in HEAD."""
        if any(one.text for one in compiled.objects):
            from tfgitops.review.pinhistory import uncommitted_pins  # noqa: PLC0415 - for pins alone

            if found := list(uncommitted_pins(compiled, self._last)):
                raise CompileError(found)

    def let_pass(self, compiled: Compiled) -> None:
        """Raise CompileError if no controller can apply a change of queues since HEAD."""
        if (head := self._last.at(compiled)) is None:
            return
        from tfgitops.review.reviewall import stuck_queues  # noqa: PLC0415 - few builds change queues

        if stuck := [*stuck_queues(compiled, head)]:
            raise CompileError(stuck)

    def restarts(self, compiled: Compiled, differences: Iterable[Difference]) -> list[Restart]:
        """Return the jobs of an environment that would restart, and that nobody asked to restart.

        They stand in the order of their files; only committed manifests of jobs that differ are read.
        """
        environment = compiled.environment
        changed = {one.path for one in differences}
        differ = [one for one in compiled.objects if one.own and not one.text and one.path in changed]
        if environment is None or not differ:
            return []
        jobs = {job.route: job for job in environment.jobs}
        last, found = self._last.of(compiled, differ), []
        for planned in differ:
            ran = last.get(planned.path)
            scaled = self._asked(environment, planned, ran) if ran and ran.header and ran.name else None
            if ran and scaled is not None:
                job = jobs[planned.because]
                found.append(Restart(job=job, folder=compiled.folder, planned=planned, ran=ran, scaled=scaled))
        return found

    def _asked(self, environment: Environment, planned: Planned, ran: Ran) -> str | None:
        """Return why a job restarts although it changes in place, "" if it does not; None if there is nothing to ask.

        A block that changed in force asks for a new run, but a number that changes in place never asks for a restart.
        """
        metadata = planned.manifest["metadata"]
        assert ran.header is not None
        if (ran.name, ran.namespace or metadata["namespace"]) == (metadata["name"], metadata["namespace"]):
            numbers = [str(task["replicas"]) for task in planned.manifest["spec"]["tasks"]]
            ran_so = ran.header.intact or self._last.head  # an edited file of no commit never ran
            change = ran.change(planned) if ran_so and _REPLICAS.findall(ran.text) != numbers else None
            return change.reason if change and change.verdict == "restart" else None
        if ran.header.own in ("", planned.own) or self._last.pinned(environment, planned, ran):
            return ""
        return "" if self._last.forged(environment, planned, ran) else None

    def doubts(self, compiled: Compiled) -> list[Diagnostic]:
        """Warn of jobs of which a shallow clone does not tell whether somebody changed them."""
        names = sorted(job for folder, job in self._last.doubtful if folder == compiled.folder)
        message = f"this clone is shallow, so that nobody can tell whether somebody changed {a_few(names)}"
        hint = "to be sure, take the manifests back, run `git fetch --unshallow`, and build again"
        file = shown(compiled.folder / SPEC)
        return [Diagnostic(code="TF604", severity="warning", message=message, hint=hint, file=file)] if names else []

    def diagnose(self, compiled: Compiled, restarts: Sequence[Restart]) -> Iterator[Diagnostic]:
        """Yield a diagnostic for each cause, with the trainings that it would restart."""
        from tfgitops.review.causes import Causes  # noqa: PLC0415 - for builds that stop alone
        from tfgitops.review.reviewresult import NO_LINE  # noqa: PLC0415

        environment, head = compiled.environment, self._last.head
        assert environment is not None
        finders: dict[str, Causes] = {}
        by_cause: dict[tuple[Cause | str, str], list[Restart]] = defaultdict(list)
        for restart in restarts:
            home = restart.ran.home
            if home not in finders:
                here = head.path(compiled.folder) if head else ""
                then = replace(head, moves={here: home}) if head and here != home else head  # a copy works all out anew
                jobs = [other.job for other in restarts if other.ran.home == home]
                finders[home] = Causes(environment, self._session, then, jobs)
            change = restart.ran.change(restart.planned)
            causes = finders[home].of(restart.job, restart.planned, change) if change else None
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
    why = ", although it changes in place" if scaled else " that nobody changed"
    return Diagnostic(
        code="TF604", span=line.span if line else None, file=shown(folder / SPEC),
        message=f"{blamed} would restart {what} of {shown(folder)}{why}: {a_few(names)}",
        hint=": ".join(filter(None, (scaled, _way_out(folder, group)))),
    )  # fmt: skip


def _way_out(folder: Path, group: Sequence[Restart]) -> str:
    """Name the flags to build with; a pin cannot keep a job in another namespace."""
    named = f"build with --restart {folder.name}/{group[0].job.name} to restart that training (repeat for others)"
    if any(restart.moved for restart in group):
        return f"{named}, or with --restart-all; else leave `namespace` as it was: a pinned job cannot move"
    return f"{named}, with --restart-all to restart all, or with --pin-rest to pin the trainings that you do not name"
