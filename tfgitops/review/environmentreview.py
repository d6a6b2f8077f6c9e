"""Compares the manifests of a base with the compiled ones: per environment, then between environments."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tfgitops.compiler.write import compare
from tfgitops.review import phrases
from tfgitops.review.causes import Cause, Causes
from tfgitops.review.changes import (
    VERDICTS,
    Change,
    as_stored,
    changes_between,
    changes_of,
    identity,
    is_job,
    job_name,
    manifest_in,
    pairs_of,
)
from tfgitops.review.committedspecs import CommitTree
from tfgitops.review.reviewresult import EnvironmentReview, Group
from tfgitops.spec.committed import MANIFESTS, READ_BY_CONTROLLERS, read_header
from tfgitops.spec.diagnostics import CompileError, a_few, has_errors
from tfgitops.spec.load import Reader
from tfgitops.spec.project import SPEC
from tfgitops.targets.gitops import KUSTOMIZATION

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from tfgitops.compiler.compiled import Compiled, File
    from tfgitops.compiler.session import Session
    from tfgitops.review.history import Base

    Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class BaseFiles:
    """The files of one environment at a base: manifests by their path below ``manifests/``, and the spec's path."""

    manifests: Mapping[str, str]
    spec: str | None


def committed(base: Base, folders: Iterable[Path]) -> dict[str, BaseFiles]:
    """Return the files of each environment at a base, by the path of its folder, past and present ones.

    An environment's folder is known by its spec, since it may itself lie below a folder called ``manifests``.
    """
    specs = {path.rpartition("/")[0] or ".": path for path in base.blobs if path.rpartition("/")[2] == SPEC}
    known = {*specs, *map(base.path, folders)}
    manifests: dict[str, dict[str, str]] = defaultdict(dict)
    for path in base.blobs:
        if path.endswith(READ_BY_CONTROLLERS) and (split := _split(path, known)):
            manifests[split[0]][split[1]] = path
    return {
        folder: BaseFiles(manifests=manifests.get(folder, {}), spec=specs.get(folder))
        for folder in sorted({*manifests, *specs})
        if not any(_split(f"{folder}/{SPEC}", {other}) for other in known)  # a spec among manifests is none
    }


def _split(path: str, known: Container[str]) -> tuple[str, str] | None:
    """Split the path of a manifest into the folder of its environment, the innermost known one, and the rest."""
    parts = path.split("/")
    for index in range(len(parts) - 2, -1, -1):
        folder = "/".join(parts[:index]) or "."
        if parts[index] == MANIFESTS and folder in known:
            return folder, "/".join(parts[index + 1 :])
    return None


def review_environment(compiled: Compiled, was: BaseFiles | None, base: Base, session: Session) -> EnvironmentReview:
    """Review an environment of the working tree."""
    environment, folder = compiled.environment, compiled.folder
    if environment is None or not compiled.ok:
        return EnvironmentReview(name=phrases.named(folder), folder=folder, state="broken", cluster=folder.name)
    old, still, notes = _manifests(base, was, {file.path: file for file in compiled.files})
    objects = {planned.path: planned for planned in compiled.objects}
    new = {path: planned.manifest for path, planned in objects.items() if path not in still}
    changes = sort_changes(changes_between(old, new))
    touched = {change.path for change in changes}
    unchanged = [planned for planned in compiled.objects if planned.path not in touched]
    groups = tuple(groups_of(compiled, base, changes, session))
    return EnvironmentReview(
        name=phrases.named(folder), folder=folder, state="compared" if was and was.manifests else "new",
        cluster=environment.cluster, compiled=compiled, changes=tuple(changes),
        unchanged=len(unchanged), jobs_unchanged=sum(bool(planned.own) for planned in unchanged),
        groups=groups, **differences_of(folder, compiled.files),
        pinned=tuple(job.name for job in environment.jobs if job.pin),
        notes=(*notes, *_stale(groups, base)),
    )  # fmt: skip


