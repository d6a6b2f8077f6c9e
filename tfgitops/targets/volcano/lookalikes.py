"""Tasks of which nothing is to be said, found out once for all that differ in plain texts and numbers alone.

The same for the rest of a Job: its frame is what the rules read that judge tasks beside each other.
"""

from __future__ import annotations

from typing import Any

from tfgitops.targets.kubernetes.names import is_dns1035, is_label_value
from tfgitops.targets.kubernetes.shape import Notes, settle, shape_of
from tfgitops.targets.memo import by_content
from tfgitops.targets.volcano import useless
from tfgitops.targets.volcano.defaults import with_defaults
from tfgitops.targets.volcano.job import REPLICAS_MAX, judge_task

_TEXT = "x"  # stands for any text
_TEXTS = {str}
_COUNTS = ("replicas", "minAvailable", "maxRetry")


def outline(template: dict[str, Any]) -> dict[str, Any]:
    """Give the outline of a template of any shape: Kubernetes takes all templates with one outline, or none."""
    seen = dict(template)
    if type(metadata := seen.get("metadata")) is dict:
        seen["metadata"] = outline_metadata(metadata)
    if type(spec := seen.get("spec")) is dict:
        seen["spec"] = spec = dict(spec)
        for key in ("containers", "initContainers"):
            if type(containers := spec.get(key)) is list:
                spec[key] = [_container(item) if type(item) is dict else item for item in containers]
    return seen


def outline_metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    """Give the metadata of an object with one text for all labels that are legal."""
    if type(labels := metadata.get("labels")) is not dict:
        return metadata
    legal = {key: _TEXT for key, value in labels.items() if type(value) is str and is_label_value(value)}
    return {**metadata, "labels": {**labels, **legal}}


def _container(container: dict[str, Any]) -> dict[str, Any]:
    seen = dict(container)
    if (image := seen.get("image")) and type(image) is str:
        seen["image"] = _TEXT
    for key in ("command", "args"):
        if type(words := seen.get(key)) is list and {*map(type, words)} == _TEXTS:
            seen[key] = [_TEXT]
    if type(env := seen.get("env")) is list:
        seen["env"] = [{**item, "value": _TEXT} if _has_text(item) else item for item in env]
    return seen


def _has_text(variable: Any) -> bool:
    return type(variable) is dict and type(value := variable.get("value")) is str and value != ""


def is_clean(task: dict[str, Any]) -> bool:
    """Tell whether a task, taken by itself, is admitted, of use, and stored as it is."""
    seen = {**task, "template": outline(task["template"])}
    for key in _COUNTS:
        if type(count := task.get(key)) is int and 0 < count <= REPLICAS_MAX:  # all such numbers are alike
            seen[key] = 1
    return _is_clean(seen)


@by_content(1 << 12)
def _is_clean(task: dict[str, Any]) -> bool:
    notes = Notes()
    settled = settle(shape_of("volcano.schema.json", "TaskSpec"), task, (), notes)
    if settled is not task or with_defaults(task, 0) is not task or notes != Notes():
        return False
    return not any(judge_task(task)) and not any(useless.judge_task(task))


def frame(job: dict[str, Any]) -> dict[str, Any]:
    """Return a Job without its pods, which are clean, and named by length alone: all of one frame are judged alike."""
    metadata, spec = outline_metadata(job["metadata"]), job["spec"]
    if is_dns1035(name := metadata["name"]):
        metadata = {**metadata, "name": "x" * len(name)}
    tasks = [task if "topologyPolicy" in task else {**task, "template": {}} for task in spec["tasks"]]
    return {**job, "metadata": metadata, "spec": {**spec, "tasks": tasks}}
