"""What can change in place in a Job is a table, and everything else makes a new run."""

from __future__ import annotations

from typing import Any

import pytest
from example_job import JOB, changed, queue
from jobupdates import judge_update

from tfgitops.targets.volcano.defaults import immutable_changes

CONTAINER = "spec.tasks.1.template.spec.containers.0"


@pytest.mark.parametrize(
    ("route", "value"),
    [
        ("metadata.labels", {"team": "vision"}),
        ("metadata.annotations", {"note": "x"}),
        ("spec.minAvailable", 2),
        ("spec.priorityClassName", "urgent"),
        ("spec.tasks.1.replicas", 5),
        ("spec.tasks.1.minAvailable", 1),
        # Go takes what is empty for absent, and two forms of a quantity for one.
        (f"{CONTAINER}.command", []),
        (f"{CONTAINER}.stdin", False),
        (f"{CONTAINER}.resources.limits.cpu", "2000m"),
    ],
)
def test_this_changes_in_place(route: str, value: Any) -> None:
    after = changed(JOB, route, value)
    assert judge_update(JOB, after) == []
    assert immutable_changes(JOB, after) == []


@pytest.mark.parametrize(
    ("route", "value"),
    [
        (f"{CONTAINER}.image", "tf:2.22"),
        (f"{CONTAINER}.env.0.value", "20"),
        ("spec.queue", "vision"),
        ("spec.maxRetry", 5),
        ("spec.policies", []),
        ("spec.plugins.svc", []),
        ("spec.ttlSecondsAfterFinished", 60),
        ("spec.tasks.1.name", "workers"),
    ],
)
def test_this_does_not(route: str, value: Any) -> None:
    after = changed(JOB, route, value)
    assert immutable_changes(JOB, after)
    (fault,) = judge_update(JOB, after)
    assert fault.rule == "update-immutable"
    assert fault.message.endswith(" cannot change in a job that exists")
    assert fault.hint == "give the job a new name"
    assert fault.at in immutable_changes(JOB, after)


def test_tasks_are_neither_added_nor_removed() -> None:
    (fault,) = judge_update(JOB, changed(changed(JOB, "spec.tasks.1", ...), "spec.minAvailable", 1))
    assert fault.rule == "update-task-count"
    assert fault.message == "the job has 2 tasks, and would have 1"


@pytest.mark.parametrize(
    ("route", "value", "rule"),
    [
        ("spec.minAvailable", 4, "update-min-over-total"),
        ("spec.tasks.0.minAvailable", 2, "update-task-min-over-replicas"),
        ("spec.tasks.0.replicas", "2", "decode-wrong-type"),
        ("spec.priorityClassName", "", "crd-priority-class-name-required"),
    ],
)
def test_a_change_in_place_has_limits(route: str, value: Any, rule: str) -> None:
    assert rule in [fault.rule for fault in judge_update(JOB, changed(JOB, route, value))]


def test_a_queue_changes_in_place() -> None:
    assert immutable_changes(queue("q"), queue("q", weight=5, capability={"cpu": "4"})) == []
