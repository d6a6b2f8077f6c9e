"""Labels and annotations of a Job and its pods that have no effect where they stand, or with their value."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes.fault import Rules
from tfgitops.targets.kubernetes.schemafile import schema_file
from tfgitops.targets.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from tfgitops.targets.kubernetes.fault import Fault
    from tfgitops.targets.routes import Json, Route

_PODS_ONLY = schema_file("metadata.rules.json")["podsOnly"]
OWN: dict[str, Any] = schema_file("metadata.rules.json")["own"]
"""Volcano's keys for users, each with the fields and the objects where Volcano reads it, and the form of its values."""

RULES = Rules.read("""
    own-value: Volcano cannot read `{found}` | write {form}
    own-task: `{found}` names {task}, so Volcano ignores the whole task topology | the tasks are {tasks}
    own-place: Volcano does not read {found} here | write it in the {fields} of the {objects}
    own-unknown: Volcano knows no {found} | {remedy}
    pods-only: {found} only works on pods, and a Job does not pass it on to them | {remedy}
""")
WARNINGS = frozenset({"own-unknown", "pods-only"})
"""Rules whose breach may be meant."""


def nearly_own(key: str) -> str:
    """Return the key of Volcano's that a key probably means; empty if there is none, or if it is one."""
    return nearest(key, OWN, cutoff=0.9) if key.startswith("volcano.sh/") and key not in OWN else ""


def judge_metadata(manifest: Json) -> Iterator[Fault]:
    """Yield a fault for each label and annotation of a Job and of its pods that has no effect where it stands."""
    tasks = manifest["spec"]["tasks"]
    names, pods = [task["name"] for task in tasks], [task["template"].get("metadata") or {} for task in tasks]
    for at, value in _entries(manifest["metadata"], ("metadata",)):
        key, field = str(at[-1]), str(at[-2])
        given = all(key in {*metadata.get("labels", ()), *metadata.get("annotations", ())} for metadata in pods)
        if not given and any(fnmatchcase(key, pattern) for pattern in _PODS_ONLY):
            remedy = f"write `pod: {{metadata: {{{field}: {{{key}: …}}}}}}`"
            yield RULES.fault("pods-only", at, found=key, remedy=remedy)
        yield from _judge(at, value, names)
    for index, metadata in enumerate(pods):
        for at, value in _entries(metadata, ("spec", "tasks", index, "template", "metadata")):
            yield from _judge(at, value, names)


def _entries(metadata: Json, at: Route) -> Iterator[tuple[Route, str]]:
    for field in ("labels", "annotations"):
        for key, value in (metadata.get(field) or {}).items():
            yield (*at, field, key), str(value)


def _judge(at: Route, value: str, names: Collection[str]) -> Iterator[Fault]:
    key, own = str(at[-1]), OWN.get(str(at[-1]))
    if not own:
        if near := nearly_own(key):
            yield RULES.fault("own-unknown", at, found=key, remedy=f"did you mean '{near}'?")
    elif at[-2] not in own["in"] or ("job" if at[0] == "metadata" else "pods") not in own["of"]:
        yield RULES.fault("own-place", at, found=key, fields=" or ".join(own["in"]), objects=own["of"][0])
    elif "pattern" in own:
        if not re.fullmatch(own["pattern"], value):
            yield RULES.fault("own-value", at, found=f"{key}: {value}", form=own["form"])
    else:
        for group in (group.split(",") for group in value.split(";")):
            for name in {name for name in group if name and (name not in names or group.count(name) > 1)}:
                task = f"'{name}' twice" if name in names else f"'{name}', which the job has not"
                yield RULES.fault("own-task", at, found=f"{key}: {value}", task=task, tasks=", ".join(names))
