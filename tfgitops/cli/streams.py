"""The standard streams: a closed one does not change what a command does; other faults are reported at the end."""

from __future__ import annotations

import os
import sys
from typing import Any, TextIO

_ERRORS = 2


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
