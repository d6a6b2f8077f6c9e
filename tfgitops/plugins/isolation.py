"""One call of a plugin: with a time limit, an output that is not ours, and a working directory that stays."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
import time
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING

from tfgitops.plugins.faults import MovedError, OutOfTimeError
from tfgitops.plugins.plain import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_AGAIN = 0.5
"""Seconds until the limit raises again, where Python dropped the first exception, as it does in a ``__del__``."""


@contextmanager
def isolated(plugin: str, seconds: float) -> Iterator[None]:
    """Run code of a plugin in the body.

    Raises:
        OutOfTimeError: the body took longer than so many seconds.
        MovedError: the body changed the working directory, which is restored.
    """
    aside, before = Aside(plugin), _working_directory()
    try:
        with redirect_stdout(aside), time_limit(seconds), _no_exit():
            yield
    finally:
        aside.end_line()
        after = _working_directory()
        if before and after != before:
            os.chdir(before)
    if before and after != before:
        raise MovedError(f"changed the working directory to {after}")


@contextmanager
def _no_exit() -> Iterator[None]:
    """Raise SystemExit where the body would end this process at once: no test would fail, and nothing be written."""
    process = os.getpid()
    real = {name: getattr(os, name) for name in ("_exit", "execv", "execve")}

    def refused(name: str) -> Callable[..., object]:
        def call(*arguments: object) -> object:
            if os.getpid() != process:  # a child may
                return real[name](*arguments)
            raise SystemExit(f"os.{name} would end the compiler")

        return call

    vars(os).update({name: refused(name) for name in real})
    try:
        yield
    finally:
        vars(os).update(real)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `OutOfTimeError` in the body after some seconds; 0 is without end.

    Only Unix has the timer, and only the main thread gets its signal: elsewhere there is no limit. A timer that was
    running before, as test runners have one, runs on afterwards.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not (seconds and hasattr(signal, "setitimer") and in_main_thread):
        yield
        return
    running = True

    def ring(*_: object) -> None:
        if running:
            raise OutOfTimeError

    handler, start = signal.signal(signal.SIGALRM, ring), time.monotonic()
    delay, interval = signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
    try:
        yield
    finally:
        running = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler or signal.SIG_DFL)
        if delay:
            signal.setitimer(signal.ITIMER_REAL, max(delay - (time.monotonic() - start), 1e-6), interval)


class Aside(io.TextIOBase):
    """The standard output of a plugin: standard error, the plugin's name before each line. Ours is for manifests."""

    def __init__(self, plugin: str) -> None:
        self._head = f"plugin '{plugin}': "
        self._within = False

    def write(self, text: str, /) -> int:
        """Pass text on at once, so that a debugger's prompt is seen."""
        for number, line in enumerate(text.split("\n")):
            if number:
                sys.stderr.write("\n")
                self._within = False
            if line:
                sys.stderr.write(("" if self._within else self._head) + printable(line))
                self._within = True
        return len(text)

    def end_line(self) -> None:
        """End the last line, if the plugin did not."""
        if self._within:
            self.write("\n")

    def flush(self) -> None:
        """Pass on what standard error still holds."""
        sys.stderr.flush()


def _working_directory() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 - a text, as it is compared
    except OSError:  # it was removed under us
        return ""
