"""What all tests of reviews and of the guard start from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from repository import Repository

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    monkeypatch.chdir(tmp_path)
    return Repository(tmp_path)
