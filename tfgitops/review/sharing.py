"""Runs that write into one folder of a claim, of which a review warns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.review.changes import is_job, job_name
from tfgitops.review.findings import STARTS, Risk
from tfgitops.review.folders import Folder, overlap, written_folders
from tfgitops.spec.diagnostics import a_few

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from tfgitops.review.findings import EnvironmentReview

    Json = dict[str, Any]
    Writer = tuple[Folder, str]

_NAMED_MAX = 5


def shared_folders(one: EnvironmentReview) -> Iterator[Risk]:
    """Yield folders of claims that a run will write which another run writes, or its own run before wrote."""
    starting = {change.path: change for change in one.changes if change.is_job and change.verdict in STARTS}
    if one.compiled is None or not starting:
        return
    jobs = {planned.path: planned.manifest for planned in one.compiled.objects if is_job(planned.manifest)}
    writers = [(folder, path) for path, manifest in jobs.items() for folder in written_folders(manifest)]
    for group in _meeting(writers):
        paths = list(dict.fromkeys(path for _, path in group))
        new = [starting[path] for path in paths if path in starting]
        if len(paths) > 1 and new:
            elsewhere = {path for folder, path in group if folder.elsewhere}
            yield _shared(one, _both_write(group, {path: job_name(jobs[path]) for path in paths}, elsewhere))
        elif new and new[0].before is not None and _wrote(new[0].before, [folder for folder, _ in group]):
            where = _where(group)
            yield _shared(one, f"the new run of '{new[0].title}' writes where its last one wrote: {where}")


def _meeting(writers: Iterable[Writer]) -> Iterator[list[Writer]]:
    """Group what is written by the outermost folder that anyone writes, sorted."""
    folders: dict[tuple[str, str], list[Writer]] = {}
    for writer in writers:
        folders.setdefault(writer[0].volume, []).append(writer)
    for _, found in sorted(folders.items()):
        known = {folder.path for folder, _ in found}
        groups: dict[str, list[Writer]] = {}
        for writer in found:
            groups.setdefault(writer[0].outermost(known), []).append(writer)
        yield from (groups[path] for path in sorted(groups))


def _both_write(group: Sequence[Writer], names: Mapping[str, str], elsewhere: Container[str]) -> str:
    """Say that several jobs write one folder, and which of them name the run for another one."""
    unnamed = listing([name for path, name in names.items() if path not in elsewhere])
    named = listing([name for path, name in names.items() if path in elsewhere])
    reasons = [f"nothing in the command of {unnamed} names the run"] * bool(unnamed)
    reasons += [f"{named} {'name' if ',' in named or ' and ' in named else 'names'} it elsewhere alone"] * bool(named)
    return f"{listing(names.values())} may write to one folder, {_where(group)}: {', and '.join(reasons)}"


def listing(names: Iterable[str]) -> str:
    """Name a few of some jobs, and say how many more there are."""
    return a_few([f"'{name}'" for name in names], _NAMED_MAX)


def _where(group: Iterable[Writer]) -> str:
    """Name a folder as those who write it see it."""
    folders = [folder for folder, _ in group]
    paths = {f"{folder.mount}/{folder.path}".rstrip("/") or "/" for folder in folders}
    outermost = {path for path in paths if not any(path.startswith(f"{other}/") for other in paths)}
    claim, sub_path = folders[0].volume
    return f"{' and '.join(sorted(outermost))} (claim {claim}{f', {sub_path}' if sub_path else ''})"


def _wrote(before: Json, folders: Sequence[Folder]) -> bool:
    """Tell whether an earlier run wrote one of some folders of a volume."""
    return any(
        old.volume == folders[0].volume and any(overlap(old.path, new.path) for new in folders)
        for old in written_folders(before)
    )


def _shared(one: EnvironmentReview, message: str) -> Risk:
    advice = "use $(RUN) in the command or in `subPath`, for a folder of each run's own"
    return Risk(code="shared-path", environment=one.name, message=message, advice=advice)
