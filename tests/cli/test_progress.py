"""The line of progress is on a terminal alone, comes late, and is gone at the end."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

pty = pytest.importorskip("pty")

from tfgitops.cli import progress as module  # noqa: E402 - a system without terminals has no such line
from tfgitops.cli.progress import progress  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

SESSION: Any = SimpleNamespace(plugins=SimpleNamespace(traced=False, seconds=10.0))


@contextmanager
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Make standard error a terminal, and yield the end from which it is read; pytest would undo a fixture's."""
    end, inner = pty.openpty()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("CI", raising=False)
    with os.fdopen(inner, "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setattr("os.get_terminal_size", lambda _: os.terminal_size((40, 24)))
        yield end
    os.close(end)


def test_the_line_is_shown_and_erased(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(module, "_PATIENCE", 0.01)

    def doing() -> str:
        shown.append("compiling " + "x" * 60)
        return shown[-1]

    with terminal(monkeypatch) as end:
        with progress(SESSION, doing):
            while not shown:
                signal.sigtimedwait((), 0.1)
        told, expected = b"", f"\r\x1b[K{shown[0][:39]}\r\x1b[K"
        while len(told) < len(expected):
            told += os.read(end, 4096)
        assert told.decode() == expected
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_a_quick_command_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PATIENCE", 100)
    with terminal(monkeypatch) as end:
        with progress(SESSION, lambda: pytest.fail("it was not long")):
            pass
        assert os.read(end, 4096) == b"\r\x1b[K"


@pytest.mark.parametrize(("name", "value"), [("TERM", "dumb"), ("CI", "true")])
def test_a_dumb_terminal_and_a_ci_have_no_line(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    with terminal(monkeypatch):
        assert module.is_shown()
        monkeypatch.setenv(name, value)
        with progress(SESSION, str):
            assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL


def test_a_pipe_has_no_line(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("TERM", "xterm")
    with progress(SESSION, str):
        assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("plugins", [{"traced": True, "seconds": 10.0}, {"traced": False, "seconds": 0.0}])
def test_who_debugs_a_plugin_has_the_terminal_alone(monkeypatch: pytest.MonkeyPatch, plugins: dict[str, Any]) -> None:
    session: Any = SimpleNamespace(plugins=SimpleNamespace(**plugins))
    with terminal(monkeypatch), progress(session, str):
        assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
