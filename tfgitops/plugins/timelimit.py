"""A limit on how long one call of a plugin may take, kept by a timer of the operating system."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import TYPE_CHECKING, Any, Self

from tfgitops.plugins.faults import OutOfTimeError

if TYPE_CHECKING:
    from types import FrameType

_AGAIN = 0.5
"""Seconds until the next attempt, where what was raised got lost: Python drops it in a ``__del__``, as plugins may."""

_ATTEMPTS = 20


class TimeLimit:
    """A context that raises `OutOfTimeError` in its body after some seconds; 0 is without end.

    There are timers on Unix alone, and their signals reach the main thread alone: elsewhere there is no limit. Whoever
    has a timer of the same kind, as test runners have, gets it back, less the time that has passed. Code that catches
    what it raises again and again ends the program: nothing else is left to do.
    """

    def __init__(self, what: str, seconds: float) -> None:
        self._what = what
        self._seconds = seconds
        self._attempts = 0
        self._armed = False
        self._handler: Any = None
        self._timer = (0.0, 0.0)
        self._start = 0.0

    def __enter__(self) -> Self:
        if self._seconds and hasattr(signal, "setitimer"):
            try:
                self._handler = signal.signal(signal.SIGALRM, self._ring)
            except ValueError:  # this is not the main thread
                return self
            self._armed = True
            self._start = time.monotonic()
            self._timer = signal.setitimer(signal.ITIMER_REAL, self._seconds, _AGAIN)
        return self

    def __exit__(self, *_: object) -> None:
        if not self._armed:
            return
        self._armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL if self._handler is None else self._handler)
        delay, interval = self._timer
        if delay:
            passed = time.monotonic() - self._start
            signal.setitimer(signal.ITIMER_REAL, max(delay - passed, 1e-6), interval)

    def _ring(self, _: int, frame: FrameType | None) -> None:
        """Raise in whatever runs, unless that is this class itself, which must come to its end."""
        if not self._armed or (frame and frame.f_globals is globals()):
            return
        self._attempts += 1
        if self._attempts > _ATTEMPTS:
            sys.stderr.write(f"{self._what} is to end after {self._seconds:g} s, and catches what stops it: all ends\n")
            sys.stderr.flush()
            os._exit(1)
        raise OutOfTimeError
