"""What becomes of each object in the cluster, field by field, when one set of manifests follows another."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from tfgitops.spec.model import JOB_LABEL
from tfgitops.spec.yamltext import TextError, parse
from tfgitops.targets.kubernetes.immutable import is_immutable
from tfgitops.targets.kubernetes.merge import name_of
from tfgitops.targets.volcano.defaults import stored
from tfgitops.targets.volcano.identity import PLACEHOLDER, digest, is_mutable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tfgitops.targets.routes import Route

    Json = dict[str, Any]

_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]+").fullmatch


class Absent:
    """The value of a field that is not there."""

    def __repr__(self) -> str:
        return "(none)"


ABSENT = Absent()


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field that two manifests of an object have differently, or only one of them has.

    ``at`` is its route in the later manifest, and in the earlier one from where it is gone; ``was`` is its route in the
    earlier one, and in the later one from where it is new. ``path`` is for people:
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
        return self.after is ABSENT


def field_changes(
    before: Any, after: Any, at: Route = (), path: str = "", was: Route | None = None
) -> Iterator[FieldChange]:
    """Yield the innermost fields that differ between two JSON values."""
    was = at if was is None else was
    if before is after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in {**before, **after}:
            inner = join_path(path, key)
            yield from _changed(before.get(key, ABSENT), after.get(key, ABSENT), (*at, key), inner, (*was, key))
    elif isinstance(before, list) and isinstance(after, list):
        yield from _in_lists(before, after, at, path, was)
    elif type(before) is not type(after) or before != after:
        yield FieldChange(at, was, path, before, after)


def _changed(before: Any, after: Any, at: Route, path: str, was: Route) -> Iterator[FieldChange]:
    if before is ABSENT or after is ABSENT:
        yield FieldChange(at, was, path, before, after)
    else:
        yield from field_changes(before, after, at, path, was)


def _in_lists(before: Sequence[Any], after: Sequence[Any], at: Route, path: str, was: Route) -> Iterator[FieldChange]:
    """Match elements by their names; without names, by their places, or the lists are one value."""
    old, new = _named(before), _named(after)
    if old is None or new is None:
        if len(before) == len(after):
            for index, pair in enumerate(zip(before, after, strict=True)):
                yield from field_changes(*pair, (*at, index), f"{path}[{index}]", (*was, index))
        else:
            yield FieldChange(at, was, path, before, after)
        return
    for name in {**old, **new}:
        here, there = new.get(name, old.get(name, 0)), old.get(name, new.get(name, 0))
        one = before[old[name]] if name in old else ABSENT
        other = after[new[name]] if name in new else ABSENT
        yield from _changed(one, other, (*at, here), f"{path}[{name}]", (*was, there))
    shared = [name for name in new if name in old]
    if shared != [name for name in old if name in new]:
        yield FieldChange(at, was, f"{path} (order)", [*old], [*new])


def _named(elements: Sequence[Any]) -> dict[str, int] | None:
    """Return the index of each element by its name, if all have one of their own."""
    names: dict[str, int] = {}
    for index, element in enumerate(elements):
        name = name_of(element)
        if name is None or name in names:
            return None
        names[name] = index
    return names


def join_path(path: str, key: str) -> str:
    """Write a path to a key: a key with dots or slashes stands in brackets."""
    if not _PLAIN_KEY(key):
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else key


Verdict = Literal["unchanged", "in place", "new run", "added", "removed", "renamed", "refused"]
VERDICTS: tuple[Verdict, ...] = ("refused", "new run", "renamed", "added", "removed", "in place", "unchanged")
"""What may become of an object; what a reviewer must see first comes first."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """What becomes of one object: ``before`` and ``after`` are its manifests, None where it is not.

    ``fields`` are the fields that differ, a job's own name aside; ``hard`` are those of them that cannot change in
    place: they make a new run of a job, and are refused of any other object. ``reason``
    is why something else is refused.
    """

    verdict: Verdict
    path: str
    before: Json | None
    after: Json | None
    fields: tuple[FieldChange, ...] = ()
    hard: tuple[FieldChange, ...] = ()
    reason: str = ""

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


def manifest_in(text: str) -> Json | None:
    """Return the manifest that a file holds; None where people made of it what cannot be compared.

    A Job or a Queue must be one that a cluster would take.
    """
    try:
        value = parse(text)
    except TextError:
        return None
    return value if _is_readable(value) else None


def _is_readable(value: Any) -> bool:
    if not isinstance(value, dict) or not all(isinstance(value.get(key), str) for key in ("apiVersion", "kind")):
        return False
    metadata = value.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        return False
    if not all(isinstance(metadata.get(key, {}), dict) for key in ("labels", "annotations")):
        return False
    if not isinstance(value.get("spec", {}), dict):
        return False
    if not is_job(value) and not is_queue(value):
        return True
    return not stored(value).notes.faults and "spec" in value


def as_stored(manifest: Json) -> Json:
    """Return a readable manifest that people made as a cluster has it: of a Job or a Queue, with all defaults."""
    return stored(manifest).manifest if is_job(manifest) or is_queue(manifest) else manifest


def job_name(manifest: Mapping[str, Any]) -> str:
    """Return the name in the spec of the job that a manifest is of, or the object's where there is none."""
    metadata = manifest["metadata"]
    return str((metadata.get("labels") or {}).get(JOB_LABEL) or metadata["name"])


