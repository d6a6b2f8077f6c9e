"""A command finds the environment around the working directory, or says what to type; a shell completes names."""

from __future__ import annotations

from pathlib import Path

import pytest
from commandline import run
from repository import Repository
from typer.testing import CliRunner
from workspace import HEAD, MANIFEST, PROD, TRAIN, put

from tfgitops.cli import app

COMMANDS = [("build",), ("validate",), ("images",), ("build", "--check")]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("inside", [PROD, PROD / "jobs", PROD / "manifests/workloads", PROD.parent])
def test_inside_an_environment_a_command_is_about_it(
    command: tuple[str, ...], inside: Path, built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside.mkdir(exist_ok=True)
    monkeypatch.chdir(inside)
    result = run(*command)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout


def test_a_review_is_about_the_environment_around_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    repository = Repository(tmp_path)
    repository.base(("tf:2.21", "tf:2.22"))
    monkeypatch.chdir(tmp_path / PROD)
    result = run("review", "--against", "main")
    assert (result.exit_code, "bert" in result.stdout) == (0, True)


@pytest.mark.parametrize(
    ("words", "exit_code", "told"),
    [
        (("explain", "train"), 1, "write .. for the environment around you"),
        (("pin", "train"), 2, "Missing argument 'JOB...'"),
        (("pin", "train", "other"), 1, "write .. for the environment around you"),
    ],
)
def test_where_an_environment_must_be_named_the_error_says_how(
    words: tuple[str, ...], exit_code: int, told: str, built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(PROD / "manifests")
    result = run(*words)
    assert (result.exit_code, told in " ".join(result.stderr.replace("│", "").split())) == (exit_code, True), (
        result.stderr
    )


def test_outside_of_all_environments_nothing_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    result = run("build")
    assert (result.exit_code, "environments is not there" in result.stderr) == (1, True)
    assert not (tmp_path / MANIFEST).exists()


def test_a_repository_inside_an_environment_is_not_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    (PROD / "vendored/.git").mkdir(parents=True)
    monkeypatch.chdir(PROD / "vendored")
    assert "no environment is below ." in run("build").stderr


def test_several_roots_are_listed_each_with_what_it_is() -> None:
    put("second/environments/dev/environment.yaml", HEAD + TRAIN)
    Path("second/.git").mkdir()
    put("third/environments/a/environment.yaml", HEAD + TRAIN)
    put("third/environments/b/environment.yaml", HEAD + TRAIN)
    put("third/pyproject.toml", "[tool.tfgitops]\n")
    Path("pyproject.toml").unlink()
    result = run("build", "environments", "second/environments", "third/environments")
    assert result.exit_code == 1
    lines = [line for line in result.stderr.splitlines() if "root" in line or "found" in line]
    assert [line.partition("one root: ")[2] for line in lines[::3]] == [
        "., the folder of its settings or environments", "second, a repository of Git",
        "third, the folder of its settings or environments",
    ]  # fmt: skip
    assert [line.partition("found: ")[2] for line in lines[1::3]] == [
        "environments/prod", "second/environments/dev", "third/environments/a, third/environments/b",
    ]  # fmt: skip


def offered(*words: str) -> list[str]:
    """Return what a shell offers for the last of some words."""
    environment = {
        "_TFGITOPS_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(["tfgitops", *words]),
        "COMP_CWORD": str(len(words)),
    }  # fmt: skip
    result = CliRunner().invoke(app, [], env=environment, prog_name="tfgitops")
    assert result.stderr == ""
    return str(result.stdout).split()


def test_the_shell_offers_jobs_and_refs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Repository(tmp_path)
    env = str(PROD)
    assert offered("pin", "env") == [env]
    everything = offered("pin", env, "")
    assert "bert" in everything
    assert offered("pin", env, "be") == ["bert"]
    assert offered("unpin", env, "") == []
    assert run("pin", env, "bert").exit_code == 0
    assert offered("unpin", env, "") == ["bert"]
    assert "bert" not in offered("pin", env, "")
    assert offered("build", "--restart", "") == everything
    assert offered("build", env, "--restart", "prod/be") == ["prod/bert"]
    assert offered("review", "--against", "") == ["change", "main"]
    assert offered("review", "--against", "m") == ["main"]


@pytest.mark.parametrize("words", [("pin", "nowhere", ""), ("review", "--against", "")])
def test_where_there_is_nothing_the_shell_is_silent(words: tuple[str, ...]) -> None:
    assert offered(*words) == []
