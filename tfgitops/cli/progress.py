"""A line that tells what a long command does: on a terminal, after two seconds, and gone before anything is shown."""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfgitops.compiler.session import Session

_PATIENCE, _PERIOD = 2.0, 0.5  # seconds
_ERASE = "\r\x1b[K"


@contextmanager
def progress(session: Session, doing: Callable[[], str]) -> Iterator[None]:
    """Show what is done in the body, if it takes long; the body itself shows nothing.

    A timer writes the line, since a single environment can take long, and a thread would keep the compiler from
    forking. Who debugs plugins, without a time limit or with a trace, has the terminal to themselves.
    """
    debugs = session.plugins.traced or not session.plugins.seconds
    if debugs or not is_shown() or signal.getsignal(signal.SIGALRM) is not signal.SIG_DFL:
        yield
        return
    start, terminal = time.monotonic(), sys.stderr.fileno()

    def show(*_: object) -> None:
        width = os.get_terminal_size(terminal).columns - 1
        line = f"{doing()}, {time.monotonic() - start:.0f} s"[:width]
        os.write(terminal, (_ERASE + line).encode())  # past the buffer of the stream, in which the timer may strike

    signal.signal(signal.SIGALRM, show)
    signal.setitimer(signal.ITIMER_REAL, _PATIENCE, _PERIOD)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        erase()


def is_shown() -> bool:
    """Tell whether standard error is a terminal that can erase a line, and no log of a CI."""
    capable = hasattr(signal, "setitimer") and os.environ.get("TERM", "dumb") != "dumb"
    return capable and not os.environ.get("CI") and sys.stderr.isatty()


def erase() -> None:
    """Erase the line, for something that is to be shown."""
    if is_shown():
        os.write(sys.stderr.fileno(), _ERASE.encode())
