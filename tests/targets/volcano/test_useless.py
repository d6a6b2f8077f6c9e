"""What a cluster would admit and then hang, ignore or destroy is refused, or warned of, by rule, place and message."""

from __future__ import annotations

from typing import Any

import pytest
from example_job import JOB, changed

from tfgitops.targets.volcano.useless import WARNINGS, judge_use

POD = "spec.tasks.1.template.spec"
NOT_READY = "--publish-not-ready-addresses"


def test_the_example_is_of_use() -> None:
    assert judge_use(JOB) == []


@pytest.mark.parametrize(
    ("route", "value", "rule", "at"),
    [
        # policies
        (
            "spec.policies.0",
            {"event": "TaskCompleted", "action": "CompleteJob"},
            "any-task-ends-job",
            "spec.policies.0.event",
        ),
        (
            "spec.policies.0",
            {"events": ["PodFailed", "TaskCompleted"], "action": "CompleteJob"},
            "any-task-ends-job",
            "spec.policies.0.events",
        ),
        (
            "spec.policies.0",
            {"events": ["PodFailed", "PodFailed"], "action": "AbortJob"},
            "policy-event-twice",
            "spec.policies.0.events",
        ),
        (
            "spec.policies.0",
            {"event": "PodPending", "action": "RestartJob"},
            "policy-pending-no-timeout",
            "spec.policies.0",
        ),
        # plugins
        ("spec.plugins.svc", [f"{NOT_READY}=false"], "svc-not-ready", "spec.plugins.svc.0"),
        (
            "spec.plugins.svc",
            ["--disable-network-policy=true", "--disable-network-policy=false"],
            "plugin-flag-twice",
            "spec.plugins.svc.1",
        ),
        ("spec.plugins.ssh", ["--ssh-port=0"], "plugin-port", "spec.plugins.ssh.0"),
        ("spec.plugins.ssh", ["--ssh-port=65536"], "plugin-port", "spec.plugins.ssh.0"),
        ("spec.plugins.ssh", ["--ssh-port=ssh"], "plugin-port", "spec.plugins.ssh.0"),
        ("spec.plugins.svc", ["publish"], "plugin-argument", "spec.plugins.svc.0"),
        # pods
        (f"{POD}.volumes.0", {"name": "data"}, "pod-volume-no-source", f"{POD}.volumes.0"),
        (f"{POD}.priority", 10, "pod-class-decides", f"{POD}.priority"),
        (f"{POD}.preemptionPolicy", "Never", "pod-class-decides", f"{POD}.preemptionPolicy"),
        (
            f"{POD}.containers.0.volumeMounts.1",
            {"name": "data", "mountPath": "/data/"},
            "pod-mount-twice",
            f"{POD}.containers.0.volumeMounts.1.mountPath",
        ),
    ],
)
def test_what_is_of_no_use_is_told(route: str, value: Any, rule: str, at: str) -> None:
    (fault,) = judge_use(changed(JOB, route, value))
    assert (fault.rule, ".".join(map(str, fault.at))) == (rule, at)
    assert fault.message
    assert fault.hint


@pytest.mark.parametrize(
    ("route", "value"),
    [
        ("spec.plugins.ssh", ["--ssh-port=2222"]),
        ("spec.plugins.svc", [f"{NOT_READY}=true", "--disable-network-policy=true"]),
        ("spec.tasks.1.policies", [{"event": "TaskCompleted", "action": "CompleteJob"}]),
    ],
)
def test_what_is_of_use_is_not(route: str, value: Any) -> None:
    assert judge_use(changed(JOB, route, value)) == []


PROBE = {"httpGet": {"port": "nosuch"}}
SIDECAR = {"name": "s", "image": "a", "restartPolicy": "Always", "ports": [{"name": "side", "containerPort": 81}]}


@pytest.mark.parametrize(
    ("route", "value", "at"),
    [
        ("containers.0.livenessProbe", PROBE, "httpGet.port"),
        ("containers.0.readinessProbe", PROBE, "httpGet.port"),
        ("containers.0.startupProbe", {"tcpSocket": {"port": "nosuch"}}, "tcpSocket.port"),
        ("containers.0.lifecycle", {"preStop": PROBE}, "preStop.httpGet.port"),
        ("containers.0.lifecycle", {"postStart": PROBE}, "postStart.httpGet.port"),
        ("initContainers", [{**SIDECAR, "startupProbe": PROBE}], "0.startupProbe.httpGet.port"),
    ],
)
def test_a_port_that_the_container_does_not_name_is_never_found(route: str, value: Any, at: str) -> None:
    (fault,) = judge_use(changed(JOB, f"{POD}.{route}", value))
    assert (fault.rule, ".".join(map(str, fault.at))) == ("pod-port-unknown", f"{POD}.{route}.{at}")


@pytest.mark.parametrize("port", [80, "side"])
def test_a_port_is_named_by_its_number_or_in_its_own_container(port: Any) -> None:
    sidecar = {**SIDECAR, "startupProbe": {"tcpSocket": {"port": port}}, "livenessProbe": {"exec": {"command": ["a"]}}}
    assert judge_use(changed(JOB, f"{POD}.initContainers", [sidecar])) == []


def test_one_pod_waits_for_nobody() -> None:
    job = changed(changed(JOB, "spec.tasks.1", ...), "spec.plugins.svc", [f"{NOT_READY}=false"])
    job = changed(job, "spec.policies.0", {"event": "TaskCompleted", "action": "CompleteJob"})
    assert judge_use(job) == []


def test_what_may_be_meant_is_a_warning() -> None:
    assert {"any-task-ends-job", "svc-not-ready"} <= WARNINGS
    assert not {"plugin-flag-twice", "plugin-port"} & WARNINGS


def test_known_tasks_are_left_out() -> None:
    assert judge_use(changed(JOB, f"{POD}.volumes.0", {"name": "data"}), tasks=False) == []
