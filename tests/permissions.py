"""What root must do to be refused what others are: lay down the capabilities to read and write whatever there is."""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_VERSION = 0x2008_0522
_READS_ALL = 1 << 1 | 1 << 2
"""CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH, see capabilities(7)."""


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Sets(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def can_be_anybody() -> bool:
    """Tell whether `anybody` works here: for root it needs Linux."""
    return os.geteuid() != 0 or sys.platform == "linux"


@contextmanager
def anybody() -> Iterator[None]:
    """Be one for whom the permissions of files count, in this thread."""
    if os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header, sets = _Header(_VERSION, 0), (_Sets * 2)()

    def call(function: str) -> None:
        if getattr(libc, function)(ctypes.byref(header), ctypes.byref(sets)):
            raise OSError(ctypes.get_errno(), function)

    call("capget")
    before = sets[0].effective
    sets[0].effective = before & ~_READS_ALL
    call("capset")
    try:
        yield
    finally:
        sets[0].effective = before
        call("capset")
