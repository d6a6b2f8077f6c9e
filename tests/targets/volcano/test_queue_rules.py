"""Queues form a tree, in which no queue has more than the one above it can give."""

from __future__ import annotations

from typing import Any

import pytest
from example_job import changed, queue

from tfgitops.targets.volcano.queue import judge_queue

GPU = "nvidia.com/gpu"
DEPARTMENT = queue(
    "dept", capability={"cpu": "96", GPU: "8"}, deserved={"cpu": "48", GPU: "6"}, guarantee={"resource": {GPU: "3"}}
)
SIBLING = queue("a", parent="dept", deserved={"cpu": "16", GPU: "3"}, guarantee={"resource": {GPU: "1"}})
QUEUES = [queue("default"), DEPARTMENT, SIBLING]


@pytest.mark.parametrize(
    ("spec", "rule", "message"),
    [
        ({"capability": {"cpu": "-1"}}, "queue-capability-min", "capability of cpu is below zero"),
        (
            {"capability": {GPU: "500m"}},
            "queue-capability-whole-number",
            "nvidia.com/gpu is counted in whole pieces, and 500m is none",
        ),
        (
            {"capability": {"cpu": "4"}, "deserved": {"cpu": "8"}},
            "queue-deserved-over-capability",
            "deserved of cpu is 8, more than the queue's capability (4)",
        ),
        (
            {"guarantee": {"resource": {"cpu": "1"}}},
            "queue-guarantee-without-deserved",
            "the queue guarantees cpu, but deserves none",
        ),
        ({"parent": "nowhere"}, "queue-parent-missing", "there is no queue nowhere to stand below"),
        ({"parent": "b"}, "queue-own-parent", "the queue is its own parent"),
        (
            {"parent": "dept", "deserved": {GPU: "4"}},
            "queue-deserved-sum",
            "deserved of nvidia.com/gpu in all queues below dept is 7, more than that of dept (6)",
        ),
        (
            {"parent": "a", "capability": {GPU: "9"}},
            "queue-capability-over-ancestor",
            "capability of nvidia.com/gpu is 9, more than that of dept (8)",
        ),
        ({"weight": 0}, "crd-q-weight-range", "weight must be at least 1"),
        ({"dequeueStrategy": "lifo"}, "crd-q-dequeue-strategy-enum", "dequeueStrategy must be one of fifo, traverse"),
    ],
)
def test_a_broken_rule_explains_itself(spec: dict[str, Any], rule: str, message: str) -> None:
    faults = judge_queue(queue("b", **spec), QUEUES)
    assert [(fault.rule, fault.message) for fault in faults] == [(rule, message)]
    assert all(fault.hint for fault in faults)


def test_a_parent_cannot_shrink_below_its_children() -> None:
    smaller = changed(DEPARTMENT, "spec.deserved.cpu", "8")
    assert [fault.rule for fault in judge_queue(smaller, QUEUES, "update")] == ["queue-deserved-under-children"]


def test_the_tree_is_five_levels_deep_at_most() -> None:
    chain = [queue(f"l{i}", parent=f"l{i - 1}" if i else "root") for i in range(5)]
    assert judge_queue(queue("x", parent="l3"), chain) == []
    assert [fault.rule for fault in judge_queue(queue("x", parent="l4"), chain)] == ["queue-too-deep"]


def test_a_queue_with_pods_gets_no_children() -> None:
    busy = {**queue("busy"), "status": {"allocated": {"pods": "2"}}}
    assert [fault.rule for fault in judge_queue(queue("x", parent="busy"), [busy])] == ["queue-parent-busy"]


def test_only_a_new_queue_needs_a_spec() -> None:
    bare = {"kind": "Queue", "metadata": {"name": "b"}}
    assert [fault.rule for fault in judge_queue(bare, QUEUES)] == ["mutate-spec-missing"]
    assert judge_queue(bare, QUEUES, "update") == []


@pytest.mark.parametrize(
    ("path", "weights", "rule"),
    [
        ("root/a", "1/2", ""),
        ("root/a", "1", "queue-hierarchy-length"),
        ("root/a", "1/x", "queue-hierarchy-weight-number"),
        ("root/a", "1/1e400", "queue-hierarchy-weight-number"),
        ("root/a", "1/\u0661", "queue-hierarchy-weight-number"),
        ("root/a", "1/0", "queue-hierarchy-weight-zero"),
        ("root/sci", "1/2", "queue-hierarchy-prefix"),
    ],
)
def test_paths_and_weights_go_together(path: str, weights: str, rule: str) -> None:
    annotations = {"volcano.sh/hierarchy": path, "volcano.sh/hierarchy-weights": weights}
    other = changed(queue("o"), "metadata.annotations", {"volcano.sh/hierarchy": "root/sci/ops"})
    faults = judge_queue(changed(queue("b"), "metadata.annotations", annotations), [other])
    assert [fault.rule for fault in faults] == ([rule] if rule else [])
