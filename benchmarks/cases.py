"""The measured commands, the state before each, and the files that each must write."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from helmchart import chart_command, find_helm
from measure import measure
from report import (
    ALL_CORES,
    CHECK,
    COLD,
    COMPLETION,
    GUARD,
    HELM,
    HELP,
    JINJA,
    NOTHING,
    ONE_CHANGED,
    ONE_CORE,
    PASS,
    REVIEW,
    VERSION,
)
from workload import (
    LAYOUTS,
    QUEUES,
    trainings,
    with_one_changed,
    write_layout,
    write_list,
    write_many,
    write_spec,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_SCRIPT = Path(__file__).parent / "jinja" / "render.py"
_LINES_APART = 5
_DAILY = 1_000  # jobs, in a repository that is worked in
_ENVIRONMENTS, _IN_EACH = 8, 500


@dataclass(frozen=True, kw_only=True)
class Case:
    """One command, its untimed preparation, and the number of files that it must write into a folder.

    ``code`` is its exit code: a check that finds differences ends with 1, and so does a build that the guard stops.
    """

    what: str
    jobs: int
    command: Sequence[str]
    output: Path
    prepare: Callable[[], object] = lambda: None
    writes: int = 0
    code: int = 0
    one_core: bool = False


def cases(top: Path, sizes: Sequence[int]) -> Iterator[Case]:
    """Yield all cases in the order in which each round runs them."""
    yield from _starts(top)
    for size in sizes:
        workspace = _Workspace(top / str(size), size)
        yield from workspace.cold()
        if size == _DAILY:
            yield from workspace.warm()
    for layout in LAYOUTS:
        for size in (_DAILY // 10, _DAILY):
            yield from _bumped(top / layout.replace("/", "") / str(size), layout, size)
    yield from _many(top / "many")


def _starts(top: Path) -> Iterator[Case]:
    """Yield what costs little more than the start of a program."""
    asked = ["COMP_WORDS=tfgitops build --re", "COMP_CWORD=2", "_TFGITOPS_COMPLETE=complete_bash"]
    for what, command in (
        (PASS, [sys.executable, "-c", "pass"]),
        (VERSION, [*_tfgitops(), "--version"]),
        (HELP, [*_tfgitops(), "--help"]),
        (COMPLETION, ["/usr/bin/env", *asked, *_tfgitops()]),
    ):
        yield Case(what=what, jobs=0, command=command, output=top / "none")


def _bumped(top: Path, layout: str, size: int) -> Iterator[Case]:
    """Yield a check, a build that the guard stops, and a review, of an image bump over committed manifests."""

    def prepare() -> None:
        if not (top / ".git").exists():
            write_layout(top, layout, trainings(size), "registry.example/ml/trainer:v1")
            _run(*_tfgitops(), "build", str(top / "environments"))
            identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.com"]
            for arguments in (["init", "-q"], ["add", "--all"], [*identity, "commit", "-qm", "base"]):
                _run("git", "-C", str(top), *arguments)
            write_layout(top, layout, trainings(size), "registry.example/ml/trainer:v2")

    for what, code, arguments in (
        (CHECK, 1, ["build", "--check"]), (GUARD, 1, ["build"]), (REVIEW, 0, ["review", "--against", "HEAD"]),
    ):  # fmt: skip
        command = [*_tfgitops(), *arguments, str(top / "environments")]
        yield Case(what=what.format(layout), jobs=size, command=command, output=top, prepare=prepare, code=code)


def _many(top: Path) -> Iterator[Case]:
    """Yield a cold build of many environments on one core, and on all."""
    manifests = [top / "environments" / f"bench-{number:02}" / "manifests" for number in range(_ENVIRONMENTS)]

    def prepare() -> None:
        if not top.exists():
            write_many(top, _ENVIRONMENTS, trainings(_IN_EACH))
        for folder in manifests:
            shutil.rmtree(folder, ignore_errors=True)

    for what, one_core in ((ONE_CORE, True), (ALL_CORES, False)):
        yield Case(
            what=what, jobs=_ENVIRONMENTS * _IN_EACH, command=[*_tfgitops(), "build", str(top / "environments")],
            output=top, prepare=prepare, writes=_ENVIRONMENTS * (_IN_EACH + QUEUES), one_core=one_core,
        )  # fmt: skip


def _run(*command: str) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


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
        """Yield the script, Helm where it is installed, and our build; ours and the script's into a new folder."""
        script = [sys.executable, str(_SCRIPT), str(self._list), str(self._rendered)]
        yield Case(
            what=JINJA,
            jobs=self._size,
            command=script,
            prepare=lambda: shutil.rmtree(self._rendered, ignore_errors=True),
            output=self._rendered,
            writes=self._size,
        )
        if helm := find_helm():
            command = chart_command(helm, self._list.parent / "chart", self._list)
            yield Case(what=HELM, jobs=self._size, command=command, output=self._rendered)
        yield self._ours(COLD, self._start_anew, self._size + QUEUES)

    def warm(self) -> Iterator[Case]:
        """Yield the daily commands in a repository with manifests; they follow the cold build, in this order."""
        yield self._ours(NOTHING, lambda: None, 0)
        yield self._ours("`build --check`", lambda: None, 0, "--check")
        yield self._ours(ONE_CHANGED, self._change_one, 1)

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
    measure(case.command, case.code)
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
    ours, theirs = (_lines(next(top.glob(f"1*/**/{name}"))) for name in ("job-train-00000.yaml", "train-00000.yaml"))
    if abs(ours - theirs) > _LINES_APART:
        raise RuntimeError(f"a manifest of ours has {ours} lines, one of the script's {theirs}: mend job.yaml.j2")
    return f"a job's manifest has {ours} lines here, {theirs} from the script"


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())
