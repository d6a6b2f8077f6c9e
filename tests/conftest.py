"""What the tests share beside `tfgitops.testing`: golden files, the wheel, and a Git repository."""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
from typing import TYPE_CHECKING

import pytest
import yaml
from installed import build_wheel
from repository import Repository

from tfgitops.targets import secrets
from tfgitops.testing import Bench

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tfgitops import Plugins

os.environ["TFGITOPS_NO_CACHE"] = "1"  # no test leaves anything in the user's folder, nor finds anything there

collect_ignore = ["plugins/external"]
"""Packages of their own, whose tests `test_outsiders.py` runs where they are installed."""

LONGEST = (
    "test_outsiders.py", "test_provenance.py", "test_contract.py", "test_every_key.py", "test_plugins_commands.py",
    "test_linear.py", "test_testing.py", "test_forms.py", "test_yamltext.py", "test_updates.py", "test_explain.py",
    "test_plugins_readme.py", "test_deterministic.py", "test_codes.py", "test_streams.py", "test_law.py",
)  # fmt: skip
"""The files that take longest come first, so that no worker is left with one at the end."""


def pytest_addoption(parser: pytest.Parser) -> None:
    told = "write golden files anew instead of comparing with them, as --tfgitops-refresh does"
    parser.addoption("--refresh", action="store_true", dest="tfgitops_refresh", help=told)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def plugins(tfgitops_plugins: Plugins) -> Plugins:
    return tfgitops_plugins


@pytest.fixture
def compile_spec(tmp_path: Path, plugins: Plugins, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Compile the text of an environment; its manifests are read as a YAML 1.1 reader would."""
    bench = Bench(tmp_path, plugins, yaml.safe_load)
    bench.folder.mkdir(parents=True)
    monkeypatch.chdir(bench.folder)
    return bench


@pytest.fixture(autouse=True)
def _no_remembered_secrets() -> None:
    """Forget the secrets of other tests, which would be hidden in this one, too."""
    secrets._remembered.clear()


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, Path], None]:
    """Compare a text with a golden file, or write the file anew with ``--refresh``."""

    def compare(text: str, path: Path) -> None:
        if request.config.getoption("tfgitops_refresh"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"{path} is missing; write it with --refresh, and read it"
        assert text == path.read_text(encoding="utf-8")

    return compare


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    place = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.name, len(place)))


def pytest_collection_finish() -> None:
    """Keep the garbage collector from going through all tests and modules again and again, a tenth of the time."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture(scope="session")
def first_repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the repository that each test is given a copy of: ten calls of Git and a build."""
    top = tmp_path_factory.mktemp("repository")
    with contextlib.chdir(top):
        Repository(top).git("gc", "--quiet")  # a pack is copied sooner than its objects
    return top


@pytest.fixture
def repository(first_repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Return a Git repository with one environment, and go there."""
    shutil.copytree(first_repository, tmp_path, symlinks=True, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return Repository.of(tmp_path)
