"""Tasks of which nothing is to be said, found out once for all that differ in plain texts and numbers alone.

The same for the rest of a Job: its frame is what the rules read that judge tasks beside each other.
"""

from __future__ import annotations

from typing import Any

from tfgitops.targets.kubernetes.catalog import shape_of
from tfgitops.targets.kubernetes.names import is_dns1035
from tfgitops.targets.kubernetes.shape import Notes, settle
from tfgitops.targets.kubernetes.skeleton import outline, outline_metadata
from tfgitops.targets.memo import by_content
from tfgitops.targets.volcano import useless
from tfgitops.targets.volcano.defaults import with_defaults
from tfgitops.targets.volcano.job import REPLICAS_MAX, judge_task

_COUNTS = ("replicas", "minAvailable", "maxRetry")


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
    """Give a Job of clean tasks without their pods, and with one name for all legal ones of a length.

    Cluster and compiler say the same of all Jobs with one frame.
    """
    metadata, spec = outline_metadata(job["metadata"]), job["spec"]
    if is_dns1035(name := metadata["name"]):
        metadata = {**metadata, "name": "x" * len(name)}
    tasks = [task if "topologyPolicy" in task else {**task, "template": {}} for task in spec["tasks"]]
    return {**job, "metadata": metadata, "spec": {**spec, "tasks": tasks}}
