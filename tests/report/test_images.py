"""`tfgitops images`: every image of every kind of object, by what its content is named, for people and programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import commandline
import pytest

from tfgitops.spec.schema.formats import complain
from tfgitops.targets.kubernetes.image import Image, parse_image

HEAD = "apiVersion: tfgitops/v1alpha1\nkind: Environment\nnamespace: ml\n"
DIGEST = "sha256:" + "0123456789abcdef" * 4
PLUGIN = """\
from tfgitops import Object, hookimpl

tfgitops_api = 1
POD = {"containers": [{"name": "web", "image": "board:1"}], "initContainers": [{"name": "wait", "image": "busybox"}]}

def thing(kind, spec, **more):
    return {"apiVersion": "example.com/v1", "kind": kind, "metadata": {"name": "board"}, "spec": spec, **more}

@hookimpl
def tfgitops_objects(environment):
    template = {"metadata": {"labels": {"a": "b"}}, "spec": POD}
    yield Object(thing("Deployment", {"template": template}), ("jobs",))
    yield Object(thing("CronJob", {"jobTemplate": {"spec": {"template": template}}}), ("jobs",))
    yield Object(thing("Fleet", {"members": [{"pod": POD}], "containers": 3, "image": "no/container:1"}), ("jobs",))
"""


def put(path: str, text: str) -> None:
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")


def run(*arguments: str) -> Any:
    return commandline.run("images", *arguments)


def listed(*arguments: str) -> dict[str, Any]:
    result = run(*arguments, "--format", "json")
    assert (result.exit_code, result.stderr) == (0, "")
    return {image["image"]: image for image in json.loads(result.stdout)["images"]}


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    put("pyproject.toml", "[tool.tfgitops]\n")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "image", "by"),
    [
        ("tf", Image("docker.io", "library/tf"), "none"),
        ("tf:2.21", Image("docker.io", "library/tf", "2.21"), "tag"),
        ("tensorflow/tensorflow:2.21-gpu", Image("docker.io", "tensorflow/tensorflow", "2.21-gpu"), "tag"),
        ("example.com/a/b", Image("example.com", "a/b"), "none"),
        ("example.com:5000/a", Image("example.com:5000", "a"), "none"),
        ("example.com:5000/a/b:1", Image("example.com:5000", "a/b", "1"), "tag"),
        ("localhost/a:1", Image("localhost", "a", "1"), "tag"),
        ("Registry/a", Image("Registry", "a"), "none"),
        (f"a/b@{DIGEST}", Image("docker.io", "a/b", "", DIGEST), "digest"),
        (f"example.com/a/b:1@{DIGEST}", Image("example.com", "a/b", "1", DIGEST), "digest"),
    ],
)
def test_a_reference_is_read_as_a_runtime_reads_it(text: str, image: Image, by: str) -> None:
    assert complain("image", text) is None
    assert parse_image(text) == image
    assert parse_image(text).by == by


def test_the_table(root: Path) -> None:
    put(
        "environments/dev/environment.yaml",
        f"{HEAD}jobs:\n  resnet: {{image: 'tf:2.21', chief: 1, worker: 2}}\n"
        f"  bert: {{image: 'registry.example.com/team/vision/bert:2026-11@{DIGEST}', worker: 1}}\n",
    )
    put(
        "environments/prod/environment.yaml",
        f"{HEAD}jobs:\n  resnet:\n    image: 'tf:2.21'\n    chief: 1\n    worker: 2\n"
        "    ps: {replicas: 1, image: tf}\n"
        "    pod:\n      spec:\n        initContainers:\n        - {name: fetch, image: 'fetch:1'}\n"
        "        - {name: log, image: 'fetch:1', restartPolicy: Always}\n",
    )
    result = run()
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        "tag     fetch:1\n"
        "        environments/prod  resnet  chief, ps, worker: init container fetch\n"
        "        environments/prod  resnet  chief, ps, worker: sidecar log\n"
        f"digest  registry.example.com/team/vision/bert:2026-11@{DIGEST}\n"
        "        environments/dev   bert    worker\n"
        "none    tf\n"
        "        environments/prod  resnet  ps\n"
        "tag     tf:2.21\n"
        "        environments/dev   resnet  chief, worker\n"
        "        environments/prod  resnet  chief, worker\n"
        "4 images: 1 by digest, 2 by tag, 1 by neither, which means the tag latest\n"
    )


def test_what_is_long_is_wrapped_at_80_columns(root: Path) -> None:
    tasks = ", ".join(f"reader-number-{index:02}: {{replicas: 1, command: [x]}}" for index in range(12))
    job = f"{{image: 'tf:1', worker: 1, tasks: {{{tasks}}}}}"
    put("environments/prod/environment.yaml", f"{HEAD}jobs:\n  short: {job}\n")
    lines = run().stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert [name for line in lines[1:-1] for name in line.replace(",", "").split()][2:] == [
        *(f"reader-number-{index:02}" for index in range(12)),
        "worker",
    ]
    put("environments/prod/environment.yaml", f"{HEAD}jobs:\n  {'long-' * 4}name: {job}\n")
    lines = run().stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[1] == f"        environments/prod  {'long-' * 4}name"
    assert lines[2].startswith("          reader-number-00, ")


def test_objects_of_plugins_count_whatever_their_kind(root: Path) -> None:
    put("pyproject.toml", '[tool.tfgitops]\nplugins = ["board.py"]\n')
    put("board.py", PLUGIN)
    put("environments/prod/environment.yaml", f"{HEAD}jobs: {{train: {{image: 'tf:1', worker: 1}}}}\n")
    images = listed()
    assert list(images) == ["board:1", "busybox", "tf:1"]
    assert images["busybox"]["uses"] == [
        {
            "environment": "environments/prod", "job": None, "kind": kind, "name": "board", "role": None,
            "part": "init container", "partName": "wait",
        }
        for kind in ("CronJob", "Deployment", "Fleet")
    ]  # fmt: skip
    assert "        environments/prod  deployment/board  container web\n" in run().stdout


def test_an_image_volume_is_an_image(root: Path) -> None:
    put(
        "environments/prod/environment.yaml",
        HEAD + "jobs:\n  train:\n    image: tf:1\n    worker: 1\n    pod:\n      spec:\n        volumes:\n"
        "        - {name: model, image: {reference: 'example.com/models/bert:3', pullPolicy: IfNotPresent}}\n"
        "    container:\n      volumeMounts: [{name: model, mountPath: /model}]\n",
    )
    (use,) = listed()["example.com/models/bert:3"]["uses"]
    assert (use["job"], use["role"], use["part"], use["partName"]) == ("train", "worker", "volume", "model")


def test_json_has_the_parts_of_each_image(root: Path) -> None:
    put(
        "environments/prod/environment.yaml", f"{HEAD}jobs: {{train: {{image: 'example.com/a@{DIGEST}', worker: 1}}}}\n"
    )
    (image,) = listed("environments/prod").values()
    (use,) = image.pop("uses")
    assert image == {
        "image": f"example.com/a@{DIGEST}", "registry": "example.com", "repository": "a", "tag": None,
        "digest": DIGEST, "by": "digest",
    }  # fmt: skip
    assert use.pop("name").startswith("train-")
    assert use == {
        "environment": "environments/prod", "job": "train", "kind": "Job", "role": "worker", "part": "container",
        "partName": "tensorflow",
    }  # fmt: skip


def test_a_bad_environment_is_reported_and_the_good_ones_are_listed(root: Path) -> None:
    put("environments/bad/environment.yaml", f"{HEAD}jobs: {{train: {{image: 'secret:1', wroker: 1}}}}\n")
    put("environments/good/environment.yaml", f"{HEAD}jobs: {{train: {{image: 'tf:1', worker: 1}}}}\n")
    result = run()
    assert result.exit_code == 1
    assert result.stdout == "tag     tf:1\n        environments/good  train  worker\n1 image: 1 by tag\n"
    assert "error[TF201]: unknown key 'wroker'" in result.stderr
    result = run("--format", "json")
    document = json.loads(result.stdout)
    assert (result.exit_code, result.stderr) == (1, "")
    assert [image["image"] for image in document["images"]] == ["tf:1"]
    assert [problem["code"] for problem in document["problems"]] == ["TF201"]


def test_where_nothing_can_be_listed_nothing_is(root: Path) -> None:
    put("environments/bad/environment.yaml", f"{HEAD}jobs: {{train: {{image: 'secret:1', wroker: 1}}}}\n")
    assert run().stdout == ""
    result = run("nowhere", "--format", "json")
    assert result.exit_code == 1
    assert [problem["code"] for problem in json.loads(result.stdout)["problems"]] == ["TF101"]
    assert (run("nowhere").exit_code, run("nowhere").stdout) == (1, "")


def test_an_environment_without_jobs_has_no_images(root: Path) -> None:
    put("environments/prod/environment.yaml", f"{HEAD}jobs: {{}}\n")
    assert run().stdout == "no images\n"


def test_sarif_is_no_form_of_a_list_of_images(root: Path) -> None:
    assert run("--format", "sarif").exit_code == 2
