"""What cannot be read is told, and is never taken for what is not there: no manifest goes for it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import commandline
import pytest
from permissions import anybody, can_be_anybody

PROGRAM = Path(sys.executable).parent / "tfgitops"
HEAD = "apiVersion: tfgitops/v1alpha1\nkind: Environment\n"
GOOD, BAD = Path("environments/good"), Path("environments/bad")
JOB = "image: tf\nworker: 1\n"

pytestmark = pytest.mark.skipif(not can_be_anybody(), reason="whoever may read all is refused nothing")


def run(*arguments: str | Path) -> Any:
    """Run the command line as one for whom permissions count; a pipe that it waits for ends the test."""
    with anybody(), at_most(30):
        return commandline.run(*arguments)


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    before = signal.signal(signal.SIGALRM, lambda *_: pytest.fail(f"it waited for {seconds} s"))
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def manifests() -> list[str]:
    return sorted(str(path) for path in Path("environments").rglob("manifests/workloads/*"))


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build two environments, each with a job in its spec and one in a file."""
    root = tmp_path_factory.mktemp("repository")
    (root / "pyproject.toml").write_text("[tool.tfgitops]\n", encoding="utf-8")
    for environment in (GOOD, BAD):
        (root / environment / "jobs").mkdir(parents=True)
        text = f"{HEAD}namespace: {environment.name}\njobs: {{base: {{image: tf, worker: 1}}}}\n"
        (root / environment / "environment.yaml").write_text(text, encoding="utf-8")
        (root / environment / "jobs" / "train.yaml").write_text(JOB, encoding="utf-8")
    subprocess.run([PROGRAM, "build"], cwd=root, check=True, capture_output=True)
    return root


