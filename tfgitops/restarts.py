"""No training restarts by accident: what a build would restart although nobody changed the job itself."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tfgitops.committed import MANIFESTS, read_manifest
from tfgitops.diagnostics import Diagnostic, did_you_mean
from tfgitops.headers import read_header
from tfgitops.load import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from tfgitops.causes import Cause
    from tfgitops.model import Job
    from tfgitops.pipeline import Compiled
    from tfgitops.plan import Planned
    from tfgitops.plugins import Plugins
    from tfgitops.write import Difference

_NAME = re.compile(r"^metadata:\n(?:  .*\n)*?  name: '?([^\s']+)'?$", re.MULTILINE)
_SHOWN = 8


@dataclass(frozen=True, kw_only=True)
class Restart:
    """A job that would start anew, although its own block in the spec is as it was."""

    job: Job
    folder: Path
    planned: Planned
    committed: str = field(repr=False)
    old_name: str
    new_name: str

    def __str__(self) -> str:
        return f"{shown(self.folder / MANIFESTS)}/{self.planned.path}  {self.old_name} → {self.new_name}"


@dataclass(frozen=True, kw_only=True)
class Consent:
    """Which trainings may restart: those named, as ``JOB`` or ``ENV/JOB``, or all; ``pin_rest`` keeps the others."""

    jobs: frozenset[str] = frozenset()
    all: bool = False
    pin_rest: bool = False

    def covers(self, restart: Restart) -> bool:
        """Tell whether a job may restart."""
        return self.all or bool(self.jobs & _names(restart.folder, restart.job.name))

    def unknown(self, results: Iterable[Compiled]) -> list[tuple[str, str]]:
        """Return each name that is no job's, with a hint, unless an environment did not compile that may have it."""
        known: set[str] = set()
        for compiled in results:
            if compiled.environment is None:
                return []
            for job in compiled.environment.jobs:
                known |= _names(compiled.folder, job.name)
        return [(name, did_you_mean(name, sorted(known))) for name in sorted(self.jobs - known)]


NO_CONSENT = Consent()


def _names(folder: Path, job: str) -> set[str]:
    return {job, f"{folder.name}/{job}", f"{shown(folder)}/{job}"}


def accidental(compiled: Compiled, differences: Iterable[Difference]) -> list[Restart]:
    """List the jobs whose committed manifest has another name and the same ``own`` digest, in the order of files.

    Reads the committed manifests of jobs that differ.
    """
    if compiled.environment is None:
        return []
    changed = {difference.path for difference in differences if difference.state in ("stale", "edited")}
    jobs = {job.route: job for job in compiled.environment.jobs}
    found = []
    for planned in compiled.objects:
        if planned.own and planned.path in changed:
            text = read_manifest(f"{compiled.folder}/{MANIFESTS}/{planned.path}")
            restart = _restart(compiled.folder, jobs[planned.because], planned, text)
            found += [restart] if restart else []
    return found


def _restart(folder: Path, job: Job, planned: Planned, text: str | None) -> Restart | None:
    header, name = (read_header(text), _NAME.search(text)) if text else (None, None)
    new = planned.manifest["metadata"]["name"]
    if not text or not header or not name or name[1] == new or header.own not in ("", planned.own):
        return None
    return Restart(job=job, folder=folder, planned=planned, committed=text, old_name=name[1], new_name=new)


def diagnose(compiled: Compiled, restarts: Sequence[Restart], plugins: Plugins) -> Iterator[Diagnostic]:
    """Say which lines would restart which trainings: one diagnostic a cause."""
    by_cause: dict[Cause | None, list[Restart]] = defaultdict(list)
    for restart in restarts:
        for cause in _causes(compiled, restart, plugins):
            by_cause[cause].append(restart)
    for cause, group in by_cause.items():
        names = [restart.job.name for restart in group]
        listed = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
        what = f"{len(names)} trainings" if len(names) > 1 else "a training"
        cause_is = (
            f"`{cause.label}`" if cause else "what is no longer in the spec, or another version of a plugin or ours,"
        )
        yield Diagnostic(
            code="TF604", severity="error", span=cause.span if cause else None,
            message=f"{cause_is} would restart {what} of {shown(compiled.folder)} that nobody changed: {listed}",
            hint=f"build with --restart {names[0]} if that one may start anew (repeatable), with --restart-all, "
            "or with --pin-rest to keep the others as they run",
        )  # fmt: skip


def _causes(compiled: Compiled, restart: Restart, plugins: Plugins) -> list[Cause | None]:
    """Return the places that changed a job; None where its own block did, which is as it was: so we changed."""
    from tfgitops.causes import Causes  # noqa: PLC0415 - for builds that stop alone
    from tfgitops.changes import changes_of  # noqa: PLC0415

    assert compiled.environment is not None
    (change,) = changes_of(restart.planned.path, _manifest(restart.committed), restart.planned.manifest)
    places = [cause for cause, _ in Causes(compiled.environment, plugins).of(restart.job, restart.planned, change)]
    found: list[Cause | None] = [cause for cause in places if not (cause.own and cause.route[:2] == restart.job.route)]
    return found or [None]


def _manifest(text: str) -> Any:
    from tfgitops.yamltext import parse  # noqa: PLC0415

    return parse(text)
