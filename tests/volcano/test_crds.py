"""Our shapes are those of Volcano's CRDs, where these are at hand."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "conformance"))

import crds

CRDS = Path(os.environ.get("VOLCANO_CRDS", Path(__file__).parents[3] / "shared" / "oracle" / "crds"))


@pytest.mark.skipif(not CRDS.is_dir(), reason="VOLCANO_CRDS names no folder")
def test_nothing_differs_from_the_crds() -> None:
    assert crds.compare(CRDS) == []


def test_a_difference_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    crd = "spec: {versions: [{schema: {openAPIV3Schema: {type: object, properties: {spec: {type: array}, new: {}}}}}]}"
    for file in crds.FILES.values():
        (tmp_path / file).write_text(crd)
    assert crds.main([str(tmp_path)]) == 1
    shown = capsys.readouterr().out
    assert "Job.spec: kind is array, ours object" in shown
    assert "Queue.new: only one has it" in shown


def test_without_a_folder_it_says_what_it_needs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("VOLCANO_CRDS", raising=False)
    assert crds.main([]) == 2
    assert "VOLCANO_CRDS" in capsys.readouterr().err
