"""The admission model agrees with every recorded verdict of a real cluster, or says in public where it does not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tfgitops.volcano.stricter import STRICTER

sys.path.insert(0, str(Path(__file__).parents[2] / "conformance"))

import verdicts

REFUSED = 4539
STRICTER_AT_MOST = 135


@pytest.fixture(scope="module")
def report() -> verdicts.Report:
    return verdicts.run()


def test_every_case_is_there(report: verdicts.Report) -> None:
    assert sum(report.cases.values()) == 7049
    assert report.cases[""] == 7049 - REFUSED


def test_nothing_that_the_cluster_refuses_is_accepted_unless_listed(report: verdicts.Report) -> None:
    assert [rule for rule in report.missed if rule not in verdicts.MISSING] == []
    assert all(rule.startswith("k8s-") for rule in verdicts.MISSING)
    assert report.missed_cases <= REFUSED / 100


def test_whatever_is_refused_beyond_that_has_a_public_reason(report: verdicts.Report) -> None:
    assert [rule for rule in report.stricter if rule not in STRICTER] == []
    assert report.stricter_cases <= STRICTER_AT_MOST


@pytest.mark.parametrize(
    ("what", "share"), [("pruned", 1.0), ("drift", 0.99), ("noop", 0.99), ("at", 0.85), ("rule", 0.6)]
)
def test_place_and_drift_agree(report: verdicts.Report, what: str, share: float) -> None:
    assert report.same[what] >= share * report.asked[what]


def test_the_report_ends_with_the_totals(report: verdicts.Report) -> None:
    *_, last = verdicts.table(report)
    assert last == verdicts.totals(report)
    assert last.startswith("7049 verdicts: ")


def test_a_folder_without_files_has_no_cases(tmp_path: Path) -> None:
    (tmp_path / "bases.json").write_text('{"objects": {}, "queueSets": {}}')
    assert verdicts.main([str(tmp_path)]) == 0


def test_an_unlisted_difference_fails_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bases.json").write_text('{"objects": {"x": {}}, "queueSets": {"none": []}}')
    case = '{"id": "c1", "base": "x", "queues": "none", "patch": [], "allowed": true, "rule": null, "at": null}'
    (tmp_path / "create.jsonl").write_text(case + "\n")
    assert verdicts.main([str(tmp_path)]) == 1
    assert "NOT LISTED: c1" in capsys.readouterr().out
