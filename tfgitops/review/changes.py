"""What becomes of each object in the cluster when one set of manifests follows another."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from tfgitops.review.fieldchanges import ABSENT, FieldChange, field_changes
from tfgitops.spec.model import JOB_LABEL
from tfgitops.spec.yamltext import TextError, parse
from tfgitops.targets.kubernetes.immutable import is_immutable
from tfgitops.targets.volcano.defaults import stored
from tfgitops.targets.volcano.identity import PLACEHOLDER, digest, is_mutable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Json = dict[str, Any]

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
