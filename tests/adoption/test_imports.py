"""Whole outputs of `import`, from the sources in ``cases/``: the report, the problems, and the spec."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from commandline import run

if TYPE_CHECKING:
    from collections.abc import Callable

CASES = Path(__file__).parent / "cases"
SOURCES = sorted(path.name for path in CASES.iterdir() if path.suffix in {".yaml", ".json"})


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_becomes_a_spec_or_says_why_not(
    name: str, monkeypatch: pytest.MonkeyPatch, golden: Callable[[str, Path], None]
) -> None:
    monkeypatch.chdir(CASES)
    result = run("import", name, "--no-color")
    assert result.exit_code in {0, 1}, result.output
    assert bool(result.stdout) == (result.exit_code == 0)
    golden(result.stderr + "\n" * bool(result.stdout) + result.stdout, CASES / f"{name}.txt")
