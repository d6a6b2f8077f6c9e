"""Plugins of other people, in `tests/plugins/external`: installed beside the wheel, they have all that ours have."""

from __future__ import annotations

import ast
import json
import shutil
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from builder import cut
from checkout import REPOSITORY
from installed import build_wheels, install, run
from jsonschema import Draft202012Validator

if TYPE_CHECKING:
    from pathlib import Path

EXTERNAL = sorted(path.parent for path in (REPOSITORY / "tests" / "plugins" / "external").glob("*/pyproject.toml"))
NAMES = [folder.name for folder in EXTERNAL]
TOGETHER = """\
apiVersion: tfgitops/v1alpha1
kind: Environment
namespace: ml
owner: vision-team
queues: {vision: {}}
volumes: {data: {claim: imagenet, path: /data}}
nodes:
  a100: {count: 4, accelerators: {nvidia.com/gpu: 8, rdma/hca: 8}}
jobs:
  train:
    image: registry.example.com/tf:2.21
    queue: vision
    costCentre: cc-1204
    volumes: [data]
    gpu: 8
    rdma: {hcas: 4}
    chief:
      checkpoints: {volume: data, bucket: s3://ml-checkpoints, region: eu-1, secret: object-store}
    worker: 3
"""
COMPILED = (
    "queue: vision", "claimName: imagenet", "nvidia.com/gpu: '8'",
    "example.com/owner: vision-team", "example.com/cost-centre: cc-1204",
    "rdma/hca: '4'", "hostNetwork: true", "dnsPolicy: ClusterFirstWithHostNet", "- IPC_LOCK",
    "initContainers:", "restartPolicy: Always", "name: checkpoints-",
)  # fmt: skip


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Copy the packages to where nothing of this checkout is near."""
    place = tmp_path_factory.mktemp("external")
    for folder in EXTERNAL:
        shutil.copytree(folder, place / folder.name, ignore=shutil.ignore_patterns("__pycache__"))
    return {name: place / name for name in NAMES}


@pytest.fixture(scope="module")
def bin_(wheel: Path, folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel, the packages and pytest into an environment with nothing else."""
    wheels = build_wheels(tmp_path_factory.mktemp("wheels"), *folders.values())
    return install(tmp_path_factory.mktemp("venv"), wheel, *wheels, "pytest")


def described(schema: Any, key: str) -> list[str]:
    """List the descriptions that a key has anywhere in a schema."""
    if isinstance(schema, list):
        return [found for item in schema for found in described(item, key)]
    if not isinstance(schema, dict):
        return []
    own = schema.get("properties", {}).get(key, {}).get("description", "")
    return [own] * bool(own) + [found for inner in schema.values() for found in described(inner, key)]


def test_there_are_packages() -> None:
    assert set(NAMES) == {"tfgitops-checkpoint-sidecar", "tfgitops-cost", "tfgitops-rdma"}
    for folder in EXTERNAL:
        project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
        assert list(project["entry-points"]) == ["tfgitops"]
        assert project["dependencies"] == ["tfgitops"]


@pytest.mark.parametrize("name", NAMES)
def test_they_use_nothing_of_ours_but_what_is_public(name: str, folders: dict[str, Path]) -> None:
    for path in folders[name].rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            ours = {module for module in modules if module.partition(".")[0] == "tfgitops"}
            assert ours <= {"tfgitops", "tfgitops.testing"}, path


@pytest.mark.parametrize("name", NAMES)
def test_their_own_tests_pass_beside_the_wheel(name: str, folders: dict[str, Path], bin_: Path) -> None:
    said = run(bin_ / "python", "-m", "pytest", "-q", "-W", "error", cwd=folders[name])
    assert " passed" in said
    assert "skipped" not in said


