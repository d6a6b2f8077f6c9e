"""What is wrong with a Job is said by rule, place, message and hint: a few examples of each family."""

from __future__ import annotations

from typing import Any

import pytest
from example_job import JOB, QUEUES, changed

from tfgitops.targets.volcano.defaults import drift, noop
from tfgitops.targets.volcano.job import go_int, judge_job

TASK = "spec.tasks.0"
ACTIONS = (
    "use one of AbortJob, RestartJob, RestartTask, RestartPod, RestartPartition, TerminateJob, CompleteJob, ResumeJob"
)


def test_the_example_is_admitted_and_stays_as_it_is() -> None:
    assert judge_job(JOB, QUEUES) == []
    assert drift(JOB) == []
    assert noop(JOB, JOB)


@pytest.mark.parametrize(
    ("route", "value", "rule", "message", "hint"),
    [
        # shapes
        ("spec.maxRetry", "3", "decode-wrong-type", "'3' is not a whole number", "write a whole number here"),
        ("spec.tasks", {}, "decode-wrong-type", "a mapping is not a list", "write a list here"),
        (f"{TASK}.replicas", 1.5, "decode-not-integer", "1.5 is not a whole number", "write a whole number here"),
        (
            f"{TASK}.replicas",
            2**31,
            "decode-int-range",
            "2147483648 is too large or too small",
            "write a number of at most 32 bits",
        ),
        (
            "spec.runningEstimate",
            "2 hours",
            "decode-duration",
            "'2 hours' is not a duration",
            "write a number and a unit, like 90s, 10m or 1h30m",
        ),
        ("spec.plugins.svc", [None], "null-in-list", "an item of the list is empty", "take it out"),
        # limits of the schema
        (f"{TASK}.replicas", -1, "crd-task-replicas-min", "replicas must be at least 0", "write 0 or more"),
        (
            f"{TASK}.name",
            "Chief_1",
            "crd-task-name-dns-label",
            (
                "name must be a DNS label: at most 63 lower-case letters, digits and '-',"
                " beginning and ending with a letter or digit"
            ),
            "write chief-1",
        ),
        # metadata
        ("metadata.name", ..., "meta-name-required", "the object has no name", "give it one"),
        (
            "metadata.labels",
            {"team": "a b"},
            "meta-labels-label-value",
            (
                "team must be the value of a label: at most 63 letters, digits, '-', '_' and '.',"
                " beginning and ending with a letter or digit"
            ),
            "write a-b",
        ),
        (
            "metadata.name",
            "m.nist",
            "job-name-dots",
            "the svc plugin makes a Service of the job's name, which cannot hold dots",
            "use hyphens",
        ),
        (
            "metadata.annotations",
            {"note": "x" * 300_000},
            "meta-annotations-too-long",
            "the annotations have 300004 bytes, more than Kubernetes keeps",
            "use at most 262144",
        ),
        # tasks
        ("spec.tasks", [], "job-no-tasks", "the job has no tasks", "give it at least one"),
        (f"{TASK}.name", "worker", "task-name-duplicate", "two tasks are called worker", "rename one of them"),
        (
            f"{TASK}.minAvailable",
            2,
            "task-min-over-replicas",
            "minAvailable is 2, but this task has 1 replicas",
            "ask for at most 1",
        ),
        (
            "spec.minAvailable",
            4,
            "job-min-over-total",
            "minAvailable is 4, but all tasks together have 3 replicas",
            "ask for at most 3",
        ),
        (
            f"{TASK}.dependsOn",
            {"name": ["chief"]},
            "deps-not-a-dag",
            "this task waits for chief, and the job has no such task",
            "the tasks are ps, worker",
        ),
        (
            f"{TASK}.dependsOn",
            {"name": ["ps"]},
            "deps-not-a-dag",
            "the tasks wait for each other in a circle",
            "take one of the dependencies out",
        ),
        (
            f"{TASK}.partitionPolicy",
            {"totalPartitions": 2, "partitionSize": 2, "minPartitions": 0},
            "partition-replicas",
            "2 partitions of 2 are not the 1 replicas of the task",
            "let replicas be totalPartitions times partitionSize",
        ),
        # policies
        (
            "spec.policies.0.action",
            "Restart",
            "policy-action",
            "this policy has no action that Volcano knows: 'Restart'",
            ACTIONS,
        ),
        (
            "spec.policies.1",
            {"events": ["*"], "action": "AbortJob"},
            "policy-any-with-others",
            "* stands for any event, so no other event can stand beside it",
            "drop *, or the others",
        ),
        (
            "spec.policies.0",
            {"exitCode": 0, "action": "AbortJob"},
            "policy-exit-code-zero",
            "a policy cannot react to exit code 0, which is success",
            "use the event TaskCompleted",
        ),
        # plugins and queues
        (
            "spec.plugins.horovod",
            [],
            "plugin-unknown",
            "Volcano has no plugin 'horovod'",
            "use one of env, svc, ssh, tensorflow, pytorch, mpi, ray, hcclrank",
        ),
        (
            "spec.plugins.mpi",
            ["--master=chief"],
            "plugin-mpi-no-master",
            "the mpi plugin starts from the task 'chief', and the job has no such task",
            "name one of ps, worker by --master=",
        ),
        ("spec.queue", "visoin", "queue-missing", "there is no queue 'visoin'", "use one of default, research, vision"),
        (
            "spec.queue",
            "research",
            "queue-not-leaf",
            "the queue research has queues below it, so it takes no jobs itself",
            "use one of vision",
        ),
    ],
)
def test_a_broken_rule_explains_itself(route: str, value: Any, rule: str, message: str, hint: str) -> None:
    faults = judge_job(changed(JOB, route, value), QUEUES)
    assert (rule, message, hint) in [(fault.rule, fault.message, fault.hint) for fault in faults]


