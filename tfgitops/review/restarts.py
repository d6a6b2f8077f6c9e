"""The guard against accidental restarts: jobs that a build would restart although nobody changed their block."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from tfgitops.spec.committed import MANIFESTS, read_header, read_manifest
from tfgitops.spec.diagnostics import Diagnostic, a_few
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
    from tfgitops.review.history import Base
    from tfgitops.spec.model import Job

_NAME = re.compile(r"^metadata:\n(?:  .*\n)*?  name: '?([^\s']+)'?$", re.MULTILINE)
_NAMESPACE = re.compile(r"^metadata:\n(?:  .*\n)*?  namespace: '?([^\s']+)'?$", re.MULTILINE)
_NO_LINE = "what is no longer in the spec, or another version of a plugin or ours,"


@dataclass(frozen=True, kw_only=True)
class Restart:
    """A job that would start anew although its own block in the spec is unchanged."""

    job: Job
    folder: Path
    planned: Planned
    committed: str = field(repr=False)
    old_name: str
    new_name: str
    moved: str = ""

    def __str__(self) -> str:
        moved = f", namespace {self.moved}" if self.moved else ""
        return f"{shown(self.folder / MANIFESTS)}/{self.planned.path}  {self.old_name} → {self.new_name}{moved}"


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


class Guard:
    """Keeps the trainings of one environment from accidental restarts.

    The committed manifests are those of HEAD; without Git, those of the working tree.
    """

    def __init__(self, compiled: Compiled, session: Session) -> None:
        self._compiled = compiled
        self._session = session

    def restarts(self, differences: Iterable[Difference]) -> list[Restart]:
        """Return the jobs whose committed manifest has another name or namespace and the same ``own`` digest.

        They stand in the order of their files; only committed manifests of jobs that differ are read.
        """
        environment, folder = self._compiled.environment, self._compiled.folder
        changed = {one.path: one.state for one in differences if one.state in ("missing", "stale", "edited")}
        differ = [one for one in self._compiled.objects if one.own and not one.text and one.path in changed]
        if environment is None or not differ:
            return []
        jobs = {job.route: job for job in environment.jobs}
        if self._head is None:  # a missing manifest may be a new one
            differ = [one for one in differ if changed[one.path] != "missing"]
        texts = self._committed([one.path for one in differ])
        found = (_restart(folder, jobs[one.because], one, texts[one.path]) for one in differ if one.path in texts)
        return [one for one in found if one]

    @cached_property
    def _head(self) -> Base | None:
        from tfgitops.review.history import find_head  # noqa: PLC0415 - for builds that change a job

        assert self._compiled.environment is not None
        documents = [document.path for document in self._compiled.environment.places.documents]
        project, folder = self._session.project, self._compiled.folder
        return find_head(project.root, [folder / MANIFESTS, folder / "jobs", *documents, *project.versions])

    def _committed(self, paths: Sequence[str]) -> dict[str, str]:
        """Return the committed texts of manifests by path."""
        top = self._compiled.folder / MANIFESTS
        if self._head is None:
            read = {path: read_manifest(f"{top}/{path}") for path in paths}
            return {path: text for path, text in read.items() if text is not None}
        named = {self._head.path(top / path): path for path in paths}
        texts = {full: content.decode(errors="replace") for full, content in self._head.read(named).items()}
        return {named[full]: text.replace("\r\n", "\n") for full, text in texts.items()}

    def diagnose(self, restarts: Sequence[Restart]) -> Iterator[Diagnostic]:
        """Yield a diagnostic for each cause, with the trainings that it would restart."""
        from tfgitops.review.causes import Causes  # noqa: PLC0415 - for builds that stop alone
        from tfgitops.review.reviewresult import NO_LINE  # noqa: PLC0415

        environment, head = self._compiled.environment, self._head
        assert environment is not None
        finder = Causes(environment, self._session, head, [restart.job for restart in restarts])
        by_cause: dict[Cause | str, list[Restart]] = defaultdict(list)
        for restart in restarts:
            causes = _causes(finder, restart)
            blamed = _NO_LINE
            if head and causes == []:
                versions = [shown(path) for path in self._session.project.versions if head.has_changed(path)]
                blamed = f"{NO_LINE} ({', '.join(versions) or 'no file says so'})"
            for cause in causes or (blamed,):
                by_cause[cause].append(restart)
        for cause, group in by_cause.items():
            yield self._diagnostic(cause, group)

    def _diagnostic(self, cause: Cause | str, group: Sequence[Restart]) -> Diagnostic:
        folder, names = self._compiled.folder, [restart.job.name for restart in group]
        line = None if isinstance(cause, str) else cause
        what = f"{len(names)} trainings" if len(names) > 1 else "a training"
        blamed = f"`{line.label}`" if line else cause
        return Diagnostic(
            code="TF604", span=line.span if line else None,
            file="" if line else shown(folder / SPEC),
            message=f"{blamed} would restart {what} of {shown(folder)} that nobody changed: {a_few(names)}",
            hint=_way_out(folder, group),
        )  # fmt: skip


def _causes(finder: Causes, restart: Restart) -> list[Cause] | None:
    """Return the places that changed a job, none if no line of the specs did; None if the manifest is unreadable."""
    from tfgitops.review.changes import changes_of, is_job, manifest_in  # noqa: PLC0415 - for builds that stop alone

    before = manifest_in(restart.committed)
    if before is None or not is_job(before):
        return None
    (change,) = changes_of(restart.planned.path, before, restart.planned.manifest)
    return finder.of(restart.job, restart.planned, change)


def _way_out(folder: Path, group: Sequence[Restart]) -> str:
    """Name the flags to build with; a pin cannot keep a job in another namespace."""
    named = f"build with --restart {folder.name}/{group[0].job.name} to restart that training (repeat for others)"
    if any(restart.moved for restart in group):
        return f"{named}, or with --restart-all; else leave `namespace` as it was: a pinned job cannot move"
    return f"{named}, with --restart-all to restart all, or with --pin-rest to pin the trainings that you do not name"


def _restart(folder: Path, job: Job, planned: Planned, text: str) -> Restart | None:
    header, name, namespace = read_header(text), _NAME.search(text), _NAMESPACE.search(text)
    metadata = planned.manifest["metadata"]
    if header is None or name is None or header.own not in ("", planned.own):
        return None
    moved = namespace is not None and namespace[1] != metadata["namespace"]
    if name[1] == metadata["name"] and not moved:
        return None
    return Restart(
        job=job, folder=folder, planned=planned, committed=text, old_name=name[1], new_name=metadata["name"],
        moved=f"{namespace[1]} → {metadata['namespace']}" if moved and namespace else "",
    )  # fmt: skip
