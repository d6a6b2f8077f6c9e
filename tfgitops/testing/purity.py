"""Watch a plugin at work: a hook must be pure, and changes nothing that it is given."""

from __future__ import annotations

import functools
import gc
import inspect
import os
import sys
import tempfile
import time
from contextlib import chdir, contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from tfgitops.plugins.answers import is_iterable_of_answers
from tfgitops.plugins.faults import file_of
from tfgitops.plugins.hookspecs import HOOKS
from tfgitops.plugins.plain import brief

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from tfgitops.plugins.door import Plugin

_AT_THE_START = ("tfgitops_schema", "tfgitops_accelerators")
"""Asked once, without arguments; a plugin may read its own package's schema here."""

_CLOCKS = frozenset({"time", "time_ns", "monotonic", "monotonic_ns", "perf_counter"})
_GIVEN_NO_TIME = {"strftime": 2, "localtime": 1, "gmtime": 1, "ctime": 1, "asctime": 1}
"""Functions of `time` that take the clock's time where they are given fewer arguments than this."""

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
"""Modules of Python's own that ask the machine once, and then remember."""

_IMPORTERS = ("importlib._bootstrap", "importlib._bootstrap_external")


class WatchedPlugin:
    """Stands in for a plugin and passes on each call; ``answers`` and ``faults`` grow as it is asked.

    An answer is a pair of a hook and what it yielded, a fault a pair of a rule and a sentence.
    """

    def __init__(self, plugin: Plugin) -> None:
        self.answers: list[tuple[str, Any]] = []
        self.faults: dict[tuple[str, str], None] = {}  # in the order in which they were seen, each once
        self._place = file_of(plugin.hooks).removesuffix("__init__.py")
        hooks = {name: getattr(plugin.hooks, name) for name in dir(plugin.hooks) if not name.startswith("__")}
        watched = {name: self._watched(name, value) for name, value in hooks.items() if name in HOOKS}
        stand_in = ModuleType(plugin.name)
        vars(stand_in).update({**hooks, **watched})
        self.plugin = replace(plugin, hooks=stand_in, bundled=False)

    def _watched(self, hook: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def ask(*arguments: Any) -> Any:
            before = repr(arguments)
            with self._watching(hook):
                first = function(*arguments)
                if first is None or is_iterable_of_answers(first):
                    first = list(first or ())
            if not isinstance(first, list):
                return first  # the compiler says what is wrong with it
            with _elsewhere():
                second = list(function(*arguments) or ())
            if repr(arguments) != before:
                self.faults["inputs", f"{hook} changes what it is given"] = None
            if first != second:
                odd = next((one for one in [*first, *second] if one not in second or one not in first), None)
                what = f", such as {brief(odd, 200)}" if odd is not None else " in another order"
                self.faults["pure", f"{hook} answers otherwise when it is asked again{what}"] = None
            self.answers += [(hook, value) for value in first]
            return first

        return ask

    @contextmanager
    def _watching(self, hook: str) -> Iterator[None]:
        """Note what a hook asks of the outside world in the body."""
        seen: set[str] = set()

        def saw(what: str, frame: FrameType) -> None:
            if what and (hook not in _AT_THE_START or what.startswith("the clock")):
                seen.add(what + self._line_of(frame))

        def profile(frame: FrameType, event: str, called: Any) -> None:
            if event == "c_call":
                saw(_asked_of_built_in(frame, called), frame)
            elif event == "call":
                saw(_asked_of_python(frame), frame)

        before, collecting = sys.getprofile(), gc.isenabled()
        with patch.multiple(time, **{name: _clock(name, saw) for name in _GIVEN_NO_TIME}):
            gc.disable()  # what others do at a collection (hypothesis asks the clock) is not the plugin's doing
            sys.setprofile(profile)
            try:
                yield
            finally:
                sys.setprofile(before)
                if collecting:
                    gc.enable()
        self.faults |= dict.fromkeys(("pure", f"{hook} asks {what}") for what in sorted(seen))

    def _line_of(self, frame: FrameType | None) -> str:
        """Name the innermost line of the plugin's file, or of its package's folder, that led to a frame."""
        while frame and self._place:
            name = frame.f_code.co_filename
            if name.startswith(self._place):
                return f" ({Path(name).name}:{frame.f_lineno})"
            frame = frame.f_back
        return ""


def _clock(name: str, saw: Callable[[str, FrameType], None]) -> Any:
    """Return a function of `time` that tells when it is given no time, and so takes the clock's."""
    function, least = getattr(time, name), _GIVEN_NO_TIME[name]

    def ask(*arguments: Any) -> Any:
        if len(arguments) < least:
            saw(f"the clock (time.{name})", sys._getframe(1))  # noqa: SLF001 - the frame that calls
        return function(*arguments)

    return ask


def _asked_of_built_in(frame: FrameType, called: Any) -> str:
    """Say what of the outside world a built-in function gives to the frame that calls it, if it does."""
    module, name = getattr(called, "__module__", None) or "", getattr(called, "__name__", "")
    owner = getattr(called, "__self__", None)
    if name in _CLOCKS and "time" in (module, getattr(owner, "__name__", "")):
        return f"the clock (time.{name})"
    if inspect.isclass(owner) and owner.__module__ == "datetime" and name in _DATES:
        return f"the clock ({owner.__name__}.{name})"
    if name in _READERS.get(module or getattr(owner, "__name__", ""), ()) and not _importing(frame):
        return f"the machine ({name})"
    if type(owner).__module__ in ("socket", "_socket"):
        return f"the network (socket.{name})"
    if owner is not None and owner is getattr(sys.modules.get("random"), "_inst", None):
        return f"for chance (random.{name})"
    return ""


def _asked_of_python(frame: FrameType) -> str:
    """Say what of the outside world a function of Python's own gives to who calls it, if that is no other of these."""
    module, caller = frame.f_globals.get("__name__", ""), frame.f_back
    if module in _ABOUT_THE_MACHINE and caller and not frame.f_code.co_name.startswith("<"):
        by = str(caller.f_globals.get("__name__", "")).partition(".")[0]
        if by not in sys.stdlib_module_names:
            return f"the machine ({module}.{frame.f_code.co_name})"
    return ""


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_globals.get("__name__") in _IMPORTERS:
            return True
        frame = frame.f_back
    return False


@contextmanager
def _elsewhere() -> Iterator[None]:
    """Be in another folder, with another environment."""
    kept = {name: os.environ[name] for name in ("PATH", "COVERAGE_FILE") if name in os.environ}
    with tempfile.TemporaryDirectory() as folder, chdir(folder), patch.dict(os.environ, kept, clear=True):
        yield
