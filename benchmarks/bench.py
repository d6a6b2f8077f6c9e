"""Measure `tfgitops build` beside `python -c pass` and a Jinja2 script, in one run; docs/benchmarks.md tells how.

Times are shown and never judged: the exit code is 1 only if something fails or writes the wrong files.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from measure import measure
from report import COLD, JINJA, PASS, Results, best, table, targets
from workload import QUEUES, trainings, with_one_changed, write_list, write_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from measure import Usage

_SCRIPT = Path(__file__).parent / "jinja" / "render.py"
_TMPFS = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it
_LINES_APART = 5


@dataclass(frozen=True, kw_only=True)
class Case:
    """One command to measure, what is done before it outside of the timing, and how many files it must write."""

    what: str
    jobs: int
    command: Sequence[str]
    prepare: Callable[[], object]
    output: Path
    writes: int


class Workspace:
    """The input of one size in both forms, and the folders that the two tools write into."""

    def __init__(self, top: Path, size: int) -> None:
        self.size = size
        self.environment = top / str(size) / "environments" / "bench"
        self.manifests = self.environment / "manifests"
        self.list = top / str(size) / "jobs.yaml"
        self.rendered = top / str(size) / "rendered"
        write_list(self.list, trainings(size))

    def clear(self) -> None:
        """Leave the spec as it was generated, and no output of either tool."""
        write_spec(self.environment / "environment.yaml", trainings(self.size))
        for folder in (self.manifests, self.rendered):
            shutil.rmtree(folder, ignore_errors=True)

    def change_one(self) -> None:
        """Change one job of the spec, as an edit in a pull request does."""
        write_spec(self.environment / "environment.yaml", with_one_changed(trainings(self.size)))

    def cold(self) -> Iterator[Case]:
        """Yield the script, and our build without manifests, from which the warm cases go on."""
        script = [sys.executable, str(_SCRIPT), str(self.list), str(self.rendered)]
        yield Case(
            what=JINJA, jobs=self.size, command=script, prepare=self.clear, output=self.rendered, writes=self.size
        )
        yield self._ours(COLD, self.clear, self.size + QUEUES)

    def warm(self) -> Iterator[Case]:
        """Yield what a repository that has its manifests sees day by day, in an order in which it can follow a cold build."""
        yield self._ours("`build`, nothing changed", lambda: None, 0)
        yield self._ours("`build --check`", lambda: None, 0, "--check")
        yield self._ours("`build`, one job changed", self.change_one, 1)

    def _ours(self, what: str, prepare: Callable[[], object], writes: int, *flags: str) -> Case:
        command = [*_tfgitops(), "build", *flags, str(self.environment)]
        return Case(what=what, jobs=self.size, command=command, prepare=prepare, output=self.manifests, writes=writes)


def _tfgitops() -> list[str]:
    """Return the console script beside this Python, since that is what users run; else the module."""
    script = Path(sys.executable).with_name("tfgitops")
    return [str(script)] if script.exists() else [sys.executable, "-m", "tfgitops"]


def cases(top: Path, sizes: Sequence[int]) -> Iterator[Case]:
    """Yield all cases in the order in which each round runs them; the warm ones at the largest size."""
    yield Case(
        what=PASS, jobs=0, command=[sys.executable, "-c", "pass"], prepare=lambda: None, output=top / "none", writes=0
    )
    for size in sizes:
        workspace = Workspace(top, size)
        yield from workspace.cold()
        if size == max(sizes):
            yield from workspace.warm()


def verify(case: Case) -> None:
    """Run a case once, which also fills the caches of bytecode and files.

    Raises:
        RuntimeError: it fails, or writes more or fewer files than it must.
    """
    case.prepare()
    before = _stamps(case.output)
    measure(case.command)
    after = _stamps(case.output)
    written = sum(stamp != before.get(path) for path, stamp in after.items())
    if written != case.writes:
        raise RuntimeError(f"{case.what} at {case.jobs:,} jobs wrote {written:,} files, not {case.writes:,}")


def _stamps(folder: Path) -> dict[Path, tuple[int, int]]:
    """Return what tells a file that was written anew, for each file below a folder."""
    found = {path: path.stat() for path in folder.rglob("*.yaml")}
    return {path: (stat.st_ino, stat.st_mtime_ns) for path, stat in found.items()}


def compare_lines(top: Path, size: int) -> str:
    """Say how long the two tools' manifests of one job are.

    Raises:
        RuntimeError: they are too different for a fair comparison.
    """
    workspace = top / str(size)
    ours, theirs = (
        len(next(workspace.rglob(pattern)).read_text(encoding="utf-8").splitlines())
        for pattern in ("job-train-00000.yaml", "rendered/train-00000.yaml")
    )
    if abs(ours - theirs) > _LINES_APART:
        raise RuntimeError(f"a manifest of ours has {ours} lines, and one of the script's {theirs}; mend job.yaml.j2")
    return f"one job is {ours} lines of manifest here, {theirs} from the script"


def interleave(planned: Sequence[Case], runs: int) -> Results:
    """Measure all cases round after round, so that what disturbs the machine disturbs them alike."""
    usages: dict[tuple[str, int], list[Usage]] = {(case.what, case.jobs): [] for case in planned}
    for number in range(runs):
        for case in planned:
            _progress(f"round {number + 1} of {runs}: {case.what} {case.jobs or ''}")
            case.prepare()
            usages[case.what, case.jobs].append(measure(case.command))
    _progress("")
    return {key: best(*key, found) for key, found in usages.items()}


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def bench(runs: int, sizes: Sequence[int]) -> None:
    """Verify all cases, measure them, and print the table and the targets."""
    tmpfs = _TMPFS if os.access(_TMPFS, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="tfgitops-bench-", dir=tmpfs) as folder:
        top = Path(folder)
        planned = list(cases(top, sizes))
        for case in planned:
            _progress(f"verify: {case.what} {case.jobs or ''}")
            verify(case)
        lines = compare_lines(top, max(sizes))
        results = interleave(planned, runs)
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} CPUs, output in {tmpfs or 'the temporary folder'},")
    print(f"least of {runs} interleaved runs; {lines}.\n")
    print("\n".join(table(results)), end="\n\n")
    print("\n".join(targets(results)), end="\n\n")
    floor = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"Memory below {floor / 1024:.0f} MB, what the measuring process takes itself, is not seen.")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="rounds; the least times count (default: 5)")
    parser.add_argument(
        "--sizes",
        type=lambda text: sorted({int(part) for part in text.split(",")}),
        default=[1, 100, 1000],
        metavar="N,…",
        help="numbers of jobs (default: 1,100,1000)",
    )
    arguments = parser.parse_args()
    if arguments.runs < 1 or arguments.sizes[0] < 1:
        parser.error("runs and sizes start at 1")
    return arguments


def main() -> int:
    """Run the benchmark; return the exit code."""
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
