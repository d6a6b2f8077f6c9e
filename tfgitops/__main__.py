"""The program: standard streams that cannot fail in the middle, then the command line.

A command finishes what it began although nobody listens. A stream that failed is reported once, at the end.
"""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterable

_ERRORS = 2


def main() -> None:
    """Run the command line."""
    gc.disable()  # a compile leaves no garbage in circles, so looking for it costs time for nothing
    attach()
    try:
        if sys.argv[1:] == ["--version"] and _told_versions():
            sys.exit()
        from tfgitops.cli import app  # noqa: PLC0415 - imports leave garbage, too, and may open files

        app()
    except SystemExit as end:
        sys.exit(detach(end.code if isinstance(end.code, int) else int(end.code is not None)))
    finally:
        gc.freeze()  # nor does the interpreter look for garbage when it exits


def _told_versions() -> bool:
    """Answer `--version` without the command line, whose import takes longer; tell whether that went well."""
    from tfgitops.plugins.versions import versions  # noqa: PLC0415

    with suppress(Exception):  # the command line knows what to say
        sys.stdout.write(f"{versions()}\n")
        return True
    return False


class Stream:
    """A standard stream whose faults do not end a command.

    A reader that went away is no fault. Any other fault, such as a full disk, is kept until the end.
    """

    def __init__(self, stream: TextIO) -> None:
        self.fault = ""
        self._stream = stream

    def write(self, text: str) -> int:
        """Write text, and what the stream's encoding lacks as escapes."""
        try:
            return self._stream.write(text)
        except OSError as error:
            self._give_up(error)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write some texts by `write`, which the stream's own method would pass by."""
        self.write("".join(lines))

    def flush(self) -> None:
        """Pass on what was written."""
        try:
            self._stream.flush()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        """Let all that is still to come go nowhere, the rest in the buffer too."""
        if not isinstance(error, BrokenPipeError):
            self.fault = self.fault or error.strerror or str(error)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def attach() -> None:
    """Replace the standard streams by ours; a closed one discards its text.

    Output that does not go to a terminal is UTF-8 in every locale, as manifests and JSON must be.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:  # else the next file that is opened would be this stream, and be written into
            os.open(os.devnull, os.O_RDWR)
        if getattr(sys, name) is None:
            mode = "w" if number else "r"
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - open to the end
        if number:
            stream = getattr(sys, name)
            to_terminal = number == _ERRORS or stream.isatty()
            stream.reconfigure(encoding=None if to_terminal else "utf-8", errors="backslashreplace")
            setattr(sys, name, Stream(stream))


def detach(code: int) -> int:
    """Pass on what the streams still hold, and return the exit code: 1 for a fine one, if it could not be told."""
    found = []
    for stream, name in ((sys.stdout, "standard output"), (sys.stderr, "standard error")):
        if isinstance(stream, Stream):
            stream.flush()
            found += [f"{name} cannot be written: {stream.fault}\n"] if stream.fault else []
    sys.stderr.write("".join(found))
    sys.stderr.flush()
    return code or int(bool(found))


if __name__ == "__main__":
    main()