def changes_between(before: Mapping[str, Json], after: Mapping[str, Json]) -> list[Change]:
    """Say what becomes of each object when one set of manifests, by their paths, follows another; not of the unchanged.

    An object is the same wherever its file lies, and a job by its file, whatever its name: a Queue moves to another
    folder with its parent. A job that goes away and one that comes are one where they are the same but for the name.
    """
    found = [change for path in {**after, **before} for change in changes_of(path, before.get(path), after.get(path))]
    return [change for change in _paired(_paired(found, identity), _kin) if change.verdict != "unchanged"]


def changes_of(path: str, before: Json | None, after: Json | None) -> list[Change]:
    """Say what becomes of the objects of one file: of two where another object takes its place."""
    if before is None or after is None:
        return [Change(verdict="added" if before is None else "removed", path=path, before=before, after=after)]
    if is_job(before) and is_job(after):
        return [_job_change(path, before, after)]
    if identity(before) != identity(after):
        return [*changes_of(path, before, None), *changes_of(path, None, after)]
    return [_object_change(path, before, after)]


def _paired(changes: list[Change], kin: Callable[[Json], Any]) -> list[Change]:
    """Join each object that goes away with the one that comes and has the same identity, if it has one."""
    gone = {known: c for c in changes if c.verdict == "removed" and (known := kin(c.manifest)) is not None}
    if not gone:
        return changes
    joined, paired = [], set()
    for one in changes:
        old = gone.pop(kin(one.manifest), None) if one.verdict == "added" else None
        if old is None:
            joined.append(one)
            continue
        paired.add(id(old))
        assert old.before is not None
        assert one.after is not None
        joined.append(
            replace(one, verdict="renamed", before=old.before)
            if old.is_job and old.old_name != one.new_name
            else changes_of(one.path, old.before, one.after)[0]
        )
    return [one for one in joined if id(one) not in paired]


def _job_change(path: str, before: Json, after: Json) -> Change:
    old, new = before["metadata"]["name"], after["metadata"]["name"]
    verdict: Verdict = "new run" if identity(before) != identity(after) else "in place"
    fields = tuple(
        field if old == new else replace(field, after=_renamed(field.after, old, new))
        for field in field_changes(before, _renamed(after, new, old))
    )
    hard = tuple(field for field in fields if not is_mutable(field.at))
    if verdict == "in place" and hard:
        verdict = "refused"
    if not fields and verdict == "in place":
        verdict = "unchanged"
    return Change(verdict=verdict, path=path, before=before, after=after, fields=fields, hard=hard)


def _object_change(path: str, before: Json, after: Json) -> Change:
    fields = tuple(field_changes(before, after))
    hard = tuple(field for field in fields if is_immutable(before, after, field.at))
    verdict: Verdict = "refused" if hard else "in place" if fields else "unchanged"
    return Change(verdict=verdict, path=path, before=before, after=after, fields=fields, hard=hard)


def identity(manifest: Json) -> tuple[str, str, str, str]:
    """Return what makes an object the same to a cluster: group, kind, namespace and name."""
    group = manifest["apiVersion"].rpartition("/")[0]
    return group, manifest["kind"], manifest["metadata"].get("namespace", ""), manifest["metadata"]["name"]


def _renamed(value: Any, old: str, new: str) -> Any:
    """Return a part of a Job's manifest with another name, wherever its own name stands."""
    if old == new or value is ABSENT:
        return value
    return json.loads(json.dumps(value, ensure_ascii=False).replace(old, new))


def _kin(manifest: Json) -> str | None:
    """Return a digest of all that two runs of one training share, whatever its name; None of any other object."""
    if not is_job(manifest):
        return None
    name, job = manifest["metadata"]["name"], job_name(manifest)
    text = json.dumps(manifest["spec"], ensure_ascii=False).replace(name, PLACEHOLDER)
    label = json.dumps({JOB_LABEL: job})[1:-1]
    return digest(json.loads(text.replace(label, json.dumps({JOB_LABEL: ""})[1:-1])))
