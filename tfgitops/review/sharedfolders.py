"""Runs that write into one folder of a claim, as far as the texts of their containers say."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tfgitops.review.changes import is_job, job_name
from tfgitops.review.reviewresult import STARTS, Risk
from tfgitops.spec.diagnostics import a_few

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from tfgitops.review.reviewresult import EnvironmentReview

    Json = dict[str, Any]
    Writer = tuple["Folder", str]

_MARK = "\0"  # stands for the run's name in texts
_VARIABLE = re.compile(r"\$(?:\((\w+)\)|\{(\w+)|(\w+))")
_PATH = re.compile(r"(?<![^=:,;\s\"'(\[])/(?:\$\(\w+\)|[^\s\"',;:)\]])*")
_DEPTH_MAX = 10  # variables that name variables


@dataclass(frozen=True, kw_only=True)
class Folder:
    """A folder without the run's name that a Job may write.

    ``volume`` is the mounted claim, and the folder in the claim if only that folder is mounted. ``path`` is relative to
    the mount, empty if no text names a folder in it. ``elsewhere`` is whether the command of the container names the
    run for another place.
    """

    volume: tuple[str, str]
    path: str
    mount: str
    elsewhere: bool = False

    def outermost(self, known: Container[tuple[tuple[str, str], str]]) -> str:
        """Return the outermost path of the same volume that contains this folder; ``known`` are volumes and paths."""
        steps = self.path.split("/")
        above = ("/".join(steps[:depth]) for depth in range(len(steps)))
        return next((path for path in above if (self.volume, path) in known), self.path)


def written_folders(manifest: Mapping[str, Any]) -> list[Folder]:
    """Return the folders of claims that a Job may write, without those that have the run's name."""
    found: dict[Folder, None] = {}
    for task in manifest["spec"].get("tasks") or ():
        pod = (task.get("template") or {}).get("spec") or {}
        claims = {
            volume["name"]: volume["persistentVolumeClaim"]
            for volume in pod.get("volumes") or ()
            if "persistentVolumeClaim" in volume
        }
        for container in pod.get("containers") or ():
            found.update(dict.fromkeys(_of_container(container, claims)))
    return list(found)


def _of_container(container: Json, claims: Mapping[str, Json]) -> Iterator[Folder]:
    said, texts = _texts(container)
    paths = [path for text in texts for path in _PATH.findall(text)]
    names_run = any(_MARK in text for text in said)
    everywhere = any(_MARK in _PATH.sub("", text) for text in texts)  # for whatever it writes, and wherever
    for mount in container.get("volumeMounts") or ():
        claim = claims.get(mount["name"])
        if claim is None or claim.get("readOnly") or mount.get("readOnly") or everywhere:
            continue
        inner = [path for path in (_below(mount["mountPath"], path) for path in paths) if path is not None]
        if any(_MARK in path for path in (*inner, _expanded(str(mount.get("subPathExpr", "")), {"RUN": _MARK}))):
            continue
        volume = claim["claimName"], mount.get("subPath", "") or mount.get("subPathExpr", "")
        for path in inner or [""]:
            yield Folder(volume=volume, path=path, mount=mount["mountPath"], elsewhere=names_run)


def _texts(container: Json) -> tuple[list[str], list[str]]:
    """Return the command of a container, and the command with the variables; references are replaced."""
    entries = container.get("env") or ()
    values = {entry["name"]: str(entry["value"]) for entry in entries if entry.get("value") is not None}
    values["RUN"] = _MARK
    command = [*(container.get("command") or ()), *(container.get("args") or ())]
    said = [_expanded(text, values) for text in command]
    return said, [*said, *(_expanded(values[name], values) for name in values if name != "RUN")]


def _expanded(text: str, values: Mapping[str, str]) -> str:
    for _ in range(_DEPTH_MAX):
        again = _VARIABLE.sub(lambda match: values.get(match[1] or match[2] or match[3], match[0]), text)
        if again == text:
            break
        text = again
    return text


def _below(mount: str, path: str) -> str | None:
    """Return a path relative to a mount, None if it is not below it."""
    relative = posixpath.relpath(posixpath.normpath(path), posixpath.normpath(mount))
    if relative == ".." or relative.startswith("../"):
        return None
    return "" if relative == "." else relative


def _overlap(one: str, other: str) -> bool:
    """Tell whether two folders are the same, or one contains the other."""
    return not one or not other or f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")


_NAMED_MAX = 5


def shared_folders(one: EnvironmentReview) -> Iterator[Risk]:
    """Yield the folders of claims that a starting run shares with another run or with its own last one."""
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
            message = _both_write(group, {path: job_name(jobs[path]) for path in paths}, elsewhere)
        elif new and new[0].before is not None and _wrote(new[0].before, [folder for folder, _ in group]):
            message = f"the new run of '{new[0].title}' writes where its last one wrote: {_where(group)}"
        else:
            continue
        advice = "use $(RUN) in the command or in `subPath`, for a folder of each run's own"
        yield Risk("shared-path", one.name, message, advice)


def _meeting(writers: Iterable[Writer]) -> list[list[Writer]]:
    """Group the writers by the outermost folder that anyone writes, sorted."""
    writers = list(writers)
    known = {(folder.volume, folder.path) for folder, _ in writers}
    groups: dict[tuple[tuple[str, str], str], list[Writer]] = defaultdict(list)
    for folder, path in writers:
        groups[folder.volume, folder.outermost(known)].append((folder, path))
    return [groups[place] for place in sorted(groups)]


def _both_write(group: Sequence[Writer], names: Mapping[str, str], elsewhere: Container[str]) -> str:
    """Say that several jobs write one folder, and which of them name the run elsewhere."""
    unnamed = listing([name for path, name in names.items() if path not in elsewhere])
    named = listing([name for path, name in names.items() if path in elsewhere])
    reasons = [f"nothing in the command of {unnamed} names the run"] * bool(unnamed)
    reasons += [f"{named} {'name' if ',' in named or ' and ' in named else 'names'} it elsewhere alone"] * bool(named)
    return f"{listing(names.values())} may write to one folder, {_where(group)}: {', and '.join(reasons)}"


def listing(names: Iterable[str]) -> str:
    """Name a few jobs and the number of the others."""
    return a_few([f"'{name}'" for name in names], _NAMED_MAX)


def _where(group: Iterable[Writer]) -> str:
    """Name a folder as its writers see it."""
    folders = [folder for folder, _ in group]
    paths = {f"{folder.mount}/{folder.path}".rstrip("/") or "/" for folder in folders}
    outermost = {path for path in paths if not any(path.startswith(f"{other}/") for other in paths)}
    claim, sub_path = folders[0].volume
    return f"{' and '.join(sorted(outermost))} (claim {claim}{f', {sub_path}' if sub_path else ''})"


def _wrote(before: Json, folders: Sequence[Folder]) -> bool:
    """Tell whether an earlier run wrote one of some folders of a volume."""
    return any(
        old.volume == folders[0].volume and any(_overlap(old.path, new.path) for new in folders)
        for old in written_folders(before)
    )
