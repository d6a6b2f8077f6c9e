"""Each test of the command line works in a root of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from commandline import run
from workspace import HEAD, PROD, TRAIN, TWO, put

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a root with one environment, which has one job."""
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    put("pyproject.toml", "[tool.tfgitops]\n")
    put(PROD / "environment.yaml", HEAD + TRAIN)
    return tmp_path


@pytest.fixture
def built(root: Path) -> Path:
    """Build two jobs, so that one can be taken away."""
    put(PROD / "environment.yaml", HEAD + TWO)
    assert run("build").exit_code == 0
    return root
