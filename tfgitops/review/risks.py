"""The risks of applying a change."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from tfgitops.review.changes import is_queue
from tfgitops.review.phrases import named, near
from tfgitops.review.pinhistory import unknown_pins, was_known
from tfgitops.review.refusals import another_name
from tfgitops.review.reviewresult import NO_LINE, STARTS, Risk
from tfgitops.review.sharedfolders import listing, shared_folders
from tfgitops.spec.committed import MANIFESTS
from tfgitops.spec.diagnostics import a_few
from tfgitops.targets.gitops import MOVED, folder_news, kept_by
from tfgitops.targets.kubernetes.containers import GRACE
from tfgitops.targets.kubernetes.image import pod_images
from tfgitops.targets.kubernetes.objectkinds import grows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.review.changes import Change
    from tfgitops.review.history import Base
    from tfgitops.review.reviewresult import EnvironmentReview

    Json = dict[str, Any]

MANY = 3
"""The number of trainings from which on it is a risk that one change restarts them."""

RISKS = (
    "pin", "foreign", "edited", "blocked", "refused", "many", "returns", "stays", "shared-path", "vanishes", "grows",
    "folders", "tag",
)  # fmt: skip
"""The codes of all risks, the gravest first."""

_HANDS = (
    ("foreign", "not generated, and a controller may apply it all the same", "move it out of manifests/"),
    ("edited", "edited, and the controller applies it so", "`tfgitops build` restores it; change the spec instead"),
)
_FORGED = "nobody can tell from which spec it was compiled: restore it from Git, or give up the pin"
_PATHS_MAX = 3
_LOST = "Volcano may lose the new run, and then nothing ends it"
_RETURN = "wait that long, or set `rerun` for a name of its own"
_LOSABLE = 2
"""How many times the seconds of its pods' end a name is in danger: Volcano looks again after as long at most."""
_NO_LINE = (NO_LINE, "")


def risks_of(environments: Sequence[EnvironmentReview], base: Base, beside: Sequence[Compiled]) -> list[Risk]:
    """Return all risks of a change, the gravest first, then in the order of environments.

    ``beside`` are environments of the same clusters that are not reviewed.
    """
    found = []
    earlier = base.earlier(sorted(path for one in environments for path in _renamed(one, base)))
    for one in environments:
        found += [
            *_by_hand(one, base), *_refused(one), *_vanishing(one), *_returning(one, base, earlier), *_staying(one),
            *_growing(one), *_folders(one, base), *_tags(one),
        ]  # fmt: skip
    return sorted(
        [*_many(environments), *found, *shared_folders(environments, beside)], key=lambda risk: RISKS.index(risk.code)
    )


def _by_hand(one: EnvironmentReview, base: Base) -> Iterator[Risk]:
    """Find files in `manifests/` that no spec describes: a controller applies them too."""
    for code, was, advice in _HANDS:
        paths = [f"manifests/{found.path}" for found in one.differences if found.state == code]
        if paths:
            message = f"{a_few(paths, _PATHS_MAX)} {'was' if len(paths) == 1 else 'were'} {was}"
            yield Risk(code, one.name, message, advice)
    for kept in unknown_pins(one.compiled, base) if one.compiled else ():
        if not was_known(base, kept.text):
            message = f"manifests/{kept.path} is kept by a pin, and no commit up to {base.commit[:10]} has it as it is"
            yield Risk("pin", one.name, message, f"{_FORGED}: `tfgitops unpin`")
    for problem in one.blocked:
        yield Risk("blocked", one.name, problem.message, problem.hint)


def _refused(one: EnvironmentReview) -> Iterator[Risk]:
    found: dict[tuple[str, str], list[Change]] = defaultdict(list)
    for change in one.changes:
        if change.verdict == "refused":
            found[change.kind, change.way_out or another_name(change)].append(change)
    for (kind, way_out), changes in found.items():
        names, many = listing([change.title for change in changes]), len(changes) > 1
        does, whom = ("are refused, and stop", "them") if many else ("is refused, and stops", "it")
        message = f"{kind}{'s' * many} {names} {does} the sync of what comes after {whom}"
        yield Risk("refused", one.name, message, way_out)


def _vanishing(one: EnvironmentReview) -> Iterator[Risk]:
    for change in one.changes:
        keeps = change.kind in ("PersistentVolumeClaim", "Namespace") or is_queue(change.manifest)
        if change.verdict == "removed" and keeps:
            where = f" for cluster {one.cluster}" if one.other_cluster else ""
            message = f"{change.kind} '{change.title}' is no longer written{where}"
            yield Risk("vanishes", one.name, message, _fate(change.manifest))


def _fate(manifest: Json) -> str:
    """Say what a controller does with an object that is no longer in Git, by its annotations."""
    if controller := kept_by(manifest):
        if manifest["kind"] == "Namespace":
            return f"{controller} keeps it in the cluster, with all that is in it"
        name = manifest["metadata"]["name"]
        what = f"queue {name}" if is_queue(manifest) else f"pvc {name} -n {manifest['metadata']['namespace']}"
        return f"{controller} keeps it in the cluster. When nobody needs it any more: kubectl delete {what}"
    return "`kubectl apply` leaves it; `kubectl apply --prune` deletes it, and what is in it"


def _renamed(one: EnvironmentReview, base: Base) -> dict[str, Change]:
    """Return the starts of runs with another name by the path of their file; none where nothing of it ran before."""
    if one.compiled is None or one.other_cluster:
        return {}
    top = base.path(one.home)
    return {
        f"{top}/manifests/{change.path}": change
        for change in one.changes
        if change.is_job and change.verdict in STARTS and change.new_name != change.old_name
    }


