"""What `tfgitops build` tells of each environment: the files that it changed or found different, and a summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfgitops.plugins.plain import printable
from tfgitops.spec.committed import BOOTSTRAP, MANIFESTS
from tfgitops.spec.diagnostics import Diagnostic, counted
from tfgitops.spec.disk import shown
from tfgitops.targets.gitops import folder_news

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.pins.deliver import Delivery

_DONE = {"missing": "created", "stale": "updated", "edited": "restored", "orphan": "removed", "foreign": "foreign"}
_SHOWN_AT_MOST = 40
_BUILD = "run `tfgitops build`, and commit what it writes"
_CHECKED = {
    "missing": ("TF611", "is missing: its spec compiles to it", _BUILD),
    "stale": ("TF612", "is stale: its spec compiles to something else", _BUILD),
    "edited": ("TF613", "was edited by hand: it is not as it was generated", f"{_BUILD}; change the spec instead"),
    "orphan": ("TF614", "is an orphan: no spec compiles to it any more", _BUILD),
    "foreign": ("TF615", "is foreign: it was not generated, and a controller may apply it", "move it away"),
}


def changed_files(one: Delivery, *, check: bool) -> list[tuple[str, str]]:
    """Return a word and the path of each file that was changed, or with ``check`` is different."""
    words = {state: state for state in _DONE} if check else _DONE
    places = ((MANIFESTS, one.differences), (BOOTSTRAP, one.bootstrap))
    found = [
        (words[found.state], f"{shown(one.folder / place)}/{found.path}") for place, some in places for found in some
    ]
    return found if one.done else found[: len(one.written)]


def as_diagnostics(files: Iterable[tuple[str, str]]) -> Iterator[Diagnostic]:
    """Yield a problem for each file that `build --check` found different; ``files`` are states and paths."""
    for state, path in files:
        code, what, hint = _CHECKED[state]
        yield Diagnostic(code=code, severity="error", message=f"the manifest {what}", file=path, hint=hint)


def lines(one: Delivery, *, check: bool, verbose: bool) -> Iterator[str]:
    """Yield the lines of one environment for standard output; ``verbose`` lists all files, and those that are kept."""
    if verbose and one.given and one.given.ok:
        yield from _kept(one.given)
    told = [*one.pins, *(f"would restart  {restart}" for restart in one.restarts)]
    yield from _shortened(told, everything=verbose)
    told = [f"{word}  {printable(path)}" for word, path in changed_files(one, check=check)]
    yield from _shortened(told, everything=check or verbose)
    yield from _folders(one)
    if not one.done:
        yield f"{named(one.folder)}: {_stopped(one, check=check)}"
    elif one.files or one.differences or one.bootstrap:
        yield f"{named(one.folder)}: {_total(one.compiled)}: {_summary(one, check=check)}"


def _stopped(one: Delivery, *, check: bool) -> str:
    if one.written:
        total = counted(len(one.differences) + len(one.bootstrap), "file")
        return f"stopped when {len(one.written)} of {total} were written"
    if one.pins:
        return "the spec has new pins, and no manifest is written"
    return "not checked, for the errors above" if check else "nothing written"


def _folders(one: Delivery) -> Iterator[str]:
    """Say what Flux makes of folders that come or go in an environment that had some, unless `bootstrap` writes it."""
    environment = one.compiled.environment if one.compiled and one.done else None
    wanted = {file.path for file in one.files}
    was = wanted ^ {found.path for found in one.differences if found.state == "missing" or found.path not in wanted}
    if was and environment and environment.gitops == "flux" and not one.beside:
        yield from ("; ".join(news) for news in folder_news(was, wanted))


def named(folder: Path) -> str:
    """Name an environment by its path, or by its folder's name where that path would be a dot."""
    name = shown(folder)
    return printable(folder.name if name == "." else name)


def _shortened(told: Sequence[str], *, everything: bool) -> Iterator[str]:
    if everything or len(told) <= _SHOWN_AT_MOST:
        yield from told
    else:
        yield from told[:_SHOWN_AT_MOST]
        yield f"… and {len(told) - _SHOWN_AT_MOST} more (-v lists all)"


def _summary(one: Delivery, *, check: bool) -> str:
    differences = [*one.differences, *one.bootstrap]
    if not differences:
        return "up to date" if check else "nothing changed"
    foreign = sum(found.state == "foreign" for found in differences)
    changed = len(differences) - foreign
    if check:
        advice = ["run `tfgitops build`"] * bool(changed) + ["move the foreign away"] * bool(foreign)
        return f"{counted(len(differences), 'file')} not as compiled; {', and '.join(advice)}"
    tail = f"; {counted(foreign, 'foreign file')} left alone" if foreign else ""
    return f"{counted(changed, 'file') if changed else 'nothing'} changed{tail}"


def _total(compiled: Compiled | None) -> str:
    """Count jobs and manifests, and of each those that stay as they were committed."""
    if compiled is None or compiled.environment is None:
        return "0 jobs, 0 manifests"
    jobs = compiled.environment.jobs
    pinned = sum(bool(job.pin) for job in jobs)
    kept = sum(bool(planned.text) for planned in compiled.objects) - pinned
    return (
        f"{counted(len(jobs), 'job')}{f' ({pinned} pinned)' if pinned else ''}, "
        f"{counted(len(compiled.files), 'manifest')}{f' ({kept} kept for pinned jobs)' if kept else ''}"
    )


def _kept(compiled: Compiled) -> list[str]:
    """Name the files that stay as they were committed, and the pinned job of each."""
    top = shown(compiled.folder / MANIFESTS)
    return [
        f"pinned  {top}/{planned.path}"
        if planned.manifest["kind"] == "Job"
        else f"kept  {top}/{planned.path}  for the pinned job '{planned.because[1]}'"
        for planned in compiled.objects
        if planned.text
    ]


def exceptions(results: Iterable[Compiled]) -> str:
    """Return a line for each problem that an environment allows: where, until when, and why."""
    found = {
        f"allowed  {one.span.file}:{one.span.line}  {one.by.code} at {one.by.at} until {one.by.until}: {one.by.reason}"
        for compiled in results
        for one in compiled.allowed
    }
    return "".join(f"{printable(line)}\n" for line in sorted(found))
