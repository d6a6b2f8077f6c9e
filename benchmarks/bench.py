"""Measure tfgitops beside `python -c pass` and a Jinja2 script, in one run; docs/benchmarks.md tells how.

Times are shown and never judged: the exit code is 1 only if something fails or writes the wrong files.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from cases import cases, compare_lengths, verify
from measure import measure, own_peak
from report import Results, best, table, targets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cases import Case
    from measure import Usage

_TMPFS = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it


def bench(runs: int, sizes: Sequence[int]) -> None:
    """Verify all cases, measure them, and print the table and the targets.

    Raises:
        RuntimeError: a command fails, or its output is not what it must be.
    """
    tmpfs = _TMPFS if os.access(_TMPFS, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="tfgitops-bench-", dir=tmpfs) as folder:
        planned = list(cases(Path(folder), sizes))
        for case in planned:
            _progress(f"verify: {case.what} {case.jobs or ''}")
            verify(case)
        lengths = compare_lengths(Path(folder))
        results = interleave(planned, runs)
    place = f"{tmpfs} (tmpfs)" if tmpfs else "the temporary folder (no tmpfs)"
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} CPUs, input and output in {place}.")
    print(f"Times are the least of {runs} interleaved runs, memory is the most; {lengths}.")
    print(f"Peaks below {own_peak():.0f} MB, which the measuring process takes itself, are not seen.\n")
    print("\n".join([*table(results), "", *targets(results)]))


def interleave(planned: Sequence[Case], runs: int) -> Results:
    """Measure all cases round after round, so that a disturbance of the machine affects them alike."""
    usages: dict[tuple[str, int], list[Usage]] = {(case.what, case.jobs): [] for case in planned}
    for number in range(1, runs + 1):
        for case in planned:
            _progress(f"round {number} of {runs}: {case.what} {case.jobs or ''}")
            case.prepare()
            usages[case.what, case.jobs].append(measure(case.command, case.code, one_core=case.one_core))
    _progress("")
    return {key: best(*key, found) for key, found in usages.items()}


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def _sizes(text: str) -> list[int]:
    return sorted({int(part) for part in text.split(",")})


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="how many rounds (default: 5)")
    parser.add_argument(
        "--sizes", type=_sizes, default="1,100,1000,10000", metavar="N,…", help="numbers of jobs (default: %(default)s)"
    )
    arguments = parser.parse_args()
    if min(arguments.runs, *arguments.sizes) < 1:
        parser.error("runs and sizes start at 1")
    return arguments


def main() -> int:
    """Run the benchmark, and return its exit code."""
    arguments = _arguments()
    try:
        bench(arguments.runs, arguments.sizes)
    except RuntimeError as error:
        _progress("")
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
