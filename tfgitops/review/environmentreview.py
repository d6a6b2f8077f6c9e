"""Compares the manifests of a base with the compiled ones: per environment, then between environments."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tfgitops.compiler.compiled import Compiled
from tfgitops.compiler.write import compare
from tfgitops.review import phrases
from tfgitops.review.causes import Cause, Causes
from tfgitops.review.changes import VERDICTS, Change, as_stored
from tfgitops.review.committedspecs import CommitTree
from tfgitops.review.pairing import changes_of_all, paired
from tfgitops.review.rereading import manifest_in
from tfgitops.review.reviewresult import EnvironmentReview, Group
from tfgitops.spec.committed import MANIFESTS, read_header
from tfgitops.spec.diagnostics import CompileError, a_few, has_errors
from tfgitops.spec.load import Reader
from tfgitops.spec.project import SPEC
from tfgitops.targets.gitops import KUSTOMIZATION

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from tfgitops.compiler.compiled import File
    from tfgitops.compiler.session import Session
    from tfgitops.review.history import Base
    from tfgitops.review.pairing import Placed
    from tfgitops.spec.model import Environment

    Json = dict[str, Any]
    Files = Mapping[str, str]


def committed(base: Base, folders: Iterable[Path]) -> dict[str, Files]:
    """Return the manifests of each environment at a base, by the path of its folder, past and present ones.

    An environment's folder is known by its spec, since it may itself lie below a folder called ``manifests``; without
    a spec, by the manifest of a training.
    """
    specs = {path.rpartition("/")[0] or "." for path in base.blobs if path.rpartition("/")[2] == SPEC}
    known = {*specs, *map(base.path, folders), *(home for homes in base.homes.values() for home in homes)}
    manifests: dict[str, dict[str, str]] = defaultdict(dict)
    for path in base.blobs:
        if split := _split(path, known):
            manifests[split[0]][split[1]] = path
    return {
        folder: manifests.get(folder, {})
        for folder in sorted({*manifests, *specs})
        if not _split(f"{folder}/{SPEC}", known)  # a spec among manifests is none
    }


def _split(path: str, known: Container[str]) -> tuple[str, str] | None:
    """Split the path of a manifest into the folder of its environment, the innermost known one, and the rest."""
    parts = path.split("/")
    for index in range(len(parts) - 2, -1, -1):
        folder = "/".join(parts[:index]) or "."
        if parts[index] == MANIFESTS and folder in known:
            return folder, "/".join(parts[index + 1 :])
    return None


def review_environment(compiled: Compiled, was: Files | None, base: Base) -> EnvironmentReview:
    """Review an environment of the working tree, file by file."""
    environment, folder = compiled.environment, compiled.folder
    if environment is None or not compiled.ok:
        return EnvironmentReview(name=phrases.named(folder), folder=folder, state="broken", cluster=folder.name)
    old, still, notes = _manifests(base, was or {}, compiled)
    new = {planned.path: planned.manifest for planned in compiled.objects if planned.path not in still}
    return EnvironmentReview(
        name=phrases.named(folder), folder=folder, state="compared" if was else "new", cluster=environment.cluster,
        compiled=compiled, changes=tuple(changes_of_all(old, new)), **differences_of(folder, compiled.files),
        pinned=tuple(job.name for job in environment.jobs if job.pin), notes=tuple(notes),
    )  # fmt: skip


def review_gone(folder: Path, was: Files, base: Base) -> EnvironmentReview:
    """Review an environment that is gone, or gone from that cluster."""
    old, _, notes = _manifests(base, was, Compiled(folder=folder, diagnostics=()))
    return EnvironmentReview(
        name=phrases.named(folder), folder=folder, state="gone", cluster=cluster_at(base, folder) or folder.name,
        notes=tuple(notes), changes=tuple(changes_of_all(old, {})),
    )  # fmt: skip


def cluster_at(base: Base, folder: Path) -> str | None:
    """Return the cluster of an environment at a base by its last spec or what that extends; None if unreadable."""
    path = base.path(folder / SPEC)
    there = base if path in base.blobs else base.last_with(path)
    reader = Reader(CommitTree(base=there or base))
    for document in reader.chain(base.top / path):
        if "cluster" in document.value:
            return str(document.value["cluster"] or folder.name)
    return None if has_errors(reader.diagnostics) else folder.name


def names_cluster(environment: Environment | None) -> bool:
    """Tell whether the spec of an environment names its cluster, which else has the name of its folder."""
    return environment is not None and any("cluster" in document.value for document in environment.places.documents)


def sort_changes(changes: Iterable[Change]) -> list[Change]:
    """Sort changes, the most important for a reviewer first."""
    return sorted(changes, key=lambda change: (VERDICTS.index(change.verdict), not change.is_job, change.path))


def _manifests(
    base: Base, paths: Files, compiled: Compiled
) -> tuple[dict[str, Json], set[str], list[str]]:  # fmt: skip
    """Return the committed manifests that differ from the compiled ones, the paths of the others, and notes."""
    files = {file.path: file for file in compiled.files}
    later = {planned.path: planned.manifest for planned in compiled.objects}
    differing = [
        path
        for path, full in paths.items()
        if path.rpartition("/")[2] != KUSTOMIZATION and (path not in files or base.differs(full, files[path].text))
    ]
    texts = base.read([paths[path] for path in differing])
    found, notes = {}, []
    for path in differing:
        text = _text(texts[paths[path]])
        header, manifest = read_header(text), manifest_in(text, later.get(path))
        if manifest and (header or path in files):
            found[path] = manifest if header and header.intact else as_stored(manifest)
        there = f"{paths[path]} at {base.commit[:10]}"
        if not header:
            what = "compared as it is" if path in found else "not compared"
            notes.append(f"{there} was not generated by tfgitops: {what}")
        elif path not in found:
            notes.append(f"{there} cannot be read: not compared")
    return found, paths.keys() - differing, notes


def _text(content: bytes) -> str:
    """Return a manifest's text with LF line ends; "" for a file that is no text."""
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return ""


