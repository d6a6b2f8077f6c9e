"""plugins/README.md is under test: each hook has its block, and the ten-minute plugin works."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING

import pytest
from conftest import REPOSITORY

from tfgitops import compile_environment, discover, hookspecs
from tfgitops.project import read_project
from tfgitops.testing import Result

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PAGE = (REPOSITORY / "plugins" / "README.md").read_text(encoding="utf-8")
HOOKS = [hook for name, hook in vars(hookspecs).items() if name.startswith("tfgitops_")]


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook.__name__)
def test_each_hook_has_its_block_with_its_exact_arguments(hook: Callable[..., object]) -> None:
    signature = f"{hook.__name__}({', '.join(inspect.signature(hook).parameters)})"
    assert f"### `{signature}`" in PAGE


def _block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture
def compile_with_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Result]:
    def compile_text(job: str) -> Result:
        (tmp_path / "plugins").mkdir()
        (tmp_path / "plugins" / "owner.py").write_text(_block("python"), encoding="utf-8")
        (tmp_path / "pyproject.toml").write_text(_block("toml"), encoding="utf-8")
        folder = tmp_path / "environments" / "test"
        folder.mkdir(parents=True)
        head = "apiVersion: tfgitops/v1alpha1\nkind: Environment\nnamespace: ml\n"
        (folder / "environment.yaml").write_text(f"{head}jobs:\n  train: {job}\n", encoding="utf-8")
        monkeypatch.chdir(tmp_path)
        project = read_project(tmp_path)
        return Result(compile_environment(folder, discover(project), project))

    return compile_text


def test_the_ten_minute_plugin_labels_jobs_and_pods(compile_with_owner: Callable[[str], Result]) -> None:
    result = compile_with_owner("{image: a, worker: 1, owner: ana}")
    assert result.job()["metadata"]["labels"]["example.com/owner"] == "ana"
    assert result.task("worker")["template"]["metadata"]["labels"]["example.com/owner"] == "ana"


def test_the_ten_minute_plugin_requires_an_owner(compile_with_owner: Callable[[str], Result]) -> None:
    assert compile_with_owner("{image: a, worker: 1}").codes == ["OWNER01"]


def test_a_typing_mistake_in_its_key_is_answered(compile_with_owner: Callable[[str], Result]) -> None:
    assert "did you mean 'owner'?" in compile_with_owner("{image: a, worker: 1, ownr: ana}").text