def review_gone(folder: Path, was: BaseFiles, base: Base) -> EnvironmentReview:
    """Review an environment that is gone, or gone from that cluster."""
    old, _, notes = _manifests(base, was, {})
    return EnvironmentReview(
        name=phrases.named(folder), folder=folder, state="gone", cluster=cluster_at(base, was, folder) or folder.name,
        notes=tuple(notes), changes=tuple(sort_changes(changes_between(old, {}))),
    )  # fmt: skip


def cluster_at(base: Base, was: BaseFiles, folder: Path) -> str | None:
    """Return the cluster of an environment at a base by its spec or what that extends; None if unreadable."""
    if was.spec is None:
        return None
    reader = Reader(CommitTree(base=base))
    for document in reader.chain(base.top / was.spec):
        if "cluster" in document.value:
            return str(document.value["cluster"] or folder.name)
    return None if has_errors(reader.diagnostics) else folder.name


def sort_changes(changes: Iterable[Change]) -> list[Change]:
    """Sort changes, the most important for a reviewer first."""
    return sorted(changes, key=lambda change: (VERDICTS.index(change.verdict), not change.is_job, change.path))


def _manifests(
    base: Base, was: BaseFiles | None, files: Mapping[str, File]
) -> tuple[dict[str, Json], set[str], list[str]]:
    """Return the committed manifests that differ from the compiled ones, the paths of the others, and notes."""
    paths = was.manifests if was else {}
    differing = [
        path
        for path, full in paths.items()
        if path.rpartition("/")[2] != KUSTOMIZATION and (path not in files or base.differs(full, files[path].text))
    ]
    texts = base.read([paths[path] for path in differing])
    found, notes = {}, []
    for path in differing:
        text = _text(texts[paths[path]])
        header, manifest = read_header(text), manifest_in(text)
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


def moved_between(found: Sequence[EnvironmentReview], base: Base, session: Session) -> list[EnvironmentReview]:
    """Join objects that one environment stops writing and another of the same cluster starts to write.

    A pair is the same object, or else two runs of one job in one namespace.
    """
    pairs: dict[int, Change] = {}
    for cluster in {one.cluster for one in found}:
        changes = [change for one in found if one.cluster == cluster for change in one.changes]
        pairs |= pairs_of(changes, identity, _job)
    homes = {id(change): one.folder for one in found for change in one.changes}
    return [_joined(one, pairs, homes, base, session) for one in found] if pairs else [*found]


def _job(manifest: Json) -> tuple[str, str] | None:
    return (manifest["metadata"].get("namespace", ""), job_name(manifest)) if is_job(manifest) else None


def _joined(
    one: EnvironmentReview, pairs: Mapping[int, Change], homes: Mapping[int, Path], base: Base, session: Session
) -> EnvironmentReview:  # fmt: skip
    """Return an environment's review without the objects it gave away, and with those it took over.

    ``homes`` are the folders of the environments that the changes are in, by the `id` of the change.
    """
    changes: list[Change] = []
    moves: dict[str, str] = {}
    given = {id(old) for old in pairs.values()}
    for change in one.changes:
        if old := pairs.get(id(change)):
            changes.append(changes_of(change.path, old.before, change.after)[0])
            moves[base.path(one.folder)] = base.path(homes[id(old)])
        elif id(change) not in given:
            changes.append(change)
    still = [change for change in changes if change.verdict == "unchanged"]
    changes = sort_changes(change for change in changes if change.verdict != "unchanged")
    groups = one.groups
    if one.compiled and moves:
        groups = tuple(groups_of(one.compiled, replace(base, moves=moves), changes, session))
    return replace(
        one, changes=tuple(changes), groups=groups, unchanged=one.unchanged + len(still),
        jobs_unchanged=one.jobs_unchanged + sum(change.is_job for change in still),
        shared=bool(moves) or len(changes) + len(still) < len(one.changes),
    )  # fmt: skip
