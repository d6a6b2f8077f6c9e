"""A root inside of another root is refused: it would leave out the outer one's settings, plugins and policies."""

from __future__ import annotations

from pathlib import Path

import pytest
from commandline import run
from workspace import HEAD, PROD, TRAIN, put

TABLE = "[tool.tfgitops]\n"
COMMANDS = ("validate", "build", "build --check", "review", "images", "explain environments/prod train spec.queue")


@pytest.fixture(autouse=True)
def _sworn() -> None:
    """Give the root a setting that stops each build."""
    put("pyproject.toml", '[tool.tfgitops]\nplugins = ["never.py"]\n')
    put("never.py", "raise RuntimeError('the plugin of the root')\n")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("place", ["environments", "environments/prod", "teams/a/environments", "teams"])
@pytest.mark.parametrize("git", [True, False])
def test_a_nested_pyproject_moves_no_root(place: str, command: str, git: bool) -> None:
    if place.startswith("teams"):
        Path("teams/a").mkdir(parents=True)
        Path("environments").rename("teams/a/environments")
        command = command.replace("environments/prod", "teams/a/environments/prod")
        command += " teams/a/environments" if " environments" not in command and "explain" not in command else ""
    if git:
        Path(".git").mkdir()
    put(f"{place}/pyproject.toml", TABLE)
    result = run(*command.split())
    assert result.exit_code == 1
    assert f"{place} is a root inside of the root ." in result.stderr, result.output
    assert not [*Path().rglob("manifests")]


@pytest.mark.parametrize("outer", ["pyproject.toml", "tfgitops.lock"])
def test_a_submodule_moves_no_root(outer: str) -> None:
    put(PROD / ".git", "gitdir: ../../.git/modules/prod\n")
    Path(".git").mkdir()
    if outer == "tfgitops.lock":
        Path("pyproject.toml").unlink()
        put("tfgitops.lock", "")
    result = run("build")
    assert result.exit_code == 1
    assert "environments/prod is a root inside of the root ." in result.stderr


@pytest.mark.parametrize("git", ["gitdir: /elsewhere/.git/worktrees/x\n", ""])
def test_a_worktree_or_a_clone_is_a_checkout_of_its_own(git: str) -> None:
    put("inner/environments/dev/environment.yaml", HEAD + TRAIN)
    put("inner/.git", git) if git else Path("inner/.git").mkdir()
    assert run("validate", "inner/environments").exit_code == 0
    put("inner/pyproject.toml", TABLE)
    assert run("validate", "inner/environments").exit_code == 0


def test_other_files_of_these_names_are_no_roots() -> None:
    put(PROD / "pyproject.toml", "[project]\nname = 'my-tfgitops-model'\n")
    assert "the plugin of the root" in run("validate").stderr
