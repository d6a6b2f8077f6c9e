"""What must run at once is what a queue or nodes must have room for: no less, and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from builder import spec_with

from tfgitops import gang_pods

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfgitops.testing import Result


COMPLETE = "{event: TaskCompleted, action: CompleteJob}"


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        ("ps: 1, worker: 3", [1, 3]),
        ("ps: 1, worker: {replicas: 3, dependsOn: [ps]}", [1, 3]),  # each server waits for all others
        ("worker: 2, tasks: {prepare: 4}", [2, 4]),
        # Volcano makes them while the others run. Where these last as long as the job, one must have room beside them.
        ("worker: 2, tasks: {report: {replicas: 4, dependsOn: [worker]}}", [2, 1]),
        ("strategy: in-graph, worker: 2, tasks: {client: {dependsOn: [worker]}}", [2, 1]),
        ("ps: 1, worker: 2, tasks: {prepare: 4, report: {dependsOn: [prepare]}}", [1, 2, 4, 0]),
        (f"tasks: {{lead: {{policies: [{COMPLETE}]}}, watch: {{replicas: 3, dependsOn: [lead]}}}}", [1, 1]),
        # Several that wait so could take turns, so no one of them is surely needed beside the rest.
        ("worker: 2, tasks: {a: {dependsOn: [worker]}, b: {dependsOn: [worker]}}", [2, 0, 0]),
        ("worker: 2, tasks: {a: {dependsOn: [worker]}, b: {dependsOn: [a]}}", [2, 0, 0]),
        ("tasks: {shard: {replicas: 8, minAvailable: 1}}, minAvailable: 1", [1]),
        ("tasks: {a: {replicas: 3, minAvailable: 1}, b: {replicas: 3, minAvailable: 1}}, minAvailable: 5", [2, 2]),
        ("tasks: {a: 2, b: {replicas: 3, minAvailable: 2}}", [2, 2]),
    ],
)
def test_what_must_run_at_once(compile_spec: Callable[[str], Result], job: str, expected: list[int]) -> None:
    result = compile_spec(f"jobs: {{train: {{image: a, {job}}}}}\n")
    assert gang_pods(result.job()) == expected


def test_a_task_that_waits_needs_no_room_in_the_queue_beside_those_it_waits_for(
    compile_spec: Callable[[str], Result],
) -> None:
    spec = """\
        queues: {small: {capability: {cpu: 4}}}
        jobs:
          train:
            image: a
            queue: small
            cpu: 4
            completes: report
            tasks: {prepare: 1, report: {dependsOn: [prepare]}}
        """
    assert compile_spec(spec).codes == []
    assert compile_spec(spec_with(spec, {"jobs.train.tasks.report": 1})).codes == ["QUEUE05"]


def test_thousands_of_pods_are_named_by_their_number(compile_spec: Callable[[str], Result]) -> None:
    result = compile_spec("""\
        queues: {small: {capability: {nvidia.com/gpu: 1000}}}
        jobs: {train: {image: a, queue: small, worker: {replicas: 250, gpu: 8}}}
        """)
    assert "needs 2000 nvidia.com/gpu, and the queue 'small' may use 1000" in result.text


def test_a_task_that_waits_for_servers_needs_room_in_the_queue_beside_them(
    compile_spec: Callable[[str], Result],
) -> None:
    queues = "queues: {small: {capability: {cpu: 4}}}\n"
    spec = "jobs: {train: {image: a, queue: small, worker: {cpu: 4}, tasks: {report: {cpu: 1, dependsOn: [worker]}}}}"
    assert compile_spec(queues + spec).codes == ["QUEUE05"]
