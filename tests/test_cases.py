"""Whole outputs, from folders of cases: the manifests of good specs, and what the terminal says of bad ones."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from tfgitops.cli import app

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    Golden = Callable[[str, Path], None]

CASES = Path(__file__).parent / "cases"
BAD = sorted((CASES / "bad").iterdir())
OK = sorted((CASES / "ok").iterdir()) if (CASES / "ok").exists() else []


@pytest.mark.parametrize("case", BAD, ids=lambda path: path.name)
def test_bad_spec_explains_itself_and_writes_nothing(
    case: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.tfgitops]\n")
    place = tmp_path / "environments" / case.name
    shutil.copytree(case, place, ignore=shutil.ignore_patterns("expected.txt"))
    before = sorted(place.rglob("*"))
    monkeypatch.chdir(place)
    result = CliRunner().invoke(app, ["build", "."], env={"NO_COLOR": "1"})
    assert result.exit_code == 1, result.output
    assert sorted(place.rglob("*")) == before
    golden(result.output.replace(str(tmp_path), "<root>"), case / "expected.txt")
