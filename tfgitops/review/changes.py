"""What becomes of each object in the cluster, field by field, when one set of manifests follows another."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from tfgitops.spec.model import JOB_LABEL
from tfgitops.targets.kubernetes.complete import complete
from tfgitops.targets.kubernetes.merge import name_of
from tfgitops.targets.kubernetes.objectkinds import is_immutable
from tfgitops.targets.memo import packed
from tfgitops.targets.routes import MISSING, Route
from tfgitops.targets.secrets import key_of, learn, masked_value
from tfgitops.targets.volcano.defaults import stored
from tfgitops.targets.volcano.identity import is_mutable
from tfgitops.targets.volcano.loss import scale_down
from tfgitops.targets.volcano.tasks import replicas_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Json = dict[str, Any]

_GROWN = "only while it runs: a finished job starts no pod, and `rerun` starts it again"
_RANKED = "pods that run keep their priority"
_PODS: Route = ("spec", "template")
_ROLLED = {
    "RollingUpdate": "its pods are replaced, a few at a time",
    "Recreate": "its pods are ended, and then replaced",
}
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]+").fullmatch


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field that differs between two manifests of an object, or that only one of them has.

    ``at`` is the field's route in the later manifest and ``was`` its route in the earlier one; a field that only one
    of them has uses that manifest's route for both. ``path`` is for people:
    ``spec.tasks[worker].template.spec.containers[tensorflow].image``.
    """

    at: Route
    was: Route
    path: str
    before: Any
    after: Any

    @property
    def gone(self) -> bool:
        """Whether only the earlier manifest has it."""
        return self.after is MISSING

    @property
    def shown(self) -> tuple[Any, Any]:
        """The values before and after, without secrets."""
        return masked_value(self.before, key_of(self.path)), masked_value(self.after, key_of(self.path))


def field_changes(before: Any, after: Any) -> Iterator[FieldChange]:
    """Yield the innermost fields that differ between two JSON values, the elements of lists matched by their names."""
    return iter(()) if _is_same(before, after) else _differences(before, after, (), "", ())


def _differences(before: Any, after: Any, at: Route, path: str, was: Route) -> Iterator[FieldChange]:
    """Yield what differs between two values that are not the same: of most parts no path is made."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in {**before, **after}:
            old, new = before.get(key, MISSING), after.get(key, MISSING)
            if not _is_same(old, new):
                yield from _differences(old, new, (*at, key), _join_path(path, key), (*was, key))
    elif isinstance(before, list) and isinstance(after, list):
        yield from _in_lists(before, after, at, path, was)
    else:
        yield FieldChange(at, was, path, before, after)


def _is_same(one: Any, other: Any) -> bool:
    """Tell whether two JSON values are equal, and of the same types: true is not 1."""
    if one is other or type(one) is not type(other) or one != other:
        return one is other
    return type(one) is str or packed(one) == packed(other)


def _in_lists(before: Sequence[Any], after: Sequence[Any], at: Route, path: str, was: Route) -> Iterator[FieldChange]:
    """Match elements by their names, else by their indices; lists of two lengths without names are one value."""
    old, new = _named(before), _named(after)
    if old is None or new is None:
        if len(before) != len(after):
            yield FieldChange(at, was, path, before, after)
            return
        old = new = {index: index for index in range(len(before))}
    for name in {**old, **new}:
        here, there = new.get(name, old.get(name, 0)), old.get(name, new.get(name, 0))
        one = before[old[name]] if name in old else MISSING
        other = after[new[name]] if name in new else MISSING
        if not _is_same(one, other):
            yield from _differences(one, other, (*at, here), f"{path}[{name}]", (*was, there))
    shared = [name for name in new if name in old]
    if shared != [name for name in old if name in new]:
        yield FieldChange(at, was, f"{path} (order)", [*old], [*new])


def _named(elements: Sequence[Any]) -> Mapping[Any, int] | None:
    """Return the index of each element by its name, if all have one of their own."""
    names = {name: index for index, element in enumerate(elements) if (name := name_of(element)) is not None}
    return names if len(names) == len(elements) else None


def _join_path(path: str, key: str) -> str:
    """Write a path to a key; a key with dots or slashes stands in brackets."""
    if not _PLAIN_KEY(key):
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else key


Verdict = Literal["refused", "new run", "renamed", "restart", "added", "removed", "in place", "unchanged"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
"""The possible verdicts on an object, the most important for a reviewer first."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """The verdict on one object; ``before`` and ``after`` are its manifests, None where there is none.

    ``fields`` are the fields that differ, without a job's own name. ``hard`` are those that cannot change in place:
    they start a new run of a job, and the cluster refuses them for other objects. ``reason`` says why it refuses else,
    or why a job restarts that changes in place, or how far that change reaches. ``way_out`` says what to do about a
    refusal, and ``stuck`` whether no sync can get past it.
    """

    verdict: Verdict
    path: str
    before: Json | None
    after: Json | None
    fields: tuple[FieldChange, ...] = ()
    hard: tuple[FieldChange, ...] = ()
    reason: str = ""
    way_out: str = ""
    stuck: bool = False

    @property
    def manifest(self) -> Json:
        """The later manifest, or the earlier one of what goes away."""
        manifest = self.after if self.after is not None else self.before
        assert manifest is not None
        return manifest

    @property
    def kind(self) -> str:
        """The kind of the object."""
        return str(self.manifest["kind"])

    @property
    def is_job(self) -> bool:
        """Whether the object is a training."""
        return is_job(self.manifest)

    @property
    def title(self) -> str:
        """What people call the object: a job by its name in the spec."""
        return job_name(self.manifest) if self.is_job else str(self.manifest["metadata"]["name"])

    @property
    def old_name(self) -> str:
        """The name of the object that was."""
        return str(self.before["metadata"]["name"]) if self.before else ""

    @property
    def new_name(self) -> str:
        """The name of the object that will be."""
        return str(self.after["metadata"]["name"]) if self.after else ""


def is_job(manifest: Mapping[str, Any]) -> bool:
    """Tell whether an object is a Volcano Job."""
    return manifest["kind"] == "Job" and str(manifest["apiVersion"]).startswith("batch.volcano.sh/")


def is_queue(manifest: Mapping[str, Any]) -> bool:
    """Tell whether an object is a Volcano Queue."""
    return manifest["kind"] == "Queue" and str(manifest["apiVersion"]).startswith("scheduling.volcano.sh/")


def as_stored(manifest: Json) -> Json:
    """Return a manifest that people wrote as the cluster stores it, with all defaults of the kinds that we know."""
    return stored(manifest).manifest if has_defaults(manifest) else complete(manifest)


def has_defaults(manifest: Json) -> bool:
    """Tell whether Volcano adds defaults to an object of its kind that we know."""
    return is_job(manifest) or is_queue(manifest)


def job_name(manifest: Mapping[str, Any]) -> str:
    """Return a job's name in the spec, else the name of the object."""
    metadata = manifest["metadata"]
    return str((metadata.get("labels") or {}).get(JOB_LABEL) or metadata["name"])


