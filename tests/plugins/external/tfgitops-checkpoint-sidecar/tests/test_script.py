"""The script of the ConfigMap, run by a shell with an rclone that only tells what it was asked to do."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from tfgitops_checkpoint_sidecar.sidecar import SCRIPT

if TYPE_CHECKING:
    from pathlib import Path

RCLONE = '#!/bin/sh\necho "$@" >> "$LOG"\nexit "${FAILS:-0}"\n'


@pytest.fixture
def sidecar(tmp_path: Path) -> dict[str, str]:
    """Put the files of a ConfigMap, which wait an hour between two syncs, beside an rclone; return the variables."""
    (tmp_path / "sync.sh").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "sync.env").write_text("EVERY=3600\n", encoding="utf-8")
    (tmp_path / "rclone").write_text(RCLONE, encoding="utf-8")
    (tmp_path / "rclone").chmod(0o755)
    (tmp_path / "runs").mkdir()
    return {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "LOG": str(tmp_path / "log"),
        "SOURCE": str(tmp_path / "runs"),
        "DESTINATION": "store:bucket/run",
    }


def run(folder: Path, variables: dict[str, str], until: str) -> tuple[int, list[str], str]:
    """Run the script until a file below the folder is there, then end it as Kubernetes does."""
    command = ["/bin/sh", str(folder / "sync.sh")]
    with subprocess.Popen(command, env=variables, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 20
        while not (folder / until).exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=20)
    log = folder / "log"
    return process.returncode, log.read_text(encoding="utf-8").splitlines() if log.exists() else [], said


def test_it_syncs_at_once_and_once_more_when_the_training_has_ended(tmp_path: Path, sidecar: dict[str, str]) -> None:
    code, synced, _ = run(tmp_path, sidecar, "log")
    once = f"--config {tmp_path}/rclone.conf --use-json-log sync {tmp_path}/runs store:bucket/run"
    assert (code, synced) == (0, [once, once])


def test_a_folder_that_is_not_there_yet_is_no_failure(tmp_path: Path, sidecar: dict[str, str]) -> None:
    (tmp_path / "runs").rmdir()
    code, synced, _ = run(tmp_path, sidecar, "sync.env")
    assert (code, synced) == (0, [])


def test_a_sync_that_fails_is_tried_again_and_the_last_one_tells(tmp_path: Path, sidecar: dict[str, str]) -> None:
    code, synced, said = run(tmp_path, {**sidecar, "FAILS": "3"}, "log")
    assert (code, len(synced)) == (3, 2)
    assert "the sync failed; the next is in 3600 seconds" in said
