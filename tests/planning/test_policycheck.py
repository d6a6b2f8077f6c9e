"""A policy that never takes effect is a warning at its line, with the place of `restartPolicy`; others are silent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfgitops.testing import Result

RESTARTS = "the kubelet restarts failed containers of {} in their pods, which only fail if they are evicted"
NONE_RESTARTS = "TaskFailed comes after restarts of containers in their pods, and the kubelet restarts none of {}"
ANOTHER = "Volcano takes another policy for PodFailed in every role, and never this one"
OVERLAY = "pod: {spec: {restartPolicy: OnFailure}}"
SIDECAR = "pod: {spec: {initContainers: [{name: log, image: log, restartPolicy: Always}]}}"


@pytest.mark.parametrize(
    ("job", "message"),
    [
        ("worker: 2, restartPolicy: OnFailure, policies: [{event: PodFailed, action: RestartTask}]", RESTARTS),
        ("worker: {replicas: 2, restartPolicy: OnFailure, policies: [{exitCode: 3, action: AbortJob}]}", RESTARTS),
        (f"worker: 2, {OVERLAY}, policies: [{{event: PodFailed, action: RestartJob}}]", RESTARTS),
        ("worker: 2, restartPolicy: OnFailure, policies: [{exitCode: 137, action: RestartJob}]", RESTARTS),
        ("worker: 2, policies: [{event: TaskFailed, action: RestartTask}]", NONE_RESTARTS),
        ("worker: {replicas: 2, policies: [{event: TaskFailed, action: AbortJob}]}", NONE_RESTARTS),
        ("chief: 1, ps: 1, worker: 2, policies: [{exitCode: 3, action: AbortJob}]", ANOTHER),
        ("worker: 2, policies: [{event: PodFailed, action: RestartJob}, {exitCode: 3, action: AbortJob}]", ANOTHER),
    ],
)
def test_a_policy_that_never_takes_effect_is_told(compile_spec: Callable[..., Result], job: str, message: str) -> None:
    result = compile_spec(f"jobs:\n  train: {{image: tf, {job}}}\n")
    (found,) = result.compiled.diagnostics
    assert (found.code, found.severity, found.message) == ("TF502", "warning", message.format("'worker'")), result.text
    assert found.span
    assert "action: " in found.span.excerpt[found.span.column - 1 :]
    notes = [note for note, span in found.notes if "OnFailure" in span.excerpt[span.column - 1 :][: span.width]]
    assert len(notes) == (message == RESTARTS), result.text


@pytest.mark.parametrize(
    "job",
    [
        "worker: 2, restartPolicy: OnFailure",
        "worker: 2, policies: [{event: PodFailed, action: RestartTask}]",
        "worker: 2, restartPolicy: OnFailure, policies: [{event: TaskFailed, action: RestartJob}]",
        "worker: 2, restartPolicy: OnFailure, policies: [{events: [PodFailed, PodEvicted], action: RestartJob}]",
        "worker: 2, restartPolicy: OnFailure, policies: [{events: [PodFailed, TaskFailed], action: RestartJob}]",
        "worker: {replicas: 2, restartPolicy: OnFailure}, tasks: {x: 1}, policies: [{exitCode: 3, action: AbortJob}]",
        f"worker: 2, {SIDECAR}, policies: [{{event: TaskFailed, action: AbortJob}}]",
        "chief: {policies: []}, ps: 1, worker: 2, policies: [{exitCode: 3, action: AbortJob}]",
        "worker: 2, policies: [{exitCode: 3, action: AbortJob}, {event: PodFailed, action: RestartJob}]",
        "worker: 2, policies: [{event: TaskCompleted, action: CompleteJob}]",
        "worker: 2, evaluator: {policies: [{event: PodFailed, action: RestartPod}]}",
        "worker: 2, evaluator: {policies: [{exitCode: 3, action: AbortJob}]}",
        "worker: 2, evaluator: 1, policies: [{event: PodFailed, action: RestartTask}]",
    ],
)
def test_a_policy_that_may_take_effect_is_silent(compile_spec: Callable[..., Result], job: str) -> None:
    assert compile_spec(f"jobs:\n  train: {{image: tf, {job}}}\n").compiled.diagnostics == ()


def test_tolerations_that_an_overlay_replaces_are_judged_too(compile_spec: Callable[..., Result]) -> None:
    worker = "{replicas: 2, tolerations: [{key: a, operator: Exists, value: b}], pod: {spec: {tolerations: null}}}"
    result = compile_spec(f"jobs: {{train: {{image: tf, worker: {worker}}}}}")
    assert result.codes == ["TF501"], result.text
    assert "takes no value" in result.text
