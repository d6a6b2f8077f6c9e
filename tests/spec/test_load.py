"""Files of environments: what `jobs/` may hold, what `extends` may name, and characters that look like others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from builder import spec_with

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfgitops.testing import Result

    Compile = Callable[..., Result]

TRAIN = "jobs: {train: {image: tf, worker: 2}}\n"


def test_a_dash_of_a_word_processor_before_an_option_is_a_warning(compile_spec: Compile) -> None:
    result = compile_spec(
        "jobs: {train: {image: tf, worker: 2, command: [a], args: [x, \u2013steps=3, \u2014 b, \u20132]}}"
    )
    [warning] = result.compiled.diagnostics
    assert (warning.code, warning.severity) == ("TF109", "warning")
    assert "'args[1]' begins with U+2013 EN DASH" in warning.message
    assert "'--steps'" in warning.hint


def test_a_job_file_in_a_hidden_folder_is_no_job(compile_spec: Compile) -> None:
    result = compile_spec(TRAIN, {"jobs/.old/other.yaml": "image: tf\n", "jobs/notes.txt": "x"})
    assert result.ok, result.text


@pytest.mark.parametrize("name", ["a.YAML", "a.yml", "a.json", "deep/er/a.yaml", "deep/a.yml"])
def test_what_looks_like_a_job_and_is_none_is_refused(compile_spec: Compile, name: str) -> None:
    result = compile_spec(TRAIN, {f"jobs/{name}": "image: tf\nworker: 1\n"})
    assert result.codes == ["TF101"]
    assert "name it jobs/a.yaml" in result.text


@pytest.mark.parametrize(("name", "better"), [("My_Job", "my-job"), ("1st", "job-1st")])
def test_the_name_of_a_job_file_is_judged_as_a_key_is(compile_spec: Compile, name: str, better: str) -> None:
    result = compile_spec(TRAIN, {f"jobs/{name}.yaml": "image: tf\nworker: 1\n"})
    assert not result.ok
    assert f"rename it {better}.yaml" in result.text


def test_a_lone_carriage_return_ends_a_line(compile_spec: Compile) -> None:
    result = compile_spec("jobs:\r  train:\r    image: tf\r    wrker: 2\r")
    assert "environment.yaml:7:5" in result.text
    assert "wrker: 2\n" in result.text


def test_a_job_a_task_or_a_queue_may_be_called_env(compile_spec: Callable[..., Result]) -> None:
    base = """\
        apiVersion: tfgitops/v1alpha1
        kind: Environment
        queues: {env: {weight: 2, capability: {cpu: 9, memory: 9Gi}}}
        jobs:
          env: {image: a, worker: {replicas: 2, cpu: 1, memory: 1Gi, env: {A: {secret: s, key: k}}}}
          all: {image: a, strategy: none, tasks: {env: {replicas: 2, cpu: 1, memory: 1Gi}}}
        """
    spec = """\
        extends: base.yaml
        queues: {env: {capability: {cpu: 8}}}
        jobs:
          env: {worker: {cpu: 2, env: {A: x}}}
          all: {tasks: {env: {cpu: 2}}}
        """
    result = compile_spec(spec, {"base.yaml": base})
    both = {"cpu": "2", "memory": "1Gi"}
    assert result.container("worker", "env")["resources"]["limits"] == both
    assert result.env("worker", "env")["A"] == "x"
    assert result.container("env", "all")["resources"]["limits"] == both
    queue = next(one for one in result.compiled.objects if one.manifest["kind"] == "Queue").manifest
    assert queue["spec"]["capability"] == {"cpu": "8", "memory": "9Gi"}
    assert queue["spec"]["weight"] == 2


def test_a_variable_of_a_task_is_replaced_as_a_whole(compile_spec: Compile) -> None:
    spec = """
    jobs:
      base: {image: a, strategy: none, tasks: {data: {replicas: 2, env: {A: {secret: s, key: k}}}}}
      train: {from: base, tasks: {data: {env: {A: {configMap: c, key: other}}}}}
    """
    (variable,) = [one for one in compile_spec(spec).container("data", "train")["env"] if one["name"] == "A"]
    assert variable["valueFrom"] == {"configMapKeyRef": {"name": "c", "key": "other"}}


def test_a_roles_overlays_win_over_its_jobs(compile_spec: Callable[..., Result]) -> None:
    spec = """\
        jobs:
          train:
            image: a
            pod: {spec: {containers: [{name: tensorflow, imagePullPolicy: Always, stdin: true}]}}
            container: {imagePullPolicy: Never, tty: true}
            worker: {container: {imagePullPolicy: IfNotPresent}}
        """
    result = compile_spec(spec)
    container = result.container("worker")
    assert (container["imagePullPolicy"], container["stdin"], container["tty"]) == ("IfNotPresent", True, True)
    others = compile_spec(spec_with(spec, {"jobs.train.worker": 1}))
    assert others.container("worker")["imagePullPolicy"] == "Always"


def test_of_versions_only_those_that_are_supported_are_named(compile_spec: Compile) -> None:
    text = compile_spec(f"volcano: 1.12\n{TRAIN}").text
    assert "only 1.15 is supported" in text
    assert "did you mean" not in text


@pytest.mark.parametrize("key", ["from", "queue", "strategy", "pin", "image"])
def test_what_is_said_of_a_value_is_short_however_long_that_is(compile_spec: Compile, key: str) -> None:
    image = "" if key == "image" else "image: tf, "
    result = compile_spec(f"jobs: {{train: {{worker: 2, {image}{key}: {'A b/' * 50_000}}}}}\n")
    assert not result.ok
    assert len(result.text) < 6000
