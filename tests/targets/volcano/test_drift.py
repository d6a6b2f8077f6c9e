"""What the server would add, drop or rewrite is named, so that none of it is left to the server."""

from __future__ import annotations

from typing import Any

import pytest
from example_job import JOB, changed, queue

from tfgitops.targets.volcano.defaults import drift, judge_drift, noop, stored

TASK = "spec.tasks.0"
CONTAINER = f"{TASK}.template.spec.containers.0"


def routes(manifest: dict[str, Any]) -> list[str]:
    return sorted(".".join(map(str, route)) for route in drift(manifest))


@pytest.mark.parametrize("field", ["schedulerName", "queue", "minAvailable", "maxRetry"])
def test_a_default_of_the_job_is_drift(field: str) -> None:
    assert routes(changed(JOB, f"spec.{field}", ...)) == [f"spec.{field}"]


def test_one_default_of_a_task_rewrites_all_tasks() -> None:
    assert routes(changed(JOB, f"{TASK}.maxRetry", ...)) == [
        "spec.tasks.0.maxRetry",
        "spec.tasks.0.template.metadata",
        "spec.tasks.1.template.metadata",
    ]


@pytest.mark.parametrize(
    ("route", "value", "where"),
    [
        ("status", {"phase": "Running"}, "status"),
        (f"{CONTAINER}.imagePolicy", "Always", f"{CONTAINER}.imagePolicy"),
        (f"{CONTAINER}.command", None, f"{CONTAINER}.command"),
        (f"{CONTAINER}.ports.0.protocol", ..., f"{CONTAINER}.ports.0.protocol"),
        ("metadata.annotations", {}, "metadata.annotations"),
        ("spec.plugins.tensorflow", [], ""),
        ("spec.maxRetry", 3.0, "spec.maxRetry"),
    ],
)
def test_whatever_is_not_stored_as_written_is_drift(route: str, value: Any, where: str) -> None:
    assert routes(changed(JOB, route, value)) == ([where] if where else [])


def test_the_form_of_a_quantity_is_kept_unless_all_tasks_are_rewritten() -> None:
    job = changed(JOB, f"{CONTAINER}.resources.limits.cpu", "2000m")
    assert routes(job) == []
    assert f"{CONTAINER}.resources.limits.cpu" in routes(changed(job, "spec.tasks.1.maxRetry", 0))


def test_plugins_that_others_need_are_added() -> None:
    job = changed(JOB, "spec.plugins", {"mpi": ["--master=ps"]})
    assert routes(job) == ["spec.plugins.ssh", "spec.plugins.svc"]


def test_a_queue_gets_its_defaults_and_a_parent() -> None:
    assert routes(queue("q")) == []
    bare = {**queue("q"), "spec": {}}
    assert routes(bare) == ["spec.dequeueStrategy", "spec.parent", "spec.reclaimable", "spec.weight"]


def test_applying_again_what_the_webhook_completed_is_no_noop() -> None:
    assert noop(JOB, JOB)
    lacking = changed(JOB, f"{TASK}.maxRetry", ...)
    assert not noop(lacking, lacking)


def test_what_was_dropped_is_told() -> None:
    assert stored(changed(JOB, "spec.foo", 1)).notes.pruned == [("spec", "foo")]


@pytest.mark.parametrize(
    ("route", "value", "message", "hint"),
    [
        ("spec.maxRetry", ..., "spec.maxRetry is left out, and the server would store 3", "write 3 there"),
        ("spec.maxRetry", 3.0, "spec.maxRetry is 3.0, and the server would store 3", "write 3"),
        ("spec.foo", {"a": [1]}, 'spec.foo is {"a": [1]}, and the server would drop it', "leave it out"),
        (
            f"{CONTAINER}.ports.0.protocol",
            ...,
            f"{CONTAINER}.ports.0.protocol is left out, and the server would store 'TCP'",
            "write 'TCP' there",
        ),
    ],
)
def test_drift_is_told_with_both_values(route: str, value: Any, message: str, hint: str) -> None:
    job = changed(JOB, route, value)
    (fault,) = judge_drift(job, stored(job).manifest)
    assert (fault.message, fault.hint) == (message, hint)
    assert ".".join(map(str, fault.at)) == route


def test_what_stays_as_it_is_comes_back_as_the_same_object() -> None:
    assert stored(JOB).manifest is JOB
    assert stored(queue("q")).manifest == queue("q")
    assert list(judge_drift(JOB, JOB)) == []


def test_tasks_that_are_left_out_are_taken_as_they_are() -> None:
    job = changed(JOB, f"{CONTAINER}.nonsense", 1)
    assert stored(job, tasks=False).manifest is job
    assert stored(job).notes.pruned
