"""Measure tfgitops beside `python -c pass` and a Jinja2 script, in one run; docs/benchmarks.md tells how.

Times are shown and never judged: the exit code is 1 only if something fails or writes the wrong files.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from cases import cases, compare_lengths, verify
from measure import measure, own_peak
from report import best, table, targets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cases import Case
    from measure import Usage

_TMPFS = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it
_PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"


def bench(runs: int, sizes: Sequence[int], minutes: float) -> list[str]:
    """Verify all cases, measure them, and return the lines of the table and the targets.

    Raises:
        RuntimeError: a command fails, or its output is not what it must be.
    """
    end = time.monotonic() + 60 * minutes
    tmpfs = _TMPFS if os.access(_TMPFS, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="tfgitops-bench-", dir=tmpfs) as folder:
        planned = list(cases(Path(folder), sizes))
        for case in planned:
            _progress(f"verify: {case.what} {case.jobs or ''}")
            verify(case)
        lengths = compare_lengths(Path(folder))
        usages = interleave(planned, runs, end)
    place = f"{tmpfs} (tmpfs)" if tmpfs else "the temporary folder (no tmpfs)"
    results = {key: best(*key, found) for key, found in usages.items()}
    return [
        f"{datetime.now(UTC):%d %B %Y}, Python {sys.version.split()[0]}, {os.cpu_count()} CPUs, files in {place}.",
        f"Times are the least of {min(map(len, usages.values()))} interleaved runs, memory is the most;",
        f"{lengths}.",
        f"Peaks below {own_peak():.0f} MB, which the measuring process takes itself, are not seen.",
        "", *table(results), "", *targets(results),
    ]  # fmt: skip


def interleave(planned: Sequence[Case], runs: int, end: float) -> dict[tuple[str, int], list[Usage]]:
    """Measure all cases round after round, so that a disturbance of the machine affects them alike.

    After the first one, no round is begun that would not be over in time.
    """
    usages: dict[tuple[str, int], list[Usage]] = {(case.what, case.jobs): [] for case in planned}
    longest = 0.0
    for number in range(1, runs + 1):
        start = time.monotonic()
        if start + longest > end:
            break
        for case in planned:
            _progress(f"round {number} of {runs}: {case.what} {case.jobs or ''}")
            case.prepare()
            usages[case.what, case.jobs].append(measure(case.command, case.code, one_core=case.one_core))
        longest = max(longest, time.monotonic() - start)
    _progress("")
    return usages


def write_page(lines: Sequence[str]) -> None:
    """Put the lines of a run at the end of docs/benchmarks.md."""
    kept, heading, _ = _PAGE.read_text(encoding="utf-8").partition("## The last run\n")
    _PAGE.write_text("\n".join([kept + heading, *lines, ""]), encoding="utf-8")


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
    parser.add_argument(
        "--minutes", type=float, default=8, metavar="N", help="begin no round that ends later (default: %(default)s)"
    )
    parser.add_argument("--write", action="store_true", help="also write the tables into docs/benchmarks.md")
    arguments = parser.parse_args()
    if min(arguments.runs, *arguments.sizes) < 1:
        parser.error("runs and sizes start at 1")
    return arguments


def main() -> int:
    """Run the benchmark, and return its exit code."""
    arguments = _arguments()
    try:
        lines = bench(arguments.runs, arguments.sizes, arguments.minutes)
    except RuntimeError as error:
        _progress("")
        print(error, file=sys.stderr)
        return 1
    print("\n".join(lines))
    if arguments.write:
        write_page(lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