def changes_of(path: str, before: Json | None, after: Json | None) -> list[Change]:
    """Return the changes of one file: two where another object replaces the first, be it the next run of a job."""
    if before is not None and after is not None:
        if identity(before) == identity(after):
            return [compared(path, before, after)]
        return [*changes_of(path, before, None), *changes_of(path, None, after)]
    return [Change(verdict="added" if before is None else "removed", path=path, before=before, after=after)]


def compared(path: str, before: Json, after: Json) -> Change:
    """Return what becomes of one object, or of a job whose next run has another name."""
    other, jobs = identity(before) != identity(after), is_job(before) and is_job(after)
    fields = tuple(_job_fields(before, after) if jobs else field_changes(before, after))
    if any(type(one.was[-1]) is int for one in fields):  # the option before it is not shown
        learn(before)
    hard = tuple(one for one in fields if (not is_mutable(one.at) if jobs else is_immutable(before, after, one.at)))
    verdict: Verdict = "new run" if other else "refused" if hard else "in place" if fields else "unchanged"
    reason = ""
    if jobs and verdict == "in place":
        disturbs, reason = scale_down(before, after)
        verdict = "restart" if disturbs else "in place"
        reason = reason if disturbs else "; ".join(filter(None, (_limits(before, after), reason)))
    elif verdict == "in place" and after["kind"] == "Deployment" and any(one.at[:2] == _PODS for one in fields):
        strategy = after["spec"].get("strategy") or {}
        reason = _ROLLED.get(strategy.get("type", ""), _ROLLED["RollingUpdate"])
    return Change(verdict=verdict, path=path, before=before, after=after, fields=fields, hard=hard, reason=reason)


def _limits(before: Json, after: Json) -> str:
    """Say how far a change of a job in place reaches."""
    old, new = before["spec"], after["spec"]
    tasks = zip(old.get("tasks", ()), new.get("tasks", ()), strict=False)
    more = [replicas_of(now) - replicas_of(then) for then, now in tasks]
    lost = -sum(number for number in more if number < 0)
    ranked = old.get("priorityClassName") != new.get("priorityClassName")
    fewer = f"{lost} pod{' ends' if lost == 1 else 's end'}, and the others keep running"
    return "; ".join([fewer] * bool(lost) + [_GROWN] * (max(more, default=0) > 0) + [_RANKED] * ranked)


def _job_fields(before: Json, after: Json) -> Iterator[FieldChange]:
    """Yield the fields that differ between two runs of a job, but for the run's own name."""
    old, new = before["metadata"]["name"], after["metadata"]["name"]
    for field in field_changes(before, after):
        if old == new or not _is_same(field.before, _renamed(field.after, new, old)):
            yield field


def identity(manifest: Json) -> tuple[str, str, str, str]:
    """Return what identifies an object in a cluster: group, kind, namespace and name."""
    group = manifest["apiVersion"].rpartition("/")[0]
    return group, manifest["kind"], manifest["metadata"].get("namespace") or "", manifest["metadata"]["name"]


def _renamed(value: Any, old: str, new: str) -> Any:
    """Replace a Job's name everywhere in a part of its manifest."""
    if old == new or value is MISSING:
        return value
    if type(value) is str:
        return value.replace(old, new)
    return json.loads(json.dumps(value, ensure_ascii=False).replace(old, new))
