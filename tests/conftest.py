"""What the tests share beside `tfgitops.testing`: golden files, the wheel, and a Git repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml
from installed import build_wheel
from repository import Repository

from tfgitops.testing import Bench

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tfgitops import Plugins

collect_ignore = ["plugins/external"]
"""Packages of their own, whose tests `test_outsiders.py` runs where they are installed."""


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


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Return a Git repository with one environment, and go there."""
    monkeypatch.chdir(tmp_path)
    return Repository(tmp_path)
