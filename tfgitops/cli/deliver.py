"""What `tfgitops build` does with compiled environments: compare, write, print, and say what was done."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfgitops.compiler.write import Difference, alone, apply, compare
from tfgitops.planning.plan import level
from tfgitops.plugins.plain import printable
from tfgitops.review.restarts import NO_CONSENT, Consent, Guard
from tfgitops.spec.committed import MANIFESTS
from tfgitops.spec.diagnostics import CompileError, Diagnostic, counted
from tfgitops.spec.disk import shown
from tfgitops.targets.gitops import KUSTOMIZATION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from tfgitops.compiler.compiled import Compiled, File
    from tfgitops.compiler.session import Session

_DONE = {
    "missing": "created",
    "stale": "updated",
    "edited": "restored",
    "orphan": "removed",
    "foreign": "foreign",
}
_SHOWN_AT_MOST = 40


@dataclass(kw_only=True)
class Outcome:
    """What became of some environments: lines for standard output, and what went wrong."""

    lines: list[str] = field(default_factory=list)
    differences: list[tuple[str, str]] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)


def deliver(
    session: Session, results: Sequence[Compiled], *, check: bool, verbose: bool, consent: Consent = NO_CONSENT
) -> Outcome:
    """Write what changed in each environment that compiled, or with ``check`` only say what differs.

    Environments are independent: one that is wrong keeps its manifests, and does not block another. One in which a
    training would restart by accident is not written, unless there is consent.
    """
    outcome = Outcome()
    for compiled in results:
        if compiled.ok:
            if verbose:
                outcome.lines += _frozen(compiled)
            with _reported(compiled.folder, outcome, check=check):
                if not check:
                    compiled, differences = _write(compiled, session, consent, outcome, verbose=verbose)  # noqa: PLW2901
                else:
                    differences = compare(compiled.folder, compiled.files)
                _tell(compiled.folder, compiled, differences, outcome, check=check, verbose=verbose)
        else:
            outcome.lines.append(f"{_named(compiled.folder)}: {_nothing_written(check=check)}")
    for folder in session.abandoned:
        with _reported(folder, outcome, check=check):
            differences = compare(folder, ()) if check else _replace(folder, ())
            _tell(folder, None, differences, outcome, check=check, verbose=verbose)
    return outcome


@contextmanager
def _reported(folder: Path, outcome: Outcome, *, check: bool) -> Iterator[None]:
    """Keep what goes wrong in one environment from the others."""
    try:
        yield
    except CompileError as error:
        outcome.diagnostics += error.diagnostics
        outcome.lines.append(f"{_named(folder)}: {_nothing_written(check=check)}")


def _write(
    compiled: Compiled, session: Session, consent: Consent, outcome: Outcome, *, verbose: bool
) -> tuple[Compiled, list[Difference]]:
    """Write one environment, and return it with what differed; with pins it is compiled once more before.

    Raises:
        CompileError: a training would restart by accident, or the output cannot be written.
    """
    with _alone(compiled.folder):
        differences = compare(compiled.folder, compiled.files)
        guard = Guard(compiled, session)
        restarts = [] if consent.all else [one for one in guard.restarts(differences) if not consent.covers(one)]
        if restarts and not consent.pin_rest:
            outcome.lines += _shortened([f"would restart  {restart}" for restart in restarts], everything=verbose)
            raise CompileError(guard.diagnose(restarts))
        if restarts:
            from tfgitops.pins.pinning import pin_rest  # noqa: PLC0415 - the editing of specs is for the few that pin

            compiled, pins = pin_rest(compiled, restarts, session)
            outcome.lines += _shortened(pins, everything=verbose)
            differences = compare(compiled.folder, compiled.files)
        apply(compiled.folder, compiled.files, differences)
    return compiled, differences


def _replace(folder: Path, files: Sequence[File]) -> list[Difference]:
    with _alone(folder):
        differences = compare(folder, files)
        apply(folder, files, differences)
    return differences


def _alone(folder: Path) -> AbstractContextManager[None]:
    return alone(folder, lambda: sys.stderr.write(f"waiting for another build of {_named(folder)}\n"))


def _tell(
    folder: Path,
    compiled: Compiled | None,
    differences: Sequence[Difference],
    outcome: Outcome,
    *,
    check: bool,
    verbose: bool,
) -> None:
    files = compiled.files if compiled else ()
    top = shown(folder / MANIFESTS)
    words = [(d.state if check else _done(d, files), f"{top}/{d.path}") for d in differences]
    outcome.differences += words
    outcome.lines += _shortened([f"{word}  {printable(path)}" for word, path in words], everything=check or verbose)
    if files or differences:
        total = _total(compiled) if compiled else "0 jobs, 0 manifests"
        outcome.lines.append(f"{_named(folder)}: {_summary(total, differences, check=check)}")


def _named(folder: Path) -> str:
    """Name an environment by its path, or by its folder's name where that path would be a dot."""
    name = shown(folder)
    return printable(folder.name if name == "." else name)


def _done(difference: Difference, files: Sequence[File]) -> str:
    if difference.state == "edited" and all(file.path != difference.path for file in files):
        return "removed"
    return _DONE[difference.state]


def _shortened(lines: list[str], *, everything: bool) -> list[str]:
    if everything or len(lines) <= _SHOWN_AT_MOST:
        return lines
    return [*lines[:_SHOWN_AT_MOST], f"… and {len(lines) - _SHOWN_AT_MOST} more (-v lists all)"]


def _summary(total: str, differences: Sequence[Difference], *, check: bool) -> str:
    if not differences:
        return f"{total}: {'up to date' if check else 'nothing changed'}"
    foreign = sum(difference.state == "foreign" for difference in differences)
    changed = len(differences) - foreign
    if check:
        advice = ["run `tfgitops build`"] * bool(changed) + ["move the foreign away"] * bool(foreign)
        return f"{total}: {counted(len(differences), 'file')} not as compiled; {', and '.join(advice)}"
    tail = f"; {counted(foreign, 'foreign file')} left alone" if foreign else ""
    return f"{total}: {counted(changed, 'file') if changed else 'nothing'} changed{tail}"


def _nothing_written(*, check: bool) -> str:
    return "not checked, for the errors above" if check else "nothing written"


def _total(compiled: Compiled) -> str:
    """Count jobs and manifests, and of each what stays as it was committed."""
    jobs = compiled.environment.jobs if compiled.environment else ()
    pinned = sum(bool(job.pin) for job in jobs)
    kept = sum(bool(planned.text) for planned in compiled.objects) - pinned
    return (
        f"{counted(len(jobs), 'job')}{f' ({pinned} pinned)' if pinned else ''}, "
        f"{counted(len(compiled.files), 'manifest')}{f' ({kept} kept for pinned jobs)' if kept else ''}"
    )


def _frozen(compiled: Compiled) -> list[str]:
    """Say which files stay as they were committed, and for the sake of which pinned job."""
    top = shown(compiled.folder / MANIFESTS)
    return [
        f"pinned  {top}/{planned.path}"
        if planned.manifest["kind"] == "Job"
        else f"kept  {top}/{planned.path}  for the pinned job '{planned.because[1]}'"
        for planned in compiled.objects
        if planned.text
    ]


def documents(results: Iterable[Compiled]) -> str:
    """Return the manifests of all environments as one stream of YAML documents, in the order of applying."""
    files = [file for compiled in results if compiled.ok for file in compiled.files]
    files = [file for file in files if not file.path.endswith(f"/{KUSTOMIZATION}")]
    return "---\n".join(file.text for file in sorted(files, key=lambda file: level(file.path.partition("/")[0])))
