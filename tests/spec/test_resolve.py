"""How the jobs of a spec are resolved: what an environment holds then, and the limits of all jobs together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tfgitops.spec import bounds

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfgitops import Environment
    from tfgitops.testing import Result

    Compile = Callable[..., Result]

LARGE = "error[TF106]: {}\n --> environment.yaml:{}\n"


def resolved(result: Result) -> Environment:
    assert result.ok, result.text
    assert result.compiled.environment is not None
    return result.compiled.environment


def test_a_job_holds_its_own_keys_and_each_role_what_it_has_from_the_job(compile_spec: Compile) -> None:
    spec = """\
    x-note: {a: 1}
    defaults: {queue: default}
    jobs:
      train: {image: a, maxRetry: 2, env: {A: x, B: null}, worker: {replicas: 2, cpu: 1}, tasks: {log: {image: b}}}
    """
    environment = resolved(compile_spec(spec))
    assert environment.data.keys() == {"apiVersion", "kind", "namespace"}
    [job] = environment.jobs
    assert job.data == {"image": "a", "queue": "default", "maxRetry": 2, "env": {"A": "x"}}
    worker, log = job.roles
    assert (worker.name, worker.kind, worker.replicas) == ("worker", "worker", 2)
    assert worker.data == {"image": "a", "env": {"A": "x"}, "cpu": {"request": 1, "limit": 1}}
    assert (log.name, log.kind, log.replicas, log.route) == ("log", "task", 1, ("jobs", "train", "tasks", "log"))
    assert log.data == {"image": "b", "env": {"A": "x"}}


def test_what_is_incomplete_in_defaults_may_be_completed_or_replaced_by_each_job(compile_spec: Compile) -> None:
    resolved(compile_spec("defaults: {env: {A: {secret: s}}}\njobs: {a: {image: a, worker: 1, env: {A: x}}}\n"))
    assert not compile_spec("defaults: {env: {A: {secret: s}}}\njobs: {a: {image: a, worker: 1}}\n").ok


def test_defaults_of_tasks_shape_the_tasks_that_a_job_has_and_make_none(compile_spec: Compile) -> None:
    spec = """\
    defaults: {worker: {cpu: 1}, ps: {cpu: 2}, tasks: {log: {cpu: 3}, more: {cpu: 4}}}
    jobs:
      a: {image: a, worker: {memory: 1Gi}, tasks: {log: {memory: 2Gi}}}
      b: {image: a, worker: 2}
    """
    a, b = resolved(compile_spec(spec)).jobs
    assert {role.name: role.data["cpu"]["limit"] for role in a.roles} == {"worker": 1, "log": 3}
    assert {role.name: role.data["memory"]["limit"] for role in a.roles} == {"worker": "1Gi", "log": "2Gi"}
    assert [(role.name, role.replicas) for role in b.roles] == [("worker", 2)]


@pytest.mark.parametrize("more", [0, 1])
def test_so_many_jobs_may_be_in_one_environment(
    more: int, compile_spec: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "JOBS", 3 - more)
    result = compile_spec("jobs:\n  a: {image: a, worker: 1}\n  b: {from: a}\n  c: {from: a}\n")
    assert result.ok is not bool(more), result.text
    assert result.text.startswith(LARGE.format("more than 2 jobs", "4:1") if more else "")
    assert ("= help: make several environments\n" in result.text) is bool(more)
    assert result.codes == ["TF106"] * more


@pytest.mark.parametrize("more", [0, 1])
def test_so_many_pods_may_be_in_one_environment(
    more: int, compile_spec: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "PODS", 6 - more)
    result = compile_spec("jobs:\n  a: {image: a, ps: 1, worker: 2}\n  b: {image: a, worker: 3}\n")
    assert result.codes == ["TF106"] * more
    assert result.text.startswith(LARGE.format("the jobs have more than 5 pods", "4:1") if more else "")


@pytest.mark.parametrize("more", [0, 1])
def test_so_much_may_be_inherited_in_one_environment(
    more: int, compile_spec: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each job has the defaults anew, and what it starts from."""
    block = {"image": "tf", "worker": {"replicas": 1}, "env": {"A": "y" * 1000}}
    size = 2 * bounds.expanded({"maxRetry": 3}) + bounds.expanded(block)
    monkeypatch.setattr(bounds, "INHERITED", size - more)
    block_text = f"{{image: tf, worker: {{replicas: 1}}, env: {{A: {'y' * 1000}}}}}"
    result = compile_spec(f"defaults: {{maxRetry: 3}}\njobs:\n  a: {block_text}\n  b: {{from: a}}\n")
    assert result.codes == ["TF106"] * more
    message = "what jobs inherit is larger than 0 MiB"
    assert result.text.startswith(LARGE.format(message, "7:3") if more else "")


def test_a_job_that_is_empty_is_told_unless_it_removes_one_of_another_file(compile_spec: Compile) -> None:
    base = "apiVersion: tfgitops/v1alpha1\nkind: Environment\njobs: {a: {image: a, worker: 1}}\n"
    result = compile_spec("extends: ../base.yaml\njobs:\n  a: null\n  b: null\n", {"../base.yaml": base})
    [warning] = result.compiled.diagnostics
    assert (warning.code, warning.severity) == ("TF301", "warning")
    assert warning.message == "the job 'b' is empty: that removes it, and no other file gives it"
    assert warning.hint == "write its keys below it, or leave it out"
    assert ":7:3\n" in result.text