@pytest.fixture(autouse=True)
def built(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Work in a copy of the repository, and tell which manifests it has.

    In the end all of it can be removed again, and no module is left whose file is a pipe now: hypothesis reads the
    sources of all modules, and would wait for that one.
    """
    shutil.copytree(repository, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    before = manifests()
    assert len(before) == 4
    yield before
    for current, names, _ in os.walk(tmp_path):
        for name in names:
            (Path(current) / name).chmod(0o755)
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def told(result: Any, path: Path | str, why: str) -> None:
    assert f"error[TF101]: {path} cannot be read: {why}" in result.stderr
    assert "help: " in result.stderr
    assert (result.exit_code, "Traceback" in result.stderr) == (1, False)
    assert isinstance(result.exception, SystemExit)


def locked(path: Path) -> None:
    path.chmod(0)


def dangling(path: Path) -> None:
    _removed(path)
    path.symlink_to("nowhere")


def looping(path: Path) -> None:
    _removed(path)
    path.symlink_to(path.name)


def pipe(path: Path) -> None:
    _removed(path)
    os.mkfifo(path)


def folder(path: Path) -> None:
    _removed(path)
    path.mkdir()


def _removed(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()


WHY = {
    locked: "Permission denied", dangling: "it is a link to what is not there", pipe: "it is a named pipe, and no file",
    looping: "Too many levels of symbolic links", folder: "Is a directory",
}  # fmt: skip
Damage = Callable[[Path], None]


@pytest.mark.parametrize("damage", WHY, ids=lambda damage: damage.__name__)
def test_a_spec_that_cannot_be_read_takes_no_manifest_away(damage: Damage, built: list[str]) -> None:
    damage(BAD / "environment.yaml")
    result = run("build", "environments")
    told(result, BAD / "environment.yaml", WHY[damage])
    assert f"{GOOD}: 2 jobs, 2 manifests: nothing changed" in result.stdout
    assert f"{BAD}: nothing written" in result.stdout
    assert f"{BAD}: not valid" in run("validate").stdout
    assert manifests() == built


@pytest.mark.parametrize("damage", [locked, dangling, looping, pipe])
@pytest.mark.parametrize("name", ["", "environment.yaml"])
def test_such_a_spec_is_told_by_its_name_too(damage: Damage, name: str) -> None:
    damage(BAD / "environment.yaml")
    told(run("validate", BAD / name), BAD / "environment.yaml", WHY[damage])


@pytest.mark.parametrize("damage", [locked, dangling, looping, pipe])
@pytest.mark.parametrize("name", ["jobs", "jobs/train.yaml"])
def test_jobs_that_cannot_be_read_take_no_manifest_away(damage: Damage, name: str, built: list[str]) -> None:
    damage(BAD / name)
    told(run("build"), BAD / name, WHY[damage])
    assert f"{BAD}: not valid" in run("validate").stdout
    assert manifests() == built


def test_jobs_that_are_no_folder_are_told(built: list[str]) -> None:
    _removed(BAD / "jobs")
    (BAD / "jobs").write_text("", encoding="utf-8")
    assert f"error[TF101]: {BAD}/jobs is a file" in run("build").stderr
    assert manifests() == built


def test_jobs_in_other_letters_take_no_manifest_away(built: list[str]) -> None:
    (BAD / "jobs").rename(BAD / "Jobs")
    result = run("build")
    assert f"error[TF101]: {BAD}/Jobs would be passed over\n  = help: rename it to jobs\n" in result.stderr
    assert manifests() == built


def test_a_linked_folder_of_jobs_is_not_passed_over() -> None:
    (BAD / "jobs" / "more").symlink_to(Path("../../good/jobs"))
    assert f"error[TF101]: {BAD}/jobs/more is a link, and would be passed over" in run("build").stderr


def test_a_folder_with_the_name_of_a_job_is_not_passed_over(built: list[str]) -> None:
    folder(BAD / "jobs" / "train.yaml")
    assert f"error[TF101]: {BAD}/jobs/train.yaml is a folder" in run("build").stderr
    assert manifests() == built


@pytest.mark.parametrize("name", ["environment.yml", "Environment.yaml", "environment.json", "ENVIRONMENT.YML"])
def test_a_spec_by_another_name_takes_no_manifest_away(name: str, built: list[str]) -> None:
    (BAD / "environment.yaml").rename(BAD / name)
    for path in ("environments", BAD):
        result = run("build", path)
        assert f"error[TF101]: {BAD / name} would be passed over\n  = help: rename it to environment" in result.stderr
        assert result.exit_code == 1
    assert "rename it to environment.yaml" in run("build", BAD / name).stderr
    assert manifests() == built


def test_an_environment_of_conda_is_nothing_to_us() -> None:
    Path("environments/conda").mkdir()
    Path("environments/conda/environment.yml").write_text("name: tf\ndependencies: [python]\n", encoding="utf-8")
    assert run("build").exit_code == 0


def test_a_folder_that_cannot_be_read_is_not_passed_over(built: list[str]) -> None:
    BAD.chmod(0)
    told(run("build"), BAD, "Permission denied")
    told(run("build", BAD), BAD / "environment.yaml", "Permission denied")
    told(run("explain", BAD), BAD / "environment.yaml", "Permission denied")
    BAD.chmod(0o755)
    assert manifests() == built


@pytest.mark.parametrize("name", ["manifests", "manifests/workloads", "manifests/workloads/job-train.yaml"])
@pytest.mark.parametrize("options", [(), ("--check",)])
def test_manifests_that_cannot_be_read_are_told_by_their_path(name: str, options: tuple[str, ...]) -> None:
    (BAD / name).chmod(0)
    result = run("build", *options)
    told(result, BAD / name, "Permission denied")
    assert f"{GOOD}: 2 jobs" in result.stdout


def test_a_pipe_among_the_manifests_is_foreign_and_not_waited_for() -> None:
    os.mkfifo(BAD / "manifests" / "pipe.yaml")
    assert f"foreign  {BAD}/manifests/pipe.yaml" in run("build", "--check").stdout


def test_a_folder_that_cannot_be_written_is_told_by_the_files_own_name() -> None:
    (BAD / "manifests" / "workloads").chmod(0o555)
    (BAD / "jobs" / "train.yaml").write_text("image: tf\nworker: 2\n", encoding="utf-8")
    result = run("build")
    message = f"error[TF602]: {BAD}/manifests/workloads/job-train.yaml cannot be written: Permission denied"
    assert message in result.stderr


# --- the files of the root ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("damage", [locked, dangling, looping, pipe])
def test_settings_that_cannot_be_read_are_not_taken_for_none(damage: Damage) -> None:
    """They may name a policy, and that would be silently off."""
    damage(Path("pyproject.toml"))
    for command in ("build", "validate", "schema", "plugins list", "--version"):
        told(run(*command.split()), "pyproject.toml", WHY[damage])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tool = 3 # tfgitops\n", "must be a table"),
        ("tool.tfgitops = 3\n", "must be a table"),
        (f"tfgitops = {'[' * 9999}\n", "not TOML"),
        ("[tool.tfgitops\n", "not TOML"),
    ],
)
def test_settings_of_another_form_are_told(text: str, message: str) -> None:
    """Far above the environment, too, where they make the root."""
    Path("pyproject.toml").write_text(text, encoding="utf-8")
    result = run("validate", "environments")
    assert (result.exit_code, "error[TF101]: pyproject.toml: " in result.stderr) == (1, True)
    assert message in result.stderr


@pytest.mark.parametrize("damage", [locked, dangling, looping, pipe])
def test_a_plugin_that_cannot_be_read_is_told(damage: Damage) -> None:
    Path("pyproject.toml").write_text('[tool.tfgitops]\nplugins = ["cost.py"]\n', encoding="utf-8")
    Path("cost.py").write_text("tfgitops_api = 1\n", encoding="utf-8")
    assert run("lock").exit_code == 0
    shutil.rmtree("__pycache__", ignore_errors=True)  # else Python would take the plugin from its bytecode
    damage(Path("cost.py"))
    assert "plugin 'cost' cannot be read" in run("build", "--locked").stderr
    result = run("validate", GOOD)
    assert "Traceback" not in result.stderr
    assert f"(cost.py) cannot be {'imported' if damage is locked else f'read: {WHY[damage]}'}" in result.stderr


@pytest.mark.parametrize("damage", [locked, dangling, looping, pipe])
def test_a_lock_that_cannot_be_read_is_told(damage: Damage) -> None:
    assert run("lock").exit_code == 0
    damage(Path("tfgitops.lock"))
    assert f"error[TF603]: tfgitops.lock cannot be read: {WHY[damage]}" in run("build").stderr


def test_a_lock_of_another_form_is_told() -> None:
    Path("tfgitops.lock").write_text("tfgitops = 1\n", encoding="utf-8")
    assert "error[TF603]: tfgitops.lock gives tfgitops no version in quotes" in run("build").stderr


def test_a_lock_that_cannot_be_written_is_told() -> None:
    Path().chmod(0o555)
    result = run("lock")
    Path().chmod(0o755)
    assert "error[TF602]: tfgitops.lock cannot be written: Permission denied" in result.stderr


# --- what a spec extends -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("damage", [locked, dangling, looping, pipe])
def test_what_is_extended_and_cannot_be_read_is_told(damage: Damage, built: list[str]) -> None:
    base = Path("environments/base.yaml")
    base.write_text("{}\n", encoding="utf-8")
    damage(base)
    with (BAD / "environment.yaml").open("a", encoding="utf-8") as spec:
        spec.write("extends: ../base.yaml\n")
    result = run("build")
    assert "base.yaml" in result.stderr
    assert f"cannot be read: {WHY[damage]}" in result.stderr
    assert (result.exit_code, manifests()) == (1, built)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("https://example.com/base.yaml", "'extends' names a file of this repository, and no URL"),
        ('"a\\0b"', "no file has such a name"),
        ("a" * 5000, "cannot be read: File name too long"),
    ],
)
def test_names_that_no_file_has_are_told(target: str, message: str) -> None:
    with (BAD / "environment.yaml").open("a", encoding="utf-8") as spec:
        spec.write(f"extends: {target}\n")
    result = run("validate", BAD)
    assert message in result.stderr
    assert (result.exit_code, len(result.stderr) < 8000) == (1, True)


def test_a_path_that_is_too_long_is_told() -> None:
    result = run("validate", "a" * 5000)
    assert "cannot be read: File name too long" in result.stderr
    assert result.exit_code == 1


@pytest.mark.parametrize("format_", ["text", "json", "sarif", "github"])
def test_a_working_directory_that_is_gone_is_told(format_: str) -> None:
    Path("gone").mkdir()
    line = f'rmdir ../gone; exec "{PROGRAM}" validate --format {format_}'
    result = subprocess.run(["/bin/sh", "-c", line], cwd="gone", capture_output=True, text=True, check=False)
    assert "the working directory is not there any more" in result.stderr
    assert (result.returncode, "Traceback" in result.stderr) == (1, False)
