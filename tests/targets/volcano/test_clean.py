"""A task or Job of which nothing is to be said is known again by its outline, and no other is taken for it."""

from __future__ import annotations

from typing import Any

import pytest
from example_job import JOB, changed

from tfgitops.targets.volcano.defaults import judge_drift, stored
from tfgitops.targets.volcano.job import judge_stored
from tfgitops.targets.volcano.lookalikes import frame, is_clean
from tfgitops.targets.volcano.useless import judge_use

TASK = "spec.tasks.1"
POD = f"{TASK}.template.spec"
CONTAINER = f"{POD}.containers.0"


def is_fine(job: dict[str, Any], *, tasks: bool = True) -> bool:
    after = stored(job, tasks=tasks)
    queue = {"metadata": {"name": "default"}}
    return not (
        after.notes.faults
        or judge_stored(job, after, [queue], tasks=tasks)
        or judge_use(after.manifest, tasks=tasks)
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


@pytest.mark.parametrize(
    ("route", "value"),
    [
        ("metadata.name", "n" * 53),
        ("metadata.name", "n" * 54),
        ("metadata.name", "n" * 64),
        ("metadata.name", "1mnist"),
        ("metadata.name", "m.nist"),
        ("metadata.name", "MNIST"),
        ("metadata.labels", {"team": "vision"}),
        ("metadata.labels", {"team": "the vision team"}),
        ("metadata.annotations", {"argocd.argoproj.io/sync-options": "Replace=true"}),
        ("metadata.namespace", ...),
        ("status", {}),
        ("spec.queue", "root"),
        ("spec.queue", "vision"),
        ("spec.minAvailable", 4),
        ("spec.maxRetry", ...),
        ("spec.nonsense", 1),
        ("spec.plugins", {"svc": [], "mpi": []}),
        ("spec.policies", [{"event": "TaskCompleted", "action": "CompleteJob"}]),
        ("spec.tasks.1.name", "ps"),
        ("spec.tasks.1.name", "w" * 56),
        ("spec.tasks.1.minAvailable", 3),
        ("spec.tasks.1.replicas", 2**31 - 1),
        ("spec.tasks.1.dependsOn", {"name": ["ps"]}),
        ("spec.tasks.1.dependsOn", {"name": ["worker"]}),
        ("spec.tasks.1.topologyPolicy", "restricted"),
    ],
)
def test_a_frame_is_fine_if_and_only_if_the_job_of_its_clean_tasks_is(route: str, value: Any) -> None:
    job = changed(JOB, route, value)
    assert all(map(is_clean, job["spec"]["tasks"]))
    assert is_fine(frame(job), tasks=False) == is_fine(job)


def test_a_frame_keeps_the_cpus_that_a_numa_policy_asks_about() -> None:
    job = changed(JOB, "spec.tasks.1.topologyPolicy", "restricted")
    broken = changed(job, f"{CONTAINER}.resources", {"requests": {"cpu": "1500m"}, "limits": {"cpu": "1500m"}})
    assert is_fine(frame(job), tasks=False)
    assert not is_fine(frame(broken), tasks=False)


def test_jobs_that_differ_in_what_no_rule_reads_have_one_frame() -> None:
    other = changed(changed(JOB, "metadata.name", "cifar"), f"{CONTAINER}.image", "tf:2.22")
    assert frame(other) == frame(JOB)