def differences_of(folder: Path, files: Iterable[File]) -> Json:
    """Return the manifests of the working tree that are not as compiled, or the problem of comparing them."""
    try:
        return {"differences": tuple(compare(folder, files))}
    except CompileError as error:
        return {"blocked": tuple(error.diagnostics)}


def _stale(groups: Iterable[Group], base: Base) -> Iterator[str]:
    """Say which jobs restart since the base has manifests that are older than its specs."""
    if names := sorted(name for group in groups for name in group.stale):
        older = f"the manifests at {base.commit[:10]} are older than its specs"
        yield f"{older}, which is why these restart, too: {a_few(names)}"


def groups_of(compiled: Compiled, base: Base, changes: Iterable[Change], session: Session) -> Iterator[Group]:
    """Group the new runs by their causes, those of most trainings first."""
    environment = compiled.environment
    restarted = [change for change in changes if change.is_job and change.verdict == "new run"]
    if not restarted or environment is None:
        return
    objects = {planned.path: planned for planned in compiled.objects}
    jobs = {change.path: environment.by_name[change.title] for change in restarted}
    finder = Causes(environment, session, base, jobs.values())
    causes = {change.path: finder.of(jobs[change.path], objects[change.path], change) for change in restarted}
    often = Counter(cause for found in causes.values() for cause in found)
    groups: dict[Cause | None, list[Change]] = defaultdict(list)
    for change in restarted:
        groups[max(causes[change.path], key=lambda cause: often[cause], default=None)].append(change)
    for _, group in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0] is not None, item[0])):
        shared = set.intersection(*(set(causes[change.path]) for change in group))
        also = {change.path: tuple(one for one in causes[change.path] if one not in shared) for change in group}
        yield Group(
            causes=tuple(sorted(shared)), changes=tuple(group),
            also={path: found for path, found in also.items() if found},
            stale=tuple(change.title for change in group if change.title in finder.stale),
        )  # fmt: skip


def joined_between(found: Sequence[EnvironmentReview], base: Base, session: Session) -> list[EnvironmentReview]:
    """Join what some environments stop writing with what they, or others of the same cluster, start to write.

    Only then the causes of new runs can be told, and which objects are unchanged.
    """
    now: dict[tuple[Path | None, str], list[Placed]] = defaultdict(list)
    takers: dict[tuple[Path | None, str], set[Path | None]] = defaultdict(set)
    for cluster in {one.cluster for one in found}:
        here = [(one.folder, change) for one in found if one.cluster == cluster for change in one.changes]
        for taker, (giver, change) in paired(here):
            now[taker, cluster].append((giver, change))
            takers[giver, cluster] |= {taker} - {giver}
    moves: dict[Path | None, Path] = {}
    for one in found:
        givers = {giver for giver, _ in now[one.folder, one.cluster]} - {one.folder}
        for gone in (other for other in found if one.state == "new" and other.state == "gone"):
            if givers == {gone.folder} and takers[gone.folder, gone.cluster] == {one.folder}:
                moves |= {one.folder: gone.folder, gone.folder: one.folder}
    return [
        _settled(
            replace(
                one, moved=moves.get(one.folder), shared=bool(takers[one.folder, one.cluster])
            ), now[one.folder, one.cluster], base, session,
        )
        for one in found
    ]  # fmt: skip


def _settled(one: EnvironmentReview, found: Sequence[Placed], base: Base, session: Session) -> EnvironmentReview:
    """Return an environment's review with its changes, each beside the folder that had the object."""
    changes = sort_changes(change for _, change in found if change.verdict != "unchanged")
    touched = {change.path for change in changes if change.after is not None}
    unchanged = [planned for planned in one.compiled.objects if planned.path not in touched] if one.compiled else []
    groups: list[Group] = []
    homes: dict[Path, list[Change]] = defaultdict(list)
    for home, change in found:
        if home:
            homes[home].append(change)
    for home, moved in homes.items():
        there = base if home == one.folder else replace(base, moves={base.path(one.folder): base.path(home)})
        groups += groups_of(one.compiled, there, sort_changes(moved), session) if one.compiled else ()
    return replace(
        one, changes=tuple(changes), groups=tuple(sorted(groups, key=lambda group: -len(group.changes))),
        unchanged=len(unchanged), jobs_unchanged=sum(bool(planned.own) for planned in unchanged),
        shared=one.shared or any(home != one.folder for home in homes), notes=(*one.notes, *_stale(groups, base)),
    )  # fmt: skip
