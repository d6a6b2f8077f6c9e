"""What makes a Volcano Job the same object: its name by digest of all that cannot change in place."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfgitops.targets.routes import Json, Route

PLACEHOLDER = "\ufdd0"
"""Stands for a Job's own name until it is known: a noncharacter of Unicode, which no spec may hold."""

DIGITS = 8
"""Hexadecimal digits of a digest in a name."""

MUTABLE_METADATA = ("labels", "annotations", "finalizers", "ownerReferences")
MUTABLE_JOB = ("minAvailable", "priorityClassName")
MUTABLE_TASK = ("minAvailable", "replicas")
"""Fields of a Job's metadata, of its spec, and of one of its tasks, that Volcano lets change in place."""

# A manifest has no circles to check for.
_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, check_circular=False).encode


def name_job(job: str, manifest: dict[str, Any]) -> None:
    """Give a planned Job its name, ``<job>-<digest>``, in place of the placeholder.

    The placeholder stands in the Job's own name, and in variables of its containers that discovery wrote; no text of a
    spec can hold it. Lists of variables are the Job's own; what is in them may be shared, and is replaced.
    """
    name = f"{job}-{digest(manifest['spec'])}"
    manifest["metadata"]["name"] = name
    for task in manifest["spec"]["tasks"]:
        spec = task["template"]["spec"]
        for container in (*spec["containers"], *spec.get("initContainers", ())):
            env = container.get("env", ())
            for index, entry in enumerate(env):
                if PLACEHOLDER in entry.get("value", ""):
                    env[index] = {**entry, "value": entry["value"].replace(PLACEHOLDER, name)}


def digest(spec: Json) -> str:
    """Return the digest of a planned Job's spec: all of it except what Volcano lets change in place.

    See docs/volcano.md 2. A replica of a TensorFlow cluster counts all the same, since ``TF_CONFIG`` names its host.
    """
    frozen = {key: value for key, value in spec.items() if key not in MUTABLE_JOB}
    frozen["tasks"] = [{key: value for key, value in task.items() if key not in MUTABLE_TASK} for task in spec["tasks"]]
    return short_digest(frozen)


def short_digest(value: Any) -> str:
    """Return eight hex digits of the SHA-256 of a value as JSON in UTF-8, with sorted keys and no blanks."""
    return sha256(_canonical(value).encode()).hexdigest()[:DIGITS]


def is_mutable(route: Route) -> bool:
    """Tell whether Volcano lets a field of a Job change in place, by its route in the manifest."""
    match route:
        case ("metadata", field, *_):
            return field in MUTABLE_METADATA
        case ("spec", "tasks", _, field, *_):
            return field in MUTABLE_TASK
        case ("spec", field, *_):
            return field in MUTABLE_JOB
    return False


def digest_of(manifest: Json) -> str:
    """Return the digest of a written Job, in which its own name stands where the placeholder stood."""
    text = json.dumps(manifest["spec"], ensure_ascii=False)
    return digest(json.loads(text.replace(manifest["metadata"]["name"], PLACEHOLDER)))
