"""What of the outside world a hook asks: the clock, chance, the machine, the network; seen call by call."""

from __future__ import annotations

import dis
import inspect
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_CLOCKS = frozenset({"time", "time_ns", "monotonic", "monotonic_ns", "perf_counter"})
_GIVEN_NO_TIME = {"strftime": 2, "localtime": 1, "gmtime": 1, "ctime": 1, "asctime": 1}
"""Functions that take the clock's time where they are given less than so many arguments."""

_DATES = frozenset({"now", "today", "utcnow"})
_FILES = frozenset({
    "open", "listdir", "scandir", "stat", "mkdir", "unlink", "rename", "system", "urandom", "getlogin", "getuid",
    "geteuid", "getpid", "getppid", "uname", "getcwd", "times", "getloadavg", "cpu_count",
})  # fmt: skip
_READERS = {
    "io": frozenset({"open", "open_code"}),
    "_io": frozenset({"open", "open_code", "FileIO"}),
    "posix": _FILES,
    "nt": _FILES,
    "pwd": frozenset({"getpwuid", "getpwnam", "getpwall"}),
    "_socket": frozenset({"getaddrinfo", "gethostbyname", "gethostname", "socket"}),
    "_posixsubprocess": frozenset({"fork_exec"}),
}
_ABOUT_THE_MACHINE = frozenset({"getpass", "locale", "platform"})
"""Modules of Python's own that ask it once, and then remember."""

_IMPORTERS = ("importlib._bootstrap", "importlib._bootstrap_external")


def asked_of_built_in(frame: FrameType, called: Any) -> Iterator[str]:
    """Say what of the outside world a built-in function gives to the frame that calls it, if it does."""
    module, name = getattr(called, "__module__", None) or "", getattr(called, "__name__", "")
    owner = getattr(called, "__self__", None)
    of_time = module == "time" or getattr(owner, "__name__", "") == "time"
    if of_time and (name in _CLOCKS or _given(frame) < _GIVEN_NO_TIME.get(name, 0)):
        yield f"the clock (time.{name})"
    elif inspect.isclass(owner) and owner.__module__ == "datetime" and name in _DATES:
        yield f"the clock ({owner.__name__}.{name})"
    elif name in _READERS.get(module or getattr(owner, "__name__", ""), ()) and not _importing(frame):
        yield f"the machine ({name})"
    elif type(owner).__module__ in ("socket", "_socket"):
        yield f"the network (socket.{name})"
    elif owner is not None and owner is getattr(sys.modules.get("random"), "_inst", None):
        yield f"for chance (random.{name})"


def asked_of_python(frame: FrameType) -> Iterator[str]:
    """Say what of the outside world a function of Python's own gives to who calls it, if that is no other of these."""
    module, caller = frame.f_globals.get("__name__", ""), frame.f_back
    if module in _ABOUT_THE_MACHINE and caller and not frame.f_code.co_name.startswith("<"):
        by = str(caller.f_globals.get("__name__", "")).partition(".")[0]
        if by not in sys.stdlib_module_names:
            yield f"the machine ({module}.{frame.f_code.co_name})"


def line_of(frame: FrameType | None, file: str) -> str:
    """Name the innermost line of a plugin's file, or of its package's folder, that led to a frame."""
    while frame is not None and file:
        name = frame.f_code.co_filename
        if name.startswith(file):
            return f" ({Path(name).name}:{frame.f_lineno})"
        frame = frame.f_back
    return ""


def _given(frame: FrameType) -> int:
    """Return how many arguments are given in the call that a frame is at; none where that cannot be told."""
    for instruction in dis.get_instructions(frame.f_code):
        if instruction.offset == frame.f_lasti and instruction.opname in ("CALL", "PRECALL", "CALL_KW"):
            return instruction.arg or 0
    return 0


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_globals.get("__name__") in _IMPORTERS:
            return True
        frame = frame.f_back
    return False