def _returning(one: EnvironmentReview, base: Base, earlier: Mapping[str, Sequence[bytes]]) -> Iterator[Risk]:
    """Look for names that stood in earlier versions of the same files."""
    returning = []
    for path, change in _renamed(one, base).items():
        metadata = change.manifest["metadata"]
        lines = [f"\n  {key}: {metadata[key]}\n".encode() for key in ("name", "namespace")]
        texts = (content.replace(b"\r\n", b"\n") for content in earlier.get(path, ()))
        if any(all(line in text for line in lines) for text in texts):
            returning.append(change)
    if returning:
        listed, grace = listing([change.title for change in returning]), max(_grace(change) for change in returning)
        message = f"{listed} returns to {returning[0].new_name}, which ran before: it will run again"
        if len(returning) > 1:
            message = f"{listed} return to names that ran before (as {returning[0].new_name}): they will run again"
        if any("(RUN)" in str(change.after) for change in returning):
            message += ", and `$(RUN)` names the old folders"
        message += f". For up to {_LOSABLE * grace} s after the earlier run is removed, {_LOST}"
        yield Risk("returns", one.name, message, _RETURN)


def _grace(change: Change) -> int:
    """Return the longest time in seconds that the pods of a job may take to end."""
    pods = (task["template"]["spec"] for task in change.manifest["spec"]["tasks"])
    return max(int(pod.get("terminationGracePeriodSeconds", GRACE)) for pod in pods)


def _staying(one: EnvironmentReview) -> Iterator[Risk]:
    for change in one.changes:
        old = change.before if change.is_job and change.verdict in (*STARTS, "removed") else None
        if old and (controller := kept_by(old)):
            message = f"the old run of '{change.title}', {change.old_name}, stays: {controller} is told to keep it"
            advice = (
                f"delete it: kubectl delete job.batch.volcano.sh {change.old_name} -n {old['metadata']['namespace']}"
            )
            yield Risk(code="stays", environment=one.name, message=message, advice=advice)


def _many(environments: Sequence[EnvironmentReview]) -> Iterator[Risk]:
    """Find what restarts many trainings, over all environments."""
    restarted: dict[tuple[str, str], list[tuple[str, Change]]] = defaultdict(list)
    for one in environments:
        for group in one.groups:
            for change in group.changes:
                causes = (*group.causes, *group.also.get(change.path, ()))
                for place in {(cause.label, cause.span.file) for cause in causes} or {_NO_LINE}:
                    restarted[place].append((one.name, change))
    for (label, file), found in sorted(restarted.items(), key=lambda item: (-len(item[1]), item[0])):
        if len(found) >= MANY:
            names = sorted({name for name, _ in found})
            advice = "pin those that should keep running: tfgitops build --pin-rest"
            if any(_moves(change) for _, change in found):
                advice = "leave `namespace` as it was if they should keep running: a pin keeps none of them"
            message = f"{f'`{label}` in {near(file)}' if file else label} restarts {len(found)} trainings"
            yield Risk("many", names[0] if len(names) == 1 else f"{len(names)} environments", message, advice)


def _moves(change: Change) -> bool:
    """Tell whether a job goes to another namespace."""
    old, new = (str(one["metadata"].get("namespace", "")) if one else "" for one in (change.before, change.after))
    return old != new


def _growing(one: EnvironmentReview) -> Iterator[Risk]:
    for change in one.changes:
        before, after = change.before, change.after
        is_claim = change.kind == "PersistentVolumeClaim" and change.verdict == "in place"
        if is_claim and before and after and grows(before, after):
            storage = after["spec"].get("storageClassName")
            what = f"storage class {storage}" if storage else "the default storage class"
            message = f"claim '{change.title}' grows: {what} must allow it (allowVolumeExpansion), and it must be bound"
            yield Risk("grows", one.name, message, "else the change is refused")


def _folders(one: EnvironmentReview, base: Base) -> Iterator[Risk]:
    """Find the folders that come or go: Flux applies each by an object of its own; Argo CD one for all."""
    if one.state == "new" and one.moved and one.controller in MOVED:
        message = f"its manifests were in {named(one.moved)}/{MANIFESTS}"
        yield Risk("folders", one.name, message, MOVED[one.controller])
    if one.compiled and one.controller == "flux" and (one.state == "compared" or one.home != one.folder):
        top = f"{base.path(one.home)}/{MANIFESTS}/"
        was = [path.removeprefix(top) for path in base.blobs if path.startswith(top)]
        paths = [file.path for file in one.compiled.files]
        for message, advice in folder_news(was, paths, bootstrap=bool(one.compiled.bootstrap)):
            yield Risk("folders", one.name, message, advice)


def _tags(one: EnvironmentReview) -> Iterator[Risk]:
    images: dict[str, list[str]] = {}
    for change in one.changes:
        if change.is_job and change.verdict in STARTS and change.after is not None:
            for image in sorted({one.image for one in pod_images(change.after) if one.part != "volume"}):
                if "@" not in image:
                    images.setdefault(image, []).append(change.title)
    for image, jobs in images.items():
        users = f"{len(jobs)} trainings" if len(jobs) > 1 else f"'{jobs[0]}'"
        message = f"{users} will run {image}, an image without a digest"
        yield Risk("tag", one.name, message, "add its digest, `@sha256:…`, so that the image cannot change")
