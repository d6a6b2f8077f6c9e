"""A plugin that passes all it is asked on to another, watches that one at work, and keeps what it saw."""

from __future__ import annotations

import functools
import gc
import os
import sys
import tempfile
from contextlib import chdir, contextmanager
from dataclasses import dataclass, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tfgitops.plugins import hookspecs
from tfgitops.plugins.answers import is_iterable_of_answers
from tfgitops.plugins.faults import file_of
from tfgitops.testing.outside import asked_of_built_in, asked_of_python, line_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from tfgitops.plugins.door import Plugin

HOOKS = tuple(name for name in vars(hookspecs) if name.startswith("tfgitops_"))
_AT_THE_START = ("tfgitops_schema", "tfgitops_accelerators")
"""Asked once, without arguments; a plugin may read its own package's schema here."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One thing that a hook answered."""

    hook: str
    value: Any


class Witness:
    """Stands in for a plugin; ``answers`` and ``faults`` grow as it is asked.

    A fault is a pair of a rule and a sentence.
    """

    def __init__(self, plugin: Plugin) -> None:
        self.answers: list[Answer] = []
        self.faults: dict[tuple[str, str], None] = {}  # in the order in which they were seen, each once
        self._file = file_of(plugin.hooks)
        hooks = {name: getattr(plugin.hooks, name) for name in dir(plugin.hooks) if not name.startswith("__")}
        watched = {name: self._watched(name, value) for name, value in hooks.items() if name in HOOKS}
        stand_in = ModuleType(plugin.name)
        vars(stand_in).update({**hooks, **watched})
        self.plugin = replace(plugin, hooks=stand_in, bundled=False)

    def _watched(self, hook: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def ask(*arguments: Any) -> Any:
            before = repr(arguments)
            first = self._once(hook, function, arguments)
            if not isinstance(first, list):
                return first  # the compiler says what is wrong with it
            with _elsewhere():
                second = list(function(*arguments) or ())
            if repr(arguments) != before:
                self._blame("inputs", f"{hook} changes what it is given")
            if first != second:
                odd = next((one for one in [*first, *second] if one not in second or one not in first), None)
                what = f", such as {_shown(odd)}" if odd is not None else " in another order"
                self._blame("pure", f"{hook} answers otherwise when it is asked again{what}")
            self.answers += [Answer(hook=hook, value=value) for value in first]
            return first

        return ask

    def _once(self, hook: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Return all that a hook answers as a list, or what is none as it is."""
        seen: set[str] = set()
        with _profiled(lambda frame, what: seen.update(one + line_of(frame, self._file) for one in what)):
            found = function(*arguments)
            if found is None or is_iterable_of_answers(found):
                found = list(found or ())
        for what in sorted(seen):
            if hook not in _AT_THE_START or what.startswith("the clock"):
                self._blame("pure", f"{hook} asks {what}")
        return found

    def _blame(self, rule: str, message: str) -> None:
        self.faults[rule, message] = None


@contextmanager
def _profiled(saw: Callable[[FrameType, Iterator[str]], object]) -> Iterator[None]:
    """Call ``saw`` at each call of a function, with a frame of it and with what that gives of the outside world."""
    before = sys.getprofile()

    def profile(frame: FrameType, event: str, called: Any) -> None:
        if event == "c_call":
            saw(frame, asked_of_built_in(frame, called))
        elif event == "call":
            saw(frame, asked_of_python(frame))

    collecting = gc.isenabled()
    gc.disable()  # what others do when garbage is collected (hypothesis asks the clock) is not the plugin's doing
    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(before)
        if collecting:
            gc.enable()


@contextmanager
def _elsewhere() -> Iterator[None]:
    """Be in another folder, with another environment."""
    kept = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        os.environ.clear()
        os.environ.update({name: kept[name] for name in ("PATH", "COVERAGE_FILE") if name in kept})
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(kept)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else text[:200] + "…"  # noqa: PLR2004 - one line of a terminal or two
