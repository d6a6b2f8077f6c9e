"""What happens when pods fail, unless a spec says otherwise: nobody keeps GPUs for a training that is over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfgitops.testing import Result

EVICTED = {"event": "PodEvicted", "action": "RestartJob"}
RESTART_JOB = {"event": "PodFailed", "action": "RestartJob"}
RESTART_POD = {"event": "PodFailed", "action": "RestartPod"}
RETURNS = [RESTART_POD, {"event": "PodEvicted", "action": "ResumeJob"}]
"""A pod that comes back by itself, whatever took it."""

COMPLETE = {"event": "TaskCompleted", "action": "CompleteJob"}


def _policies(result: Result) -> dict[str, list[dict[str, Any]]]:
    spec = result.job()["spec"]
    return {"": spec.get("policies", []), **{task["name"]: task.get("policies", []) for task in spec["tasks"]}}


@pytest.mark.parametrize(
    ("job", "policies"),
    [
        ("worker: 1", {"": [EVICTED], "worker": [RESTART_JOB, COMPLETE]}),
        ("worker: 1, evaluator: 1", {"": [EVICTED], "worker": [RESTART_JOB, COMPLETE], "evaluator": RETURNS}),
        ("worker: 2", {"": [EVICTED, RESTART_JOB], "worker": [COMPLETE]}),
        ("chief: 1, worker: 2", {"": [EVICTED, RESTART_JOB], "chief": [COMPLETE], "worker": []}),
        ("ps: 1, worker: 2", {"": [EVICTED, RESTART_JOB], "ps": [], "worker": [COMPLETE]}),
        (
            "chief: 1, ps: 1, worker: 2, evaluator: 1",
            {
                "": [EVICTED],
                "chief": [RESTART_JOB, COMPLETE],
                "ps": [RESTART_JOB],
                "worker": RETURNS,
                "evaluator": RETURNS,
            },
        ),
        # The workers of in-graph serve: a chief, or the one further task, is the client, whose end is the job's.
        (
            "strategy: in-graph, chief: 1, worker: 2, tasks: {a: 1}",
            {"": [EVICTED, RESTART_JOB], "chief": [COMPLETE], "worker": [], "a": []},
        ),
        ("strategy: in-graph, worker: 2, tasks: {a: 1}", {"": [EVICTED, RESTART_JOB], "worker": [], "a": [COMPLETE]}),
        (
            "strategy: in-graph, ps: 1, worker: 2, tasks: {a: 1}",
            {"": [EVICTED, RESTART_JOB], "ps": [], "worker": [], "a": [COMPLETE]},
        ),
        # The client is outside of these jobs: nothing ends them.
        ("strategy: in-graph, worker: 1", {"": [EVICTED, RESTART_JOB], "worker": []}),
        ("strategy: in-graph, ps: 1, worker: 2", {"": [EVICTED, RESTART_JOB], "ps": [], "worker": []}),
        (
            "strategy: in-graph, worker: 2, evaluator: 1",
            {"": [EVICTED, RESTART_JOB], "worker": [], "evaluator": RETURNS},
        ),
        (
            "strategy: in-graph, worker: 2, tasks: {tensorboard: 1}, completes: all",
            {"": [EVICTED, RESTART_JOB], "worker": [], "tensorboard": []},
        ),
        (
            "strategy: in-graph, worker: 2, tasks: {a: 1, b: 1}",
            {"": [EVICTED, RESTART_JOB], "worker": [], "a": [], "b": []},
        ),
        ("worker: 2, tasks: {a: 1}", {"": [EVICTED, RESTART_JOB], "worker": [COMPLETE], "a": []}),
        ("tasks: {a: 2}", {"": [EVICTED], "a": [COMPLETE]}),
        ("tasks: {a: 1, b: 1}", {"": [EVICTED], "a": [], "b": []}),
    ],
)
def test_defaults(compile_spec: Callable[[str], Result], job: str, policies: dict[str, Any]) -> None:
    assert _policies(compile_spec(f"jobs: {{train: {{image: a, {job}}}}}")) == policies


def test_a_policy_replaces_the_default_for_its_event_alone(compile_spec: Callable[[str], Result]) -> None:
    abort = {"event": "PodFailed", "action": "AbortJob"}
    found = _policies(
        compile_spec("jobs: {train: {image: a, worker: 2, policies: [{event: PodFailed, action: AbortJob}]}}")
    )
    assert found[""] == [abort, EVICTED]


def test_a_policy_for_any_event_replaces_all_defaults(compile_spec: Callable[[str], Result]) -> None:
    found = _policies(compile_spec("jobs: {train: {image: a, worker: 2, policies: [{event: '*', action: AbortJob}]}}"))
    assert found[""] == [{"event": "*", "action": "AbortJob"}]


def test_an_empty_list_removes_the_defaults(compile_spec: Callable[[str], Result]) -> None:
    assert _policies(compile_spec("jobs: {train: {image: a, worker: 2, policies: []}}"))[""] == []


def test_a_job_of_parameter_servers_alone_is_refused(compile_spec: Callable[[str], Result]) -> None:
    found = compile_spec("jobs: {train: {image: a, strategy: in-graph, ps: 2}}").found("TF302")
    assert found.hint == "add `worker: 2`"
