"""Runs that write into one folder of a claim, as far as the texts of their containers say."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tfgitops.review import phrases
from tfgitops.review.changes import is_job, job_name
from tfgitops.review.reviewresult import STARTS, Risk
from tfgitops.spec.diagnostics import a_few
from tfgitops.targets.kubernetes.names import plain_path

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.review.reviewresult import EnvironmentReview

    Json = dict[str, Any]
    Run = tuple[str, Path, str]  # a cluster, the folder of an environment, and the path of a manifest in it
    Writer = tuple["Folder", Run]

_MARK = "\0"  # stands for the run's name in texts
_VARIABLE = re.compile(r"\$(?:\((\w+)\)|\{(\w+)|(\w+))")
_PATH = re.compile(r"(?<![^=:,;\s\"'(\[])/(?:\$\(\w+\)|[^\s\"',;:)\]])*")
_DEPTH_MAX = 10  # variables that name variables


@dataclass(frozen=True, kw_only=True)
class Folder:
    """A folder without the run's name that a Job may write.

    ``claim`` is the namespace and the name of the mounted claim, ``path`` the folder in it, and ``sub_path`` the part
    of the path that is mounted. ``shown`` is the folder's path in the container. ``elsewhere`` is whether the command
    of the container names the run for another place.
    """

    claim: tuple[str, str]
    path: str
    sub_path: str
    shown: str
    elsewhere: bool = False


def written_folders(manifest: Mapping[str, Any]) -> list[Folder]:
    """Return the folders of claims that a Job may write, without those that have the run's name."""
    found: dict[Folder, None] = {}
    namespace = manifest.get("metadata", {}).get("namespace", "")
    for task in manifest["spec"].get("tasks") or ():
        pod = (task.get("template") or {}).get("spec") or {}
        claims = {
            volume["name"]: volume["persistentVolumeClaim"]
            for volume in pod.get("volumes") or ()
            if "persistentVolumeClaim" in volume
        }
        for container in pod.get("containers") or ():
            found.update(dict.fromkeys(_of_container(container, claims, namespace)))
    return list(found)


def _of_container(container: Json, claims: Mapping[str, Json], namespace: str) -> Iterator[Folder]:
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
        top, sub_path = plain_path(mount["mountPath"]), mount.get("subPath", "") or mount.get("subPathExpr", "")
        for path in inner or [""]:
            yield Folder(
                claim=(namespace, claim["claimName"]), path=plain_path(f"{sub_path}/{path}")[1:], elsewhere=names_run,
                sub_path=plain_path(sub_path)[1:], shown=plain_path(f"{top}/{path}"),
            )  # fmt: skip


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
    relative = posixpath.relpath(plain_path(path), plain_path(mount))
    if relative == ".." or relative.startswith("../"):
        return None
    return "" if relative == "." else relative


def _overlap(one: str, other: str) -> bool:
    """Tell whether two folders are the same, or one contains the other."""
    return not one or not other or f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")


_NAMED_MAX = 5


def shared_folders(environments: Sequence[EnvironmentReview], beside: Sequence[Compiled]) -> Iterator[Risk]:
    """Yield the folders of claims that a starting run shares with another run or with its own last one.

    A claim is one for all environments of its cluster and namespace, so the jobs ``beside`` those reviewed count too.
    """
    reviewed = [(one.cluster, one.compiled, one.changes) for one in environments if one.compiled]
    starting = {
        (cluster, compiled.folder, change.path): change
        for cluster, compiled, changes in reviewed
        for change in changes
        if change.is_job and change.verdict in STARTS
    }
    others = [(one.environment.cluster, one, ()) for one in beside if one.environment]
    jobs = {
        (cluster, compiled.folder, planned.path): planned.manifest
        for cluster, compiled, _ in ((*reviewed, *others) if starting else ())
        for planned in compiled.objects
        if is_job(planned.manifest)
    }
    for group in _meeting((folder, run) for run, manifest in jobs.items() for folder in written_folders(manifest)):
        runs = list(dict.fromkeys(run for _, run in group))
        new = [run for run in runs if run in starting]
        if not new:
            continue
        change, home = starting[new[0]], new[0][1]
        if len(runs) > 1:
            names = {run: ("" if run[1] == home else f"{run[1].name}/") + job_name(jobs[run]) for run in runs}
            message = _both_write(group, names, {run for folder, run in group if folder.elsewhere})
        elif change.before is not None and _wrote(change.before, [folder for folder, _ in group]):
            message = f"the new run of '{change.title}' writes where its last one wrote: {_where(group)}"
        else:
            continue
        advice = "use $(RUN) in the command or in `subPath`, for a folder of each run's own"
        yield Risk("shared-path", phrases.named(home), message, advice)


def _meeting(writers: Iterable[Writer]) -> list[list[Writer]]:
    """Group the writers by the outermost folder that anyone writes, sorted."""
    writers = list(writers)
    known = {(run[0], *folder.claim, folder.path) for folder, run in writers}
    groups: dict[tuple[str, ...], list[Writer]] = defaultdict(list)
    for folder, run in writers:
        steps = folder.path.split("/")
        above = ("/".join(steps[:depth]) for depth in range(len(steps)))
        outermost = next((path for path in above if (run[0], *folder.claim, path) in known), folder.path)
        groups[run[0], *folder.claim, outermost].append((folder, run))
    return [groups[place] for place in sorted(groups)]


def _both_write(group: Sequence[Writer], names: Mapping[Run, str], elsewhere: Container[Run]) -> str:
    """Say that several jobs write one folder, and which of them name the run elsewhere."""
    unnamed = listing([name for run, name in names.items() if run not in elsewhere])
    named = listing([name for run, name in names.items() if run in elsewhere])
    reasons = [f"nothing in the command of {unnamed} names the run"] * bool(unnamed)
    reasons += [f"{named} {'name' if ',' in named or ' and ' in named else 'names'} it elsewhere alone"] * bool(named)
    return f"{listing(names.values())} may write to one folder, {_where(group)}: {', and '.join(reasons)}"


def listing(names: Iterable[str]) -> str:
    """Name a few jobs and the number of the others."""
    return a_few([f"'{name}'" for name in names], _NAMED_MAX)


def _where(group: Iterable[Writer]) -> str:
    """Name a folder as its writers see it."""
    folders = [folder for folder, _ in group]
    paths = {folder.shown for folder in folders}
    outermost = {path for path in paths if not any(path.startswith(f"{other}/") for other in paths)}
    sub_paths = {folder.sub_path for folder in folders}
    mounted = f", {sub_paths.pop()}" if len(sub_paths) == 1 and "" not in sub_paths else ""
    return f"{' and '.join(sorted(outermost))} (claim {folders[0].claim[1]}{mounted})"


def _wrote(before: Json, folders: Sequence[Folder]) -> bool:
    """Tell whether an earlier run wrote one of some folders of a claim."""
    return any(
        old.claim == folders[0].claim and any(_overlap(old.path, new.path) for new in folders)
        for old in written_folders(before)
    )
