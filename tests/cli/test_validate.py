"""`tfgitops validate`: every check, and nothing written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commandline import run
from workspace import HEAD, PROD, edit, put, tree

if TYPE_CHECKING:
    from pathlib import Path


def test_validate_makes_every_check_and_writes_nothing() -> None:
    put("environments/dev/environment.yaml", HEAD + "jobs:\n  train: {image: tf, queue: nowhere, worker: 2}\n")
    before = tree()
    result = run("validate")
    assert result.exit_code == 1
    assert "error[QUEUE01]" in result.stderr
    assert result.stdout == "environments/dev: not valid\nenvironments/prod: valid\n"
    assert tree() == before
    assert run("validate", PROD).exit_code == 0
    assert run("validate", PROD, "-q").output == ""


def test_validate_does_not_mind_stale_manifests(built: Path) -> None:
    edit(PROD / "environment.yaml", "worker: 2", "worker: 3")
    assert run("validate").exit_code == 0
