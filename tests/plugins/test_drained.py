"""A drained queue: no job starts in it, and pinned jobs may end."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfgitops.testing import Result

JOBS = "jobs:\n  train: {image: tf, queue: vision, worker: 2}\n"


def test_a_drained_queue_keeps_pinned_jobs_alone(compile_spec: Callable[..., Result]) -> None:
    first = compile_spec(f"gitops: flux\nqueues: {{top: {{}}, vision: {{parent: top}}}}\n{JOBS}")
    for path, text in first.files.items():
        target = first.compiled.folder / "manifests" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    (job,) = (one.manifest for one in first.compiled.objects if one.own)
    drained = "gitops: flux\nqueues: {top: {drain: true}, vision: {parent: top}}\n"
    assert compile_spec(drained + JOBS).codes == ["QUEUE07"]
    result = compile_spec(drained + JOBS.replace("worker: 2", f"worker: 3, pin: {job['metadata']['name']}"))
    assert result.codes == []
    assert result.files["workloads/job-train.yaml"] == first.files["workloads/job-train.yaml"]
    skipped = [path for path, text in result.files.items() if "toolkit.fluxcd.io/reconcile: disabled" in text]
    assert skipped == ["cluster/queue-top.yaml", "cluster-2/queue-vision.yaml"]


def test_other_queues_and_other_words_are_no_matter(compile_spec: Callable[..., Result]) -> None:
    assert compile_spec(f"queues: {{vision: {{}}, old: {{drain: true}}}}\n{JOBS}").codes == []
    assert compile_spec(f"queues: {{vision: {{drain: false}}}}\n{JOBS}").codes == []
    assert "write `drain: true`" in compile_spec(f"queues: {{vision: {{closed: true}}}}\n{JOBS}").text
