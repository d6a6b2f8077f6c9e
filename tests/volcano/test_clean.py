"""A task of which nothing is to be said is known again by its outline, and no other is taken for it."""

from __future__ import annotations

from typing import Any

import pytest
from example_job import JOB, changed

from tfgitops.volcano.clean import is_clean
from tfgitops.volcano.defaults import stored
from tfgitops.volcano.drift import judge_drift
from tfgitops.volcano.job import judge_stored
from tfgitops.volcano.useless import judge_use

TASK = "spec.tasks.1"
POD = f"{TASK}.template.spec"
CONTAINER = f"{POD}.containers.0"


def is_fine(job: dict[str, Any]) -> bool:
    after = stored(job)
    queue = {"metadata": {"name": "default"}}
    return not (
        after.notes.faults
        or judge_stored(job, after, [queue])
        or judge_use(after.manifest)
        or any(judge_drift(job, after.manifest))
    )


@pytest.mark.parametrize(
    ("route", "value"),
    [
        (f"{CONTAINER}.image", "tf:2.22"),
        (f"{CONTAINER}.env.0.value", "20"),
        (f"{CONTAINER}.command", ["python", "train.py"]),
        (f"{TASK}.template.metadata", {"labels": {"team": "vision"}}),
        (f"{CONTAINER}.image", ""),
        (f"{CONTAINER}.env.0.value", 20),
        (f"{CONTAINER}.command", ["python", None]),
        (f"{CONTAINER}.command", None),
        (f"{CONTAINER}.ports.0.protocol", ...),
        (f"{CONTAINER}.nonsense", 1),
        (f"{CONTAINER}.resources.limits.cpu", "1"),
        (f"{CONTAINER}.securityContext", {"runAsNonRoot": True, "runAsUser": 0}),
        (f"{POD}.volumes.0", {"name": "data"}),
        (f"{POD}.hostNetwork", True),
        (f"{TASK}.template.metadata", {"labels": {"team": "the vision team"}}),
        (f"{TASK}.name", ""),
        (f"{TASK}.maxRetry", ...),
        (f"{TASK}.maxRetry", 3.0),
        (f"{TASK}.replicas", 7),
        (f"{TASK}.replicas", 2**31 - 2),
        (f"{TASK}.replicas", 2**31),
        (f"{TASK}.replicas", -1),
        (f"{TASK}.replicas", "2"),
        (f"{TASK}.policies", [{"event": "PodFailed", "action": "Explode"}]),
        (f"{TASK}.policies", [{"event": "PodPending", "action": "RestartJob"}]),
    ],
)
def test_a_task_is_clean_if_and_only_if_its_job_is_fine(route: str, value: Any) -> None:
    assert is_fine(JOB)
    assert all(map(is_clean, JOB["spec"]["tasks"]))
    job = changed(JOB, route, value)
    assert is_clean(job["spec"]["tasks"][0])
    assert is_clean(job["spec"]["tasks"][1]) == is_fine(job)


def test_what_is_no_json_is_not_clean() -> None:
    assert not is_clean(changed(JOB, f"{CONTAINER}.stdin", object())["spec"]["tasks"][1])
