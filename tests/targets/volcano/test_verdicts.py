"""The admission model agrees with every recorded verdict of a real cluster, or says in public where it does not."""

from __future__ import annotations

import gzip
import json
import shutil
from typing import TYPE_CHECKING

import pytest
import verdicts
from builder import cut

from tfgitops.targets.volcano.stricter import STRICTER

if TYPE_CHECKING:
    from pathlib import Path

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


NOTHING = "holds none of create.jsonl, update.jsonl, queue.jsonl, plain or .gz"
BASES = {"bases.json": '{"objects": {"x": {}}, "queueSets": {"none": []}}'}
ALLOWED = '{"id": "c1", "base": "x", "queues": "none", "patch": [], "allowed": true, "rule": null, "at": null}\n'


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, NOTHING),
        (BASES, NOTHING),
        ({"queue.jsonl": ALLOWED}, "holds no bases.json"),
        ({**BASES, "create.jsonl": ALLOWED + "{\n"}, "create.jsonl:2: "),
        ({**BASES, "create.jsonl": cut(ALLOWED, '"x"', '"y"')}, "create.jsonl:1: "),
    ],
)
def test_without_verdicts_it_says_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], files: dict[str, str], said: str
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert verdicts.main([str(tmp_path)]) == 2
    assert said in capsys.readouterr().err


def test_a_folder_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verdicts.main([str(tmp_path / "absent")]) == 2
    assert f"{tmp_path / 'absent'} {NOTHING}" in capsys.readouterr().err


def test_an_unlisted_false_reject_fails_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in {**BASES, "create.jsonl": ALLOWED}.items():
        (tmp_path / name).write_text(text)
    assert verdicts.main([str(tmp_path)]) == 1
    assert "NOT LISTED: c1" in capsys.readouterr().out


@pytest.mark.parametrize("packed", [False, True])
def test_a_false_accept_in_a_folder_with_one_file_fails_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], *, packed: bool
) -> None:
    """A recorded creation that was allowed, said to have been refused: with one file of verdicts, plain or packed."""
    lines = gzip.decompress((verdicts.COMMITTED / "create.jsonl.gz").read_bytes()).decode().splitlines()
    record = next(record for record in map(json.loads, lines) if record["allowed"] and not record["drift"])
    shutil.copy(verdicts.COMMITTED / "bases.json", tmp_path)
    file, write = ("create.jsonl.gz", gzip.compress) if packed else ("create.jsonl", bytes)
    for allowed, status in ((True, 0), (False, 1)):
        text = json.dumps({**record, "allowed": allowed, "rule": None if allowed else "some-rule", "at": "/spec"})
        (tmp_path / file).write_bytes(write(f"{text}\n".encode()))
        assert verdicts.main([str(tmp_path)]) == status
    shown = capsys.readouterr().out
    assert f"NOT LISTED: {record['id']}" in shown
    assert shown.splitlines()[-1] == "1 verdicts: 0 agreed, 1 false accepts, 0 stricter for a listed reason"
