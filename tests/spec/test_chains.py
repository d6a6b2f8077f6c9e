"""How long a chain of `extends` or `from` may be, and how many unknown keys are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from commandline import run

from tfgitops.spec.bounds import CHAIN

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "apiVersion: tfgitops/v1alpha1\nkind: Environment\n"
JOB = "{image: 'a:1', command: [python, train.py], worker: 2}"


@pytest.mark.parametrize("more", [0, 1])
def test_fifty_jobs_may_start_from_one_another(more: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    links = "".join(f"  j{n}: {{from: j{n - 1}}}\n" for n in range(1, CHAIN + 3 * more))
    _write(tmp_path / "prod/environment.yaml", f"{HEAD}namespace: ml\njobs:\n  j0: {JOB}\n{links}")
    said = run("build", "prod").output
    assert said.count("error[TF106]: more than 50 jobs start from one another") == more
    assert ("= help: let more of them start from the same job\n" in said) == bool(more)
    assert ("prod/environment.yaml:55:15\n" in said) == bool(more)
    assert ("50 jobs, 50 manifests" in said) == (not more)


@pytest.mark.parametrize("more", [0, 1])
def test_fifty_files_may_extend_one_another(more: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = ["prod/environment.yaml", *(f"prod/base-{n}.yaml" for n in range(1, CHAIN + more))]
    for name, after in zip(names, [*names[1:], ""], strict=True):
        _write(tmp_path / name, HEAD + (f"extends: {after.removeprefix('prod/')}\n" if after else ""))
    with (tmp_path / names[0]).open("a") as file:
        file.write(f"namespace: ml\njobs:\n  j0: {JOB}\n")
    said = run("build", "prod").output
    assert said.count("error[TF106]: more than 50 files extend one another") == more
    assert ("join some of these files" in said) == bool(more)


def test_a_hundred_unknown_keys_of_a_map_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    keys = "".join(f"strange{n}: 1\n" for n in range(300))
    _write(tmp_path / "prod/environment.yaml", f"{HEAD}namespace: ml\n{keys}jobs:\n  j0: {JOB}\n")
    assert run("build", "prod").output.count("error[TF201]") == 100


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
