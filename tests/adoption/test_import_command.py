"""The command `import`: where it reads from and writes to, and what it leaves alone."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from commandline import run
from typer.testing import CliRunner

from tfgitops.cli import app

JOB = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: %s, namespace: %s}
spec:
  queue: default
  tasks:
  - name: shard
    replicas: 2
    template: {spec: {restartPolicy: Never, containers: [{name: main, image: 'example/shard:1', command: [shard]}]}}
"""
ENVIRONMENT = Path("environments/ml")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("job.yaml").write_text(JOB % ("split", "ml"))
    return tmp_path


def test_the_spec_goes_to_standard_output_and_the_report_to_standard_error() -> None:
    result = run("import", "job.yaml")
    assert result.exit_code == 0
    assert result.stdout.startswith("apiVersion: tfgitops/v1alpha1\n")
    assert "job.yaml:1: Job split → jobs.split\n" in result.stderr
    assert run("import", "job.yaml", "--quiet").stderr == ""


def test_an_environment_is_written_and_builds() -> None:
    result = run("import", "job.yaml", "-o", ENVIRONMENT)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.endswith("wrote environments/ml/environment.yaml; next: tfgitops build environments/ml\n")
    assert run("build", ENVIRONMENT).exit_code == 0


def test_nothing_is_overwritten() -> None:
    ENVIRONMENT.mkdir(parents=True)
    (ENVIRONMENT / "environment.yaml").write_text("mine\n")
    result = run("import", "job.yaml", "-o", ENVIRONMENT)
    assert result.exit_code == 1
    assert "error[TF602]: environments/ml/environment.yaml is there already" in result.stderr
    assert (ENVIRONMENT / "environment.yaml").read_text() == "mine\n"


@pytest.mark.parametrize(
    ("folder", "said"),
    [
        ("environments", "environments holds environments\n  = help: name a new folder: -o environments/NAME\n"),
        ("environments/new.yaml", "in which environment.yaml is written: -o environments/new\n"),
    ],
)
def test_a_folder_that_cannot_be_an_environment_is_refused(folder: str, said: str) -> None:
    assert run("import", "job.yaml", "--quiet", "-o", ENVIRONMENT).stderr == ""
    result = run("import", "job.yaml", "-o", folder)
    assert result.exit_code == 1
    assert said in result.stderr
    assert [path.name for path in Path("environments").iterdir()] == ["ml"]


def test_a_base_is_offered() -> None:
    Path("environments").mkdir()
    Path("environments/base.yaml").write_text("")
    said = "  to share the values of environments/base.yaml, add `extends: ../base.yaml` first\n"
    assert run("import", "job.yaml", "-o", ENVIRONMENT).stderr.endswith(said)


def test_config_maps_become_files_beside_the_spec_and_overwrite_none() -> None:
    cases = Path(__file__).parent / "cases"
    assert run("import", cases / "beside.yaml", "-o", ENVIRONMENT).exit_code == 0
    assert (ENVIRONMENT / "config/settings/model.toml").read_text() == "layers = 3\n"
    assert "configMaps: [settings]" in (ENVIRONMENT / "environment.yaml").read_text()
    assert run("build", ENVIRONMENT).exit_code == 0
    (ENVIRONMENT / "environment.yaml").unlink()
    result = run("import", cases / "beside.yaml", "-o", ENVIRONMENT)
    assert result.exit_code == 1
    assert "config/settings/model.toml is there already" in result.stderr


def test_several_files_and_standard_input_are_one_environment() -> None:
    text = JOB % ("join", "ml")
    result = CliRunner().invoke(app, ["import", "job.yaml", "-"], input=text)
    assert "defaults:\n  image: example/shard:1\n  command: [shard]\n" in result.stdout
    assert "<stdin>:1: Job join → jobs.join" in result.stderr


def test_a_namespace_is_chosen() -> None:
    Path("other.yaml").write_text(JOB % ("join", "other"))
    assert (
        "error[TF203]: the jobs are in several namespaces: ml, other" in run("import", "job.yaml", "other.yaml").stderr
    )
    result = run("import", "job.yaml", "other.yaml", "--namespace", "other")
    assert "jobs:\n  join:" in result.stdout
    assert "in the namespace ml: an environment has one, here other" in result.stderr


def test_two_jobs_of_one_name_are_two_jobs() -> None:
    result = run("import", "job.yaml", "job.yaml")
    assert "  split:" in result.stdout
    assert "  split-2:" in result.stdout
    assert "two Jobs have this name, so this one is split-2" in result.stderr


@pytest.mark.parametrize(
    ("name", "said"),
    [("absent.yaml", "absent.yaml cannot be read"), (".", "is a folder"), ("latin.yaml", "is not UTF-8")],
)
def test_a_file_that_cannot_be_read_is_named(name: str, said: str) -> None:
    Path("latin.yaml").write_bytes(b"kind: caf\xe9\n")
    result = run("import", name)
    assert (result.exit_code, result.stdout) == (1, "")
    assert said in result.stderr


def test_problems_are_shown_in_other_formats() -> None:
    result = run("import", "absent.yaml", "--format", "json")
    assert result.exit_code == 1
    assert '"code": "TF101"' in result.stdout


def test_a_stream_without_an_object_is_refused() -> None:
    result = CliRunner().invoke(app, ["import", "-"], input=io.StringIO("---\n---\n").read())
    assert "there is no Volcano Job and no TFJob to import" in result.stderr