@pytest.mark.parametrize("name", NAMES)
def test_they_are_listed_and_their_keys_are_described_to_editors(name: str, bin_: Path, tmp_path: Path) -> None:
    listed = json.loads(run(bin_ / "tfgitops", "plugins", "list", "--format", "json", cwd=tmp_path))
    [plugin] = [entry for entry in listed["plugins"] if entry["distribution"].startswith(f"{name} ")]
    assert plugin["keys"]
    assert plugin["codes"]
    schema = json.loads(run(bin_ / "tfgitops", "schema", cwd=tmp_path))
    Draft202012Validator.check_schema(schema)
    for key in plugin["keys"]:
        assert key["description"]
        if key["site"] != "settings":
            assert key["description"] in described(schema, key["key"])


def test_they_compile_together_with_ours(bin_: Path, tmp_path: Path) -> None:
    folder = tmp_path / "environments" / "prod"
    folder.mkdir(parents=True)
    (folder / "environment.yaml").write_text(TOGETHER)
    (tmp_path / "pyproject.toml").write_text('[tool.tfgitops.settings.cost]\nrequiredIn = ["prod"]\n')
    assert "warning" not in run(bin_ / "tfgitops", "build", cwd=tmp_path)
    text = (folder / "manifests" / "workloads" / "job-train.yaml").read_text()
    for line in COMPILED:
        assert line in text, line
    assert "up to date" in run(bin_ / "tfgitops", "build", "--check", cwd=tmp_path)
    lock = run(bin_ / "tfgitops", "lock", cwd=tmp_path) + (tmp_path / "tfgitops.lock").read_text()
    assert all(name.removeprefix("tfgitops-") in lock for name in NAMES)


CORE = """\
error[TF201]: unknown key 'replcas'
  --> environments/prod/environment.yaml:19:14
19 |     worker: {replcas: 3}
   |              ^^^^^^^
   = help: did you mean 'replicas'?

1 error
"""
TYPOS = {
    "a key of the core": ("worker: 3", "worker: {replcas: 3}", CORE),
    "in a block of a role": ("secret: object-store}", "sceret: object-store}", """\
error[TF201]: unknown key 'sceret'
  --> environments/prod/environment.yaml:18:78
18 |       checkpoints: {volume: data, bucket: s3://ml-checkpoints, region: eu-1, sceret: object-store}
   |                                                                              ^^^^^^
   = help: did you mean 'secret'?

1 error
"""),
    "in a block": ("rdma: {hcas: 4}", "rdma: {netwrok: host}", """\
error[TF201]: unknown key 'netwrok'
  --> environments/prod/environment.yaml:16:12
16 |     rdma: {netwrok: host}
   |            ^^^^^^^
   = help: did you mean 'network'?

1 error
"""),
    "of a block": ("rdma: {hcas: 4}", "rmda: {hcas: 4}", """\
error[TF201]: unknown key 'rmda'
  --> environments/prod/environment.yaml:16:5
16 |     rmda: {hcas: 4}
   |     ^^^^
   = help: did you mean 'rdma'?

1 error
"""),
    "of a value": ("costCentre: cc-1204", "costCentre: 'cc 1204'", """\
error[TF203]: 'cc 1204' cannot be the value of a label
  --> environments/prod/environment.yaml:13:17
13 |     costCentre: 'cc 1204'
   |                 ^^^^^^^^^
   = found: 'cc 1204'
   = expected: at most 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit

1 error
"""),
    "of a rule": ("    costCentre: cc-1204\n", "", """\
error[COST02]: the job 'train' has no `costCentre`, which 'prod' requires
  --> environments/prod/environment.yaml:10:3
10 |   train:
   |   ^^^^^
   = help: add `costCentre: CODE` to the job, or at the top for all jobs of the environment

1 error
"""),
}  # fmt: skip


@pytest.mark.parametrize("what", TYPOS)
def test_a_mistake_in_a_key_of_theirs_is_told_as_one_in_ours(what: str, bin_: Path, tmp_path: Path) -> None:
    before, after, expected = TYPOS[what]
    folder = tmp_path / "environments" / "prod"
    folder.mkdir(parents=True)
    (folder / "environment.yaml").write_text(cut(TOGETHER, before, after))
    (tmp_path / "pyproject.toml").write_text('[tool.tfgitops.settings.cost]\nrequiredIn = ["prod"]\n')
    assert run(bin_ / "tfgitops", "validate", cwd=tmp_path, code=1).endswith(expected)
