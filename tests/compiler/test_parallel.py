"""What several processes compile is told as if one had compiled it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from tfgitops.compiler.parallel import forks_for, in_parallel

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system has no safe forks")

HEAD = "apiVersion: tfgitops/v1alpha1\nkind: Environment\nnamespace: ml\n"
JOB = "jobs: {train: {image: 'tf:2.21', worker: {replicas: 2, cpu: 1, memory: 1Gi}}}\n"
PRELUDE = """
import signal
import sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell ignores for what it runs in the background
from tfgitops.compiler import parallel, session
forks = int(sys.argv.pop(1))
session._MUCH, parallel.forks_for = 0, lambda count: forks
from tfgitops.__main__ import main
main()
"""
CHATTY = """
import os
import time
from tfgitops import hookimpl
tfgitops_api = 1
@hookimpl
def tfgitops_check_environment(environment):
    print("looked at", environment.name)
    {more}
    return []
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make five environments, of which one is broken and two share a Job."""
    for index, text in enumerate(
        (HEAD + JOB, HEAD + JOB, HEAD + "jobs: {a: {image: tf, wroker: 1}}\n", HEAD + JOB, HEAD + JOB)
    ):
        folder = tmp_path / f"environments/e{index}"
        folder.mkdir(parents=True)
        named = f"cluster: {'shared' if index < 2 else folder.name}\n"
        (folder / "environment.yaml").write_text(text + named, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text("[tool.tfgitops]\nplugins = ['chatty.py']\n", encoding="utf-8")
    (tmp_path / "chatty.py").write_text(CHATTY.format(more="pass"), encoding="utf-8")
    return tmp_path


def told(root: Path, forks: int, *command: str) -> tuple[int, str, str]:
    line = [sys.executable, "-c", PRELUDE, str(forks), *command]
    done = subprocess.run(line, cwd=root, capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("command", ["validate", "build --check", "build --check --format json", "build --stdout"])
def test_forks_change_no_word_no_order_and_no_code(root: Path, command: str) -> None:
    alone = told(root, 0, *command.split())
    assert told(root, 2, *command.split()) == alone
    assert "plugin 'chatty': looked at e0\nplugin 'chatty': looked at e1\n" in alone[2]
    assert "TF404" in alone[1] + alone[2]
    assert alone[0] == 1


def test_an_interrupt_ends_all_processes(root: Path) -> None:
    more = f"open({str(root)!r} + f'/{{os.getpid()}}.pid', 'w').close(); time.sleep(60)"
    (root / "chatty.py").write_text(CHATTY.format(more=more), encoding="utf-8")
    line = [sys.executable, "-c", PRELUDE, "2", "validate"]
    with subprocess.Popen(line, cwd=root, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        while len(started := [*root.glob("*.pid")]) < 3:
            assert process.poll() is None
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert errors.endswith("interrupted while plugin 'chatty' local (chatty.py) was in tfgitops_check_environment; "
                           "what was written is whole\n")  # fmt: skip
    assert "Traceback" not in errors
    for file in started:
        with pytest.raises(ProcessLookupError):
            os.kill(int(file.stem), 0)


def test_results_are_in_order() -> None:
    assert in_parallel(lambda number: number * number, range(20), 2) == [number * number for number in range(20)]


@pytest.mark.parametrize("fate", ["killed", "raises", "not picklable"])
def test_what_a_fork_does_not_finish_is_done_here(fate: str) -> None:
    here = os.getpid()

    def work(number: int) -> Any:
        if os.getpid() != here:
            if fate == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            if fate == "raises":
                raise SystemExit("no more of this")
        else:
            time.sleep(0.01)  # leave something to the forks
        return number if os.getpid() == here else lambda: number

    assert in_parallel(work, range(9), 2) == [*range(9)]


def test_what_fails_here_fails_as_it_would_alone() -> None:
    with pytest.raises(ZeroDivisionError):
        in_parallel(lambda number: 1 // number, [1, 0, 1], 1)


def test_no_fork_is_made_for_one_item_for_one_core_or_beside_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("threading.active_count", lambda: 1)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(4))
    assert [forks_for(count) for count in (1, 2, 100, 20_000)] == [0, 1, 3, 0]
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(64))
    assert forks_for(100) == 7
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(1))
    assert forks_for(100) == 0
    monkeypatch.setattr("threading.active_count", lambda: 2)
    assert forks_for(2) == 0
