"""A run of `python -m conformance.pods`, from the root of the repository. Without root or `unshare` it is skipped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from pods import isolation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-m", "conformance.pods")
DEADLINE = 60.0


def test_help_says_how_to_start_it() -> None:
    told = subprocess.run([*COMMAND, "--help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert told.startswith("usage: python -m conformance.pods ")
    assert "In the root of a clone: python -m conformance.pods MANIFEST" in " ".join(told.split())


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder for temporary files of a run."""
    if why := isolation.obstacle():
        pytest.skip(why)
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def manifest(folder: Path, script: str, **pod: Any) -> Path:
    """Write a Job whose one pod runs a shell script."""
    container = {"name": "c", "command": ["sh", "-c", script]}
    spec: dict[str, Any] = {"restartPolicy": "Never", "containers": [container], **pod}
    ended = {"event": "TaskCompleted", "action": "CompleteJob"}
    task = {"name": "worker", "replicas": 1, "policies": [ended], "template": {"spec": spec}}
    job = {"kind": "Job", "metadata": {"name": "train-1"}, "spec": {"tasks": [task]}}
    path = folder / "job-train.yaml"
    path.write_text(json.dumps(job), encoding="utf-8")
    return path


def test_a_pod_that_cannot_be_set_up(tmp_path: Path, temporary: Path) -> None:
    mount = {"name": "scratch", "mountPath": "/etc/hosts/folder"}
    container = {"name": "c", "command": ["true"], "volumeMounts": [mount]}
    path = manifest(tmp_path, "", containers=[container], volumes=[{"name": "scratch", "emptyDir": {}}])
    run = subprocess.run([*COMMAND, str(path)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr.count("\n")) == (2, 1)
    assert run.stderr.startswith("pods: worker-0 cannot be set up: mkdir: ")
    assert not list(temporary.iterdir())


def until(true: Callable[[], bool]) -> None:
    """Wait until something is true."""
    deadline = time.monotonic() + DEADLINE
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def commands(word: str) -> Iterator[str]:
    """Yield the command lines of all processes that have a word in them."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if word in line:
            yield line


@pytest.mark.parametrize("to_all", [False, True], ids=["kill", "terminal"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_all(tmp_path: Path, temporary: Path, number: signal.Signals, code: int, to_all: bool) -> None:
    """A terminal sends Ctrl-C to the whole process group, and `kill` sends a signal to the first process alone."""
    mark = f"mark-{uuid4().hex}"
    path = manifest(tmp_path, f"trap '' TERM INT; echo ready; while :; do sleep 1; done # {mark}")
    with subprocess.Popen(
        [*COMMAND, str(path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as run:
        until(lambda: any("ready" in log.read_text() for log in temporary.glob("pods-*/worker-0.*.log")))
        assert any(commands(mark))
        (os.killpg if to_all else os.kill)(run.pid, number)
        said = run.communicate(timeout=DEADLINE)[1]
    assert (run.returncode, said) == (code, f"stopped by {number.name}\n")
    assert not list(temporary.iterdir())
    until(lambda: not any(commands(mark)))


def test_no_process_stays_after_sigkill(tmp_path: Path, temporary: Path) -> None:
    mark = f"mark-{uuid4().hex}"
    path = manifest(tmp_path, f"echo ready; while :; do sleep 1; done # {mark}")
    with subprocess.Popen([*COMMAND, str(path)], cwd=ROOT, stdout=subprocess.DEVNULL) as run:
        until(lambda: any("ready" in log.read_text() for log in temporary.glob("pods-*/worker-0.*.log")))
        run.kill()
    until(lambda: not any(commands(mark)))
