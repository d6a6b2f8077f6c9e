"""The measured commands, the state before each, and the files that each must write."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from measure import measure
from report import CHECK_TEN, COLD, JINJA, PASS, REVIEW
from workload import QUEUES, trainings, with_one_changed, with_ten_changed, write_list, write_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_SCRIPT = Path(__file__).parent / "jinja" / "render.py"
_LINES_APART = 5


@dataclass(frozen=True, kw_only=True)
class Case:
    """One command, its untimed preparation, and the number of files that it must write into a folder."""

    what: str
    jobs: int
    command: Sequence[str]
    prepare: Callable[[], object]
    output: Path
    writes: int


def cases(top: Path, sizes: Sequence[int]) -> Iterator[Case]:
    """Yield all cases in the order in which each round runs them; the warm ones at the largest size."""
    command = [sys.executable, "-c", "pass"]
    yield Case(what=PASS, jobs=0, command=command, prepare=lambda: None, output=top / "none", writes=0)
    for size in sizes:
        workspace = _Workspace(top / str(size), size)
        yield from workspace.cold()
        if size == max(sizes):
            yield from workspace.warm()
            yield from _Workspace(top / "reviewed", size).reviewed()


class _Workspace:
    """The input of one size in both forms, and the folders that the two tools write into."""

    def __init__(self, top: Path, size: int) -> None:
        self._size = size
        self._list = top / "jobs.yaml"
        self._rendered = top / "rendered"
        self._environment = top / "environments" / "bench"
        self._manifests = self._environment / "manifests"
        write_list(self._list, trainings(size))

    def cold(self) -> Iterator[Case]:
        """Yield the script and our build, each into a new folder."""
        script = [sys.executable, str(_SCRIPT), str(self._list), str(self._rendered)]
        yield Case(
            what=JINJA,
            jobs=self._size,
            command=script,
            prepare=lambda: shutil.rmtree(self._rendered, ignore_errors=True),
            output=self._rendered,
            writes=self._size,
        )
        yield self._ours(COLD, self._start_anew, self._size + QUEUES)

    def warm(self) -> Iterator[Case]:
        """Yield the daily commands in a repository with manifests; they follow the cold build, in this order."""
        yield self._ours("`build`, nothing changed", lambda: None, 0)
        yield self._ours("`build --check`", lambda: None, 0, "--check")
        yield self._ours("`build`, one job changed", self._change_one, 1)

    def reviewed(self) -> Iterator[Case]:
        """Yield a review of ten jobs and the check beside it, for one state of a Git repository."""
        yield self._ours(CHECK_TEN, self._change_ten, 0, "--check")
        command = [*_tfgitops(), "review", str(self._environment), "--against", "HEAD"]
        yield Case(
            what=REVIEW, jobs=self._size, command=command, prepare=lambda: None, output=self._manifests, writes=0
        )

    def _change_ten(self) -> None:
        """Commit all jobs, then build ten changed jobs over the commit."""
        if not (self._environment / ".git").exists():
            self._start_anew()
            self._run(*_tfgitops(), "build", str(self._environment))
            identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.com"]
            for arguments in (["init", "-q"], ["add", "--all"], [*identity, "commit", "-qm", "base"]):
                self._run("git", "-C", str(self._environment), *arguments)
        write_spec(self._environment / "environment.yaml", with_ten_changed(trainings(self._size)))
        self._run(*_tfgitops(), "build", str(self._environment))

    def _run(self, *command: str) -> None:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def _start_anew(self) -> None:
        write_spec(self._environment / "environment.yaml", trainings(self._size))
        shutil.rmtree(self._manifests, ignore_errors=True)

    def _change_one(self) -> None:
        write_spec(self._environment / "environment.yaml", with_one_changed(trainings(self._size)))

    def _ours(self, what: str, prepare: Callable[[], object], writes: int, *flags: str) -> Case:
        command = [*_tfgitops(), "build", *flags, str(self._environment)]
        return Case(what=what, jobs=self._size, command=command, prepare=prepare, output=self._manifests, writes=writes)


def _tfgitops() -> list[str]:
    """Return the console script beside this Python, as users run it, or else the module."""
    script = Path(sys.executable).with_name("tfgitops")
    return [str(script)] if script.exists() else [sys.executable, "-m", "tfgitops"]


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
    """Return a mark of each file below a folder that changes when the file is written again."""
    found = {path: path.stat() for path in folder.rglob("*.yaml")}
    return {path: (stat.st_ino, stat.st_mtime_ns) for path, stat in found.items()}


def compare_lengths(top: Path) -> str:
    """Return the lengths of both tools' manifests of one job, after both have run.

    Raises:
        RuntimeError: they differ too much for a fair comparison.
    """
    ours, theirs = (_lines(next(top.rglob(name))) for name in ("job-train-00000.yaml", "train-00000.yaml"))
    if abs(ours - theirs) > _LINES_APART:
        raise RuntimeError(f"a manifest of ours has {ours} lines, one of the script's {theirs}: mend job.yaml.j2")
    return f"a job's manifest has {ours} lines here, {theirs} from the script"


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())
