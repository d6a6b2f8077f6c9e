"""Our shapes are those of Volcano's CRDs, where these are at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import crds
import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.skipif(bool(crds.missing(crds.folder())), reason="Volcano's CRDs are not at hand: see VOLCANO_CRDS")
def test_nothing_differs_from_the_crds() -> None:
    assert crds.compare(crds.folder()) == []


def test_a_difference_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    crd = "spec: {versions: [{schema: {openAPIV3Schema: {type: object, properties: {spec: {type: array}, new: {}}}}}]}"
    for file in crds.FILES.values():
        (tmp_path / file).write_text(crd)
    assert crds.main([str(tmp_path)]) == 1
    shown = capsys.readouterr().out
    assert "Job.spec: kind is array, ours object" in shown
    assert "Queue.new: only one has it" in shown


def test_without_the_crds_it_says_what_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VOLCANO_CRDS", str(tmp_path))
    (tmp_path / crds.FILES["Job"]).write_text("")
    assert crds.main([]) == 2
    shown = capsys.readouterr().err
    assert f"no {crds.FILES['Queue']} in {tmp_path}: name the folder of Volcano's CRDs by VOLCANO_CRDS" in shown
