"""What can go wrong when a change is applied: what a reviewer would want to be told."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from tfgitops.gitops.argocd import SYNC_OPTIONS
from tfgitops.gitops.flux import PRUNE
from tfgitops.kubernetes.immutable import grows
from tfgitops.review.changes import is_job, job_name
from tfgitops.review.model import NO_LINE, Risk
from tfgitops.review.queues import is_queue

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tfgitops.review.changes import Change
    from tfgitops.review.history import Base
    from tfgitops.review.model import EnvironmentReview

    Json = dict[str, Any]
    Place = tuple[str, str, str]

MANY = 3
"""From how many trainings on one change that restarts them is a risk of its own."""

RISKS = {
    "refused": "the cluster does not take a change, and what comes after it waits",
    "many": "one change restarts many trainings",
    "returns": "an object gets a name that it had before: what ran under it runs again",
    "shared-path": "two runs write into one folder of a claim",
    "vanishes": "a claim, a queue or a namespace is no longer written",
    "grows": "a claim grows, which its storage class must allow",
    "tag": "an image without a digest may be another one tomorrow",
}
"""Every kind of risk, the gravest first."""

_NO_LINE = (NO_LINE, "")
_RUN = re.compile(r"\$\(RUN\)|\$\{?RUN\b")
_ABSOLUTE = re.compile(r"(?:^|[=:\s\"'])/")
_STARTS = ("new run", "added", "renamed")


def risks_of(environments: Sequence[EnvironmentReview], base: Base) -> list[Risk]:
    """Return all risks of a change, the gravest first, and else in the order of environments."""
    found = []
    for one in environments:
        found += [
            *_refused(one), *_vanishing(one), *_returning(one, base), *_shared_paths(one), *_growing(one), *_tags(one),
        ]  # fmt: skip
    gravity = list(RISKS)
    return sorted([*_many(environments), *found], key=lambda risk: gravity.index(risk.code))


def _refused(one: EnvironmentReview) -> Iterator[Risk]:
    for change in one.changes:
        if change.verdict == "refused":
            message = f"{change.kind} '{change.title}' is refused, and stops the sync of what comes after it"
            yield Risk(code="refused", environment=one.name, message=message, advice=_way_out(change))


def _way_out(change: Change) -> str:
    if change.kind == "PersistentVolumeClaim":
        return "declare another volume under another name, and move what is in it"
    if is_queue(change.manifest):
        return "change the queues below it first, in a change of their own"
    return "give the object another name"


def _vanishing(one: EnvironmentReview) -> Iterator[Risk]:
    for change in one.changes:
        if change.verdict == "removed" and (change.kind in ("PersistentVolumeClaim", "Namespace") or _queue(change)):
            message = f"{change.kind} '{change.title}' is no longer written"
            yield Risk(code="vanishes", environment=one.name, message=message, advice=_fate(change.manifest))


def _fate(manifest: Json) -> str:
    """Say what a controller does with an object that is no longer in Git, by what its annotations tell it."""
    annotations = (manifest["metadata"].get("annotations") or {}).items()
    if any(key == SYNC_OPTIONS and "Prune=false" in str(value) for key, value in annotations):
        return "Argo CD keeps it, and nothing describes it any more"
    if (PRUNE, "disabled") in annotations:
        return "Flux keeps it, and nothing describes it any more"
    return "`kubectl apply` leaves it; `kubectl apply --prune` deletes it, and what is in it"


def _queue(change: Change) -> bool:
    return is_queue(change.manifest)


def _returning(one: EnvironmentReview, base: Base) -> Iterator[Risk]:
    """Look for names that stood in earlier versions of the same files."""
    new = {
        change.path: change
        for change in one.changes
        if change.is_job and change.verdict in _STARTS and change.new_name != change.old_name
    }
    if not new or one.compiled is None:
        return
    top = base.path(one.folder)
    paths = {f"{top}/manifests/{path}": path for path in new}
    earlier = base.earlier(sorted(paths))
    for full, path in paths.items():
        change = new[path]
        name = f"\n  name: {change.new_name}\n".encode()
        if any(name in content.replace(b"\r\n", b"\n") for content in earlier.get(full, ())):
            yield Risk(
                code="returns", environment=one.name,
                message=f"'{change.title}' returns to {change.new_name}, which ran before: it will run again",
                advice="set `rerun` for a name of its own, or see that its folders may be written again",
            )  # fmt: skip


def _shared_paths(one: EnvironmentReview) -> Iterator[Risk]:
    """Find folders of claims that a run will write which another run writes, or its own run before wrote."""
    if one.compiled is None:
        return
    starting = {change.path: change for change in one.changes if change.is_job and change.verdict in _STARTS}
    if not starting:
        return
    writers: dict[Place, list[str]] = {}
    for planned in one.compiled.objects:
        if is_job(planned.manifest):
            for place in written_places(planned.manifest):
                writers.setdefault(place, []).append(planned.path)
    names = {planned.path: job_name(planned.manifest) for planned in one.compiled.objects if is_job(planned.manifest)}
    for (claim, folder, mount), paths in sorted(writers.items()):
        new = [starting[path] for path in paths if path in starting]
        where = f"{mount} (claim {claim}{f', {folder}' if folder else ''})"
        if len(paths) > 1 and new:
            jobs = ", ".join(f"'{names[path]}'" for path in paths[:5]) + (" and more" if len(paths) > 5 else "")  # noqa: PLR2004
            message = f"{jobs} all write to {where}, and nothing in their commands names the run"
            yield _shared(one, message)
        elif new and new[0].before is not None and (claim, folder, mount) in written_places(new[0].before):
            message = f"the new run of '{new[0].title}' writes where its last one wrote: {where}"
            yield _shared(one, message)


def _shared(one: EnvironmentReview, message: str) -> Risk:
    advice = "use $(RUN) in the command or in `subPath`, for a folder of each run's own"
    return Risk(code="shared-path", environment=one.name, message=message, advice=advice)


def written_places(manifest: Mapping[str, Any]) -> list[Place]:
    """Return (claim, subPath, mountPath) of each folder that a Job writes and whose containers do not name the run."""
    found: dict[Place, None] = {}
    for task in manifest["spec"].get("tasks") or ():
        pod = (task.get("template") or {}).get("spec") or {}
        claims = {
            volume["name"]: volume["persistentVolumeClaim"]
            for volume in pod.get("volumes") or ()
            if "persistentVolumeClaim" in volume
        }
        for container in pod.get("containers") or ():
            for mount in container.get("volumeMounts") or ():
                claim = claims.get(mount["name"])
                written = claim and not claim.get("readOnly") and not mount.get("readOnly")
                if claim and written and not _has_own_folder(mount, container):
                    found[claim["claimName"], mount.get("subPath", ""), mount["mountPath"]] = None
    return list(found)


def _has_own_folder(mount: Json, container: Json) -> bool:
    """Tell whether a run writes to a folder of its own below a mount, as far as its texts say.

    A text that names the run, and this mount or no path at all, says where this run writes.
    """
    if _RUN.search(str(mount.get("subPathExpr", ""))):
        return True
    texts = [*(container.get("command") or ()), *(container.get("args") or ())]
    texts += [str(entry.get("value", "")) for entry in container.get("env") or () if entry["name"] != "RUN"]
    named = [text for text in texts if _RUN.search(text)]
    return any(mount["mountPath"] in text or not _ABSOLUTE.search(text) for text in named)


def _many(environments: Sequence[EnvironmentReview]) -> Iterator[Risk]:
    """Find what restarts many trainings, over all environments."""
    restarted: Counter[tuple[str, str]] = Counter()
    where: dict[tuple[str, str], dict[str, None]] = {}
    for one in environments:
        for group in one.groups:
            for change in group.changes:
                causes = (*group.causes, *group.also.get(change.path, ()))
                for place in {(cause.label, cause.span.file) for cause in causes} or {_NO_LINE}:
                    restarted[place] += 1
                    where.setdefault(place, {})[one.name] = None
    for (label, file), number in sorted(restarted.items(), key=lambda item: (-item[1], item[0])):
        if number >= MANY:
            cause = f"`{label}` in {file}" if file else label
            names = list(where[label, file])
            yield Risk(
                code="many", environment=names[0] if len(names) == 1 else f"{len(names)} environments",
                message=f"{cause} restarts {number} trainings",
                advice="pin those that should run on: tfgitops build --pin-rest",
            )  # fmt: skip


def _growing(one: EnvironmentReview) -> Iterator[Risk]:
    for change in one.changes:
        if change.kind == "PersistentVolumeClaim" and change.verdict == "in place" and _grown(change):
            assert change.after is not None
            storage = change.after["spec"].get("storageClassName")
            what = f"storage class {storage}" if storage else "the default storage class"
            message = f"claim '{change.title}' grows, which {what} must allow (allowVolumeExpansion)"
            yield Risk(code="grows", environment=one.name, message=message, advice="else the change is refused")


def _grown(change: Change) -> bool:
    return change.before is not None and change.after is not None and grows(change.before, change.after)


def _tags(one: EnvironmentReview) -> Iterator[Risk]:
    images: dict[str, list[str]] = {}
    for change in one.changes:
        if change.is_job and change.verdict in _STARTS and change.after is not None:
            for image in sorted(set(_images(change.after))):
                if "@" not in image:
                    images.setdefault(image, []).append(change.title)
    for image, jobs in images.items():
        users = f"{len(jobs)} trainings start" if len(jobs) > 1 else f"'{jobs[0]}' starts"
        message = f"{users} with {image}, an image without a digest"
        yield Risk(
            code="tag",
            environment=one.name,
            message=message,
            advice="name it by its digest, `@sha256:…`, to know what runs",
        )


def _images(manifest: Json) -> Iterable[str]:
    for task in manifest["spec"].get("tasks") or ():
        pod = (task.get("template") or {}).get("spec") or {}
        for container in (*(pod.get("initContainers") or ()), *(pod.get("containers") or ())):
            yield str(container.get("image", ""))
