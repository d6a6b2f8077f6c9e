"""What becomes of the sidecar once its job runs: pinned, explained, reviewed."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import tfgitops_checkpoint_sidecar
from tfgitops.testing import find_plugins

if TYPE_CHECKING:
    from tfgitops import Plugins
    from tfgitops.testing import Bench, Result

SPEC = """
volumes: {{runs: {{claim: runs, path: /runs}}}}
checkpoints:
  prod: {{bucket: "s3://ml-checkpoints", secret: object-store, image: "registry.example.com/rclone:1", every: {every}}}
defaults: {{image: "registry.example.com/tf:2.21", volumes: [runs]}}
jobs:
  running:
    {pin}
    checkpoints: {{volume: runs, path: /runs/$(RUN), store: prod}}
    worker: 1
  other:
    checkpoints: {{volume: runs, path: /runs/$(RUN), store: prod{own}}}
    worker: 1
"""
IMAGE = "spec.tasks[worker].template.spec.initContainers[checkpoint-sidecar].image"


@pytest.fixture
def tfgitops_plugins() -> Plugins:
    return find_plugins(tfgitops_checkpoint_sidecar)


def spec(every: str = "10m", pin: str = "", own: str = "") -> str:
    return SPEC.format(every=every, pin=f"pin: {pin}" if pin else "strategy: mirrored", own=own)


def configuration(result: Result, job: str) -> str:
    """Return the name of the ConfigMap that a job's sidecar reads."""
    return str(result.pod("worker", job).volumes["checkpoint-sidecar"]["configMap"]["name"])


def names(result: Result) -> set[str]:
    return {one.name for one in result.objects("ConfigMap")}


def test_jobs_of_one_configuration_share_it(compile_spec: Bench) -> None:
    result = compile_spec(spec())
    assert configuration(result, "running") == configuration(result, "other")
    assert names(result) == {configuration(result, "other")}


def test_keys_of_a_role_that_say_what_the_store_says_make_no_second_one(compile_spec: Bench) -> None:
    result = compile_spec(spec(own=", every: 10m"))
    assert names(result) == {configuration(result, "running")} == {configuration(result, "other")}


def test_another_configuration_is_another_object_and_another_run(compile_spec: Bench) -> None:
    before, after = compile_spec(spec()), compile_spec(spec("20m"))
    assert not names(before) & names(after)
    assert before.job("other").name != after.job("other").name


def test_a_pinned_job_keeps_its_configuration(compile_spec: Bench) -> None:
    before = compile_spec(spec())
    committed = {f"manifests/{path}": text for path, text in before.files.items()}
    after = compile_spec(spec("20m", before.job("running").name), committed)
    kept = configuration(before, "running")
    assert after.job("running") == before.job("running")
    assert names(after) == {kept, configuration(after, "other")}
    assert after.object("ConfigMap", kept) == before.object("ConfigMap", kept)
    assert configuration(after, "other") != kept


def test_a_pinned_job_asks_for_no_new_configuration(compile_spec: Bench) -> None:
    before = compile_spec(spec(own=", every: 1h"))
    committed = {f"manifests/{path}": text for path, text in before.files.items()}
    after = compile_spec(spec("20m", before.job("running").name, own=", every: 1h"), committed)
    assert names(after) == names(before)


def test_explain_leads_to_the_lines_of_the_spec(compile_spec: Bench) -> None:
    result = compile_spec(spec())
    assert "checkpoints.prod.image: " in result.explain("other", IMAGE)
    folder = "spec.tasks[worker].template.spec.volumes[checkpoint-sidecar].configMap.name"
    assert "checkpoints.prod.every: 10m" in result.explain("other", folder)
    source = "spec.tasks[worker].template.spec.initContainers[checkpoint-sidecar].env[SOURCE].value"
    assert "checkpoints.path: /runs/$(RUN)" in result.explain("other", source)
    found = result.explain(f"configmap/{configuration(result, 'other')}", "data[sync.env]")
    assert "checkpoints.prod.every: 10m" in found


def test_explain_leads_from_a_configuration_of_its_own_to_the_keys_of_the_job(compile_spec: Bench) -> None:
    result = compile_spec(spec(own=", every: 1h"))
    found = result.explain(f"configmap/{configuration(result, 'other')}", "data[sync.env]")
    assert "checkpoints.every: 1h" in found


def test_no_credential_is_in_a_manifest(compile_spec: Bench) -> None:
    sidecar = compile_spec(spec()).pod("worker", "other").sidecars["checkpoint-sidecar"]
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        assert sidecar.env[name] == {"secretKeyRef": {"name": "object-store", "key": name}}


# --- the commands, which find the plugin where it is installed --------------------------------------------------------

installed = pytest.mark.skipif(
    "checkpoint-sidecar" not in entry_points(group="tfgitops").names,
    reason="the plugin is not installed: pip install .",
)
HEAD = "apiVersion: tfgitops/v1alpha1\nkind: Environment\nnamespace: ml\n"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with one environment, which is built and committed, and go there."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prod").mkdir()
    (tmp_path / "prod" / "environment.yaml").write_text(HEAD + spec(), encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text("[tool.tfgitops]\n", encoding="utf-8")
    tfgitops("build", "prod")
    git = ("git", "-c", "user.name=test", "-c", "user.email=test@example.com")
    for arguments in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "first")):
        subprocess.run([*git, *arguments], check=True)
    return tmp_path


def tfgitops(*arguments: str) -> str:
    command = [str(Path(sys.executable).with_name("tfgitops")), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@installed
def test_images_lists_the_sidecars(repository: Path) -> None:
    assert "running  worker: sidecar checkpoint-sidecar" in tfgitops("images", "prod")


@installed
def test_review_shows_what_another_interval_restarts_and_what_is_kept(repository: Path) -> None:
    tfgitops("pin", "prod", "running")
    path = repository / "prod" / "environment.yaml"
    pin = re.search(r"pin: (\S+)", path.read_text(encoding="utf-8"))
    assert pin is not None
    path.write_text(HEAD + spec(every="20m", pin=pin[1]), encoding="utf-8")
    tfgitops("build", "prod", "--restart", "other")
    assert len(list((repository / "prod" / "manifests" / "workloads").glob("configmap-*"))) == 2
    told = tfgitops("review", "prod", "--against", "main")
    assert "other" in told
    assert "checkpoints.prod.every  prod/environment.yaml" in told
    assert "volumes[checkpoint-sidecar].configMap.name" in told