def test_the_place_is_a_route_into_the_manifest() -> None:
    (fault,) = judge_job(changed(JOB, "spec.tasks.1.template.spec.containers.0.image", ""), QUEUES)
    assert fault.at == ("spec", "tasks", 1, "template", "spec", "containers", 0, "image")


def test_faults_of_all_kinds_are_told_at_once() -> None:
    job = changed(changed(JOB, "spec.queue", "nowhere"), f"{TASK}.replicas", -1)
    assert {"queue-missing", "crd-task-replicas-min"} <= {fault.rule for fault in judge_job(job, QUEUES)}


def test_the_last_replica_counts_in_the_length_of_pod_names() -> None:
    job = changed(changed(JOB, "metadata.name", "m" * 54), "spec.tasks.1.replicas", 11)
    (fault,) = judge_job(job, QUEUES)
    assert fault.rule == "pod-name-of-last-replica"
    assert (fault.found, fault.hint) == ("64", "shorten the job's or the task's name by 1")


@pytest.mark.parametrize("state", ["Closed", "Closing", "Unknown", ""])
def test_only_an_open_queue_takes_jobs(state: str) -> None:
    queues = [{**QUEUES[0], "status": {"state": state}}]
    assert [fault.rule for fault in judge_job(JOB, queues)] == ["queue-not-open"]


@pytest.mark.parametrize("value", [None, True, 1, 1.5, "x", [], {}, [None], {"kind": "Job"}, {"spec": None}])
def test_any_json_value_is_judged(value: object) -> None:
    assert judge_job(value, QUEUES)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("22", 22), ("-1", -1), ("0", 0), ("010", 8), ("0o17", 15), ("0x1F", 31), ("0b11", 3), ("1_000", 1000),
        ("+5", 5), ("08", None), ("0o", None), ("0x", None), ("_1", None), ("1_", None), (" 1", None), ("\u0661", None),
        ("", None), ("9223372036854775807", (1 << 63) - 1), ("9223372036854775808", None),
    ],
)  # fmt: skip
def test_a_number_of_a_flag_is_read_as_go_reads_it(text: str, number: int | None) -> None:
    assert go_int(text) == number
