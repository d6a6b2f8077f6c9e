"""Compares what is committed at a base with what the specs compile to, object by object."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tfgitops.causes import Cause, Causes
from tfgitops.changes import VERDICTS, Change, changes_between
from tfgitops.committed import MANIFESTS, READ_BY_CONTROLLERS
from tfgitops.diagnostics import CompileError
from tfgitops.gitops.kustomize import KUSTOMIZATION
from tfgitops.headers import read_header
from tfgitops.load import shown
from tfgitops.project import SPEC
from tfgitops.review.model import EnvironmentReview, Group
from tfgitops.review.specs import Specs, plain_text
from tfgitops.write import compare
from tfgitops.yamltext import TextError, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from tfgitops.pipeline import Compiled, File
    from tfgitops.plan import Planned
    from tfgitops.plugins import Plugins
    from tfgitops.review.history import Base

    Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Committed:
    """What a base has of one environment: its manifests by their path below ``manifests/``, and its spec's path."""

    manifests: Mapping[str, str]
    spec: str | None


def committed(base: Base) -> dict[str, Committed]:
    """Return what a base has of each environment, by the path of its folder."""
    manifests: dict[str, dict[str, str]] = defaultdict(dict)
    specs: dict[str, str] = {}
    for path in base.blobs:
        folder, found, inner = path.partition(f"/{MANIFESTS}/")
        if found and path.endswith(READ_BY_CONTROLLERS):
            manifests[folder][inner] = path
        elif path.endswith(f"/{SPEC}"):
            specs[path.removesuffix(f"/{SPEC}")] = path
    return {
        folder: Committed(manifests=manifests.get(folder, {}), spec=specs.get(folder))
        for folder in sorted({*manifests, *specs})
    }


def review_environment(compiled: Compiled, was: Committed | None, base: Base, plugins: Plugins) -> EnvironmentReview:
    """Say what becomes of each object of an environment that is there now."""
    environment, folder = compiled.environment, compiled.folder
    if environment is None or not compiled.ok:
        return EnvironmentReview(name=shown(folder), folder=folder, state="broken", cluster=folder.name)
    old, still, notes = _manifests(base, was, {file.path: file for file in compiled.files})
    objects = {planned.path: planned for planned in compiled.objects}
    new = {path: planned.manifest for path, planned in objects.items() if path not in still}
    changes = sort_changes(changes_between(old, new))
    touched = {change.path for change in changes}
    unchanged = [planned for planned in compiled.objects if planned.path not in touched]
    return EnvironmentReview(
        name=shown(folder), folder=folder, state="compared" if was and was.manifests else "new",
        cluster=environment.cluster, gitops=environment.gitops, compiled=compiled, changes=tuple(changes),
        unchanged=len(unchanged), jobs_unchanged=sum(bool(planned.own) for planned in unchanged),
        groups=tuple(_groups(compiled, base, changes, objects, plugins)), differences=tuple(_differences(compiled)),
        notes=tuple(notes),
    )  # fmt: skip


def review_gone(folder: Path, was: Committed, base: Base) -> EnvironmentReview:
    """Say what becomes of the objects of an environment that is no more."""
    old, _, notes = _manifests(base, was, {})
    cluster, gitops = folder.name, "none"
    if was.spec:
        spec = _parsed(base.read([was.spec])[was.spec])
        if isinstance(spec, dict):
            cluster, gitops = str(spec.get("cluster", cluster)), str(spec.get("gitops", gitops))
    return EnvironmentReview(
        name=shown(folder), folder=folder, state="gone", cluster=cluster, gitops=gitops, notes=tuple(notes),
        changes=tuple(sort_changes(changes_between(old, {}))),
    )  # fmt: skip


def sort_changes(changes: Iterable[Change]) -> list[Change]:
    """Sort changes: what a reviewer must see first comes first."""
    return sorted(changes, key=lambda change: (VERDICTS.index(change.verdict), not change.is_job, change.path))


def _manifests(
    base: Base, was: Committed | None, files: Mapping[str, File]
) -> tuple[dict[str, Json], set[str], list[str]]:
    """Return the committed manifests that are not as compiled now, the paths of those that are, and what is odd."""
    paths = was.manifests if was else {}
    differing = [
        path
        for path, full in paths.items()
        if path.rpartition("/")[2] != KUSTOMIZATION and (path not in files or base.differs(full, files[path].text))
    ]
    texts = base.read([paths[path] for path in differing])
    found, notes = {}, []
    for path in differing:
        text = texts[paths[path]]
        ours = read_header(plain_text(text) or "") is not None
        manifest = _parsed(text)
        if _is_object(manifest) and (ours or path in files):
            found[path] = manifest
        if not ours:
            what = "compared as it is" if path in found else "not compared"
            notes.append(f"{paths[path]} at {base.commit[:10]} was not generated by tfgitops: {what}")
        elif path not in found:
            notes.append(f"{paths[path]} at {base.commit[:10]} cannot be read: not compared")
    return found, paths.keys() - differing, notes


def _parsed(content: bytes) -> Any:
    text = plain_text(content)
    try:
        return None if text is None else parse(text)
    except TextError:
        return None


def _is_object(value: Any) -> bool:
    """Tell whether a value is a manifest of one object, as far as reviews look into it."""
    return (
        isinstance(value, dict)
        and all(isinstance(value.get(key), str) for key in ("apiVersion", "kind"))
        and isinstance(value.get("metadata"), dict)
        and isinstance(value["metadata"].get("name"), str)
        and isinstance(value.get("spec", {}), dict)
    )


def _differences(compiled: Compiled) -> Iterator[Any]:
    """List the manifests in the working tree that are not as compiled, as far as they can be compared."""
    try:
        yield from compare(compiled.folder, compiled.files)
    except CompileError:  # a file in the way: `build` says so, and review is about what would be
        return


def _groups(
    compiled: Compiled, base: Base, changes: Iterable[Change], objects: Mapping[str, Planned], plugins: Plugins
) -> Iterator[Group]:
    """Group the new runs by what caused them; the causes of most trainings come first."""
    environment = compiled.environment
    assert environment is not None
    restarted = [change for change in changes if change.is_job and change.verdict == "new run"]
    if not restarted:
        return
    specs, jobs = Specs(environment.places, base), {job.route: job for job in environment.jobs}
    finder = Causes(environment, plugins, specs.differ)
    groups: dict[tuple[Cause, ...], list[Change]] = defaultdict(list)
    for change in restarted:
        planned = objects[change.path]
        job = jobs[planned.because]
        groups[tuple(specs.settle(job, finder.of(job, planned, change)))].append(change)
    for causes, group in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        yield Group(causes=causes, changes=tuple(group))
