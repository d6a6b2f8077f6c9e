"""The cost of one whole process, as the kernel counts it."""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_MAXRSS_PER_MB = 1024 * (1024 if sys.platform == "darwin" else 1)
_ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "CI" and not key.startswith("PYTHON")}


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """The cost of one process: CPU (user and system) and wall time in seconds, peak of resident memory in MB."""

    cpu: float
    wall: float
    peak: float


def measure(command: Sequence[str], code: int = 0, *, one_core: bool = False) -> Usage:
    """Run a command to its end; its standard output is thrown away.

    The peak is never below `own_peak`.

    Raises:
        RuntimeError: the command ended with another exit code, with what it wrote to standard error.
    """
    cores = os.sched_getaffinity(0) if one_core else set()
    with tempfile.TemporaryFile() as errors, open(os.devnull, "wb") as nothing:  # noqa: PTH123 - no path of ours
        streams = [(os.POSIX_SPAWN_DUP2, nothing.fileno(), 1), (os.POSIX_SPAWN_DUP2, errors.fileno(), 2)]
        start = time.perf_counter()
        if one_core:
            os.sched_setaffinity(0, {min(cores)})
        process = os.posix_spawn(command[0], [*command], _ENVIRONMENT, file_actions=streams)
        if one_core:
            os.sched_setaffinity(0, cores)
        _, status, usage = os.wait4(process, 0)
        wall = time.perf_counter() - start
        if (ended := os.waitstatus_to_exitcode(status)) != code:
            errors.seek(0)
            said = errors.read().decode(errors="replace")
            raise RuntimeError(f"{' '.join(command)} ended with {ended}, not {code}:\n{said}")
    return Usage(cpu=usage.ru_utime + usage.ru_stime, wall=wall, peak=usage.ru_maxrss / _MAXRSS_PER_MB)


def own_peak() -> float:
    """Return the peak memory of this process in MB; Linux hands it on, so no child can show a lower one."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MAXRSS_PER_MB
