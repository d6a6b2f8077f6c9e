"""What people get wrong with Volcano and TensorFlow: plays the rows of `field_cases/*.yaml`; `-k q-04` plays a case."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from checkout import REPOSITORY
from field_cases import checks
from field_cases.table import FOLDER, IDS, KINDS, elsewhere, rows

from tfgitops import compile_environment
from tfgitops.report.text import render
from tfgitops.testing.bench import HEAD

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from field_cases.table import Row

    from tfgitops import Plugins
    from tfgitops.spec.diagnostics import Diagnostic
    from tfgitops.testing import Result

ROWS = list(rows())


def test_every_case_is_in_the_table() -> None:
    assert list(dict.fromkeys(row.id for row in ROWS)) == IDS
    assert sorted(path.stem for path in FOLDER.glob("*.yaml")) == sorted(KINDS)
    assert {row.later for row in ROWS} <= {"", "import", "bootstrap", "review"}


@pytest.mark.parametrize(("case", "test"), elsewhere())
def test_a_case_that_no_row_can_show_has_a_test_elsewhere(case: str, test: str) -> None:
    file, _, name = test.partition("::")
    assert f"\ndef {name}(" in (REPOSITORY / "tests" / file).read_text(encoding="utf-8"), case


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_case_is_judged_as_the_table_says(row: Row, compile_spec: Callable[..., Result]) -> None:
    result = compile_spec(row.spec)
    found = result.compiled.diagnostics
    assert codes(found, "error") == sorted(row.errors), result.text
    assert codes(found, "warning") == sorted(row.warnings), result.text
    said = "\n".join(words(diagnostic) for diagnostic in found)
    for name in row.names:
        assert any(choice in said for choice in name.split("|")), f"{name!r} is not in:\n{said}"
    for word in row.shows:
        assert word in result.text
    shift = 0 if "apiVersion:" in row.spec else HEAD.count("\n")
    assert set(row.at) <= {mark(diagnostic, shift) for diagnostic in found}, result.text


@pytest.mark.parametrize("row", [row for row in ROWS if row.check], ids=str)
def test_manifest_holds_what_the_case_asks(row: Row, compile_spec: Callable[..., Result]) -> None:
    results = [compile_spec(spec) for spec in (row.spec, row.after) if spec]
    assert all(result.ok for result in results), results[-1].text
    getattr(checks, row.check)(*results)


def test_utf_16_is_refused(tmp_path: Path, plugins: Plugins) -> None:
    """The other half of yml-08."""
    folder = tmp_path / "environments" / "test"
    folder.mkdir(parents=True)
    (folder / "environment.yaml").write_bytes(f"{HEAD}jobs:\n  train: {{image: tf, worker: 1}}\n".encode("utf-16"))
    compiled = compile_environment(folder, plugins)
    assert codes(compiled.diagnostics, "error") == ["TF102"]
    assert "UTF-16" in render(compiled.diagnostics)


def codes(found: Sequence[Diagnostic], severity: str) -> list[str]:
    """Return the codes of one severity, sorted."""
    return sorted(diagnostic.code for diagnostic in found if diagnostic.severity == severity)


def words(diagnostic: Diagnostic) -> str:
    """Return what a diagnostic says itself, without the line that it shows."""
    notes = (message for message, _ in diagnostic.all_notes)
    return "\n".join((diagnostic.message, diagnostic.found, diagnostic.expected, diagnostic.hint, *notes))


def mark(diagnostic: Diagnostic, shift: int) -> str:
    """Return the line of the row's spec that a diagnostic points at, and the text under its carets."""
    span = diagnostic.span
    assert span
    start = span.column - 1
    return f"{span.line - shift} {span.excerpt[start : start + span.width]}"
