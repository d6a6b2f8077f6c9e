"""What one call of a plugin runs in: a limited time, a standard output of its own, and a folder that stays the same."""

from __future__ import annotations

import io
import os
import sys
from typing import Self

from tfgitops.plugins.faults import MovedError
from tfgitops.plugins.plain import printable
from tfgitops.plugins.timelimit import TimeLimit


class Isolation:
    """A context in which code of a plugin runs.

    Raises:
        OutOfTimeError: it took longer than so many seconds.
        MovedError: it changed the working directory, which is as it was again.
    """

    def __init__(self, plugin: str, seconds: float) -> None:
        self._limit = TimeLimit(f"plugin '{plugin}'", seconds)
        self._aside = Aside(plugin)

    def __enter__(self) -> Self:
        self._stdout, sys.stdout = sys.stdout, self._aside
        self._folder = _folder()
        self._limit.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._limit.__exit__()
        sys.stdout = self._stdout
        self._aside.end_line()
        if (now := _folder()) != self._folder and self._folder:
            os.chdir(self._folder)
            if kind is None:
                raise MovedError(f"changed the working directory to {now}")


class Aside(io.TextIOBase):
    """Where a plugin's output goes: to standard error, its name before each line, since ours is for manifests."""

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

    def isatty(self) -> bool:
        """Tell plugins that no terminal is here to be painted on."""
        return False


def _folder() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 - a text, as it is compared
    except OSError:  # it was removed under us
        return ""
