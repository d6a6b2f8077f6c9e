"""Each system call of a build fails once, a build is killed between any two, and others work on the tree meanwhile.

Whatever happens, each manifest is the old one or the new one, the fault is told, and the next build mends the rest.
"""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from commandline import run
from repository import Repository
from workspace import HEAD, OTHER, PROD, PROGRAM, TRAIN, edit, put

from tfgitops.compiler import write

if TYPE_CHECKING:
    from collections.abc import Callable

CALLS = ("open", "fchmod", "write", "close", "replace", "mkdir", "unlink", "rmdir", "listdir")
CODES = (errno.ENOSPC, errno.EACCES, errno.EIO, errno.EROFS, errno.EINTR)
QUEUES = "queues: {vision: {}}\n"
TOP = PROD / "manifests"


def prepare(*, grow: bool = False) -> dict[str, set[str]]:
    """Build, then change the spec so that a build creates, updates and removes; return the texts of each manifest.

    With ``grow`` a folder comes, else one goes.
    """
    before, after = ("", QUEUES) if grow else (QUEUES, "")
    put(PROD / "environment.yaml", f"{HEAD}{before}{TRAIN}  other: {{image: 'tf:2.21', worker: 1}}\n")
    assert run("build").exit_code == 0
    was = contents()
    third = f"{HEAD}{after}{TRAIN}  third: {{image: 'tf:2.21', worker: 1}}\n"
    put(PROD / "environment.yaml", third.replace("worker: 2", "worker: 3"))
    now = {one.partition("  ")[0]: one.partition("  ")[2] for one in stream()}
    return {path: {was.get(path, ""), now.get(path, "")} for path in {*was, *now}}


def stream() -> list[str]:
    """Return what a build would write, each path before its text."""
    from tfgitops.compiler.session import compile_all, open_session  # noqa: PLC0415

    [compiled] = compile_all(open_session([PROD]))
    return [f"{TOP}/{file.path}  {file.text}" for file in compiled.files]


def contents() -> dict[str, str]:
    return {str(path): path.read_text(encoding="utf-8") for path in TOP.rglob("*") if path.is_file()}


def whole(allowed: dict[str, set[str]]) -> None:
    """Assert that each manifest is the old or the new one, and that the next build mends all."""
    for path, text in contents().items():
        if ".tfgitops-" not in path:
            assert text in allowed[path], path
    for path, texts in allowed.items():
        assert Path(path).exists() or "" in texts
    result = run("build")
    assert result.exit_code == 0, result.output
    assert run("build", "--check").exit_code == 0
    assert not [*Path().rglob(".tfgitops-*")]
    assert OTHER.exists() is False


def failing(
    monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...], number: int, fault: Callable[[], object]
) -> list[str]:
    """Let the call of a number fail, of those of the writer below `manifests/`; return the calls as they come."""
    seen: list[str] = []
    writing = [False]
    really_apply = write.apply

    def applied(*arguments: Any) -> None:
        writing[0] = True
        try:
            really_apply(*arguments)
        finally:
            writing[0] = False

    def wrapped(name: str) -> Callable[..., Any]:
        real = getattr(os, name)

        def call(*arguments: Any, **more: Any) -> Any:
            if writing[0]:
                seen.append(name)
                if len(seen) == number:
                    fault()
            return real(*arguments, **more)

        return call

    monkeypatch.setattr("tfgitops.pins.deliver.apply", applied)
    for name in names:
        monkeypatch.setattr(os, name, wrapped(name))
    return seen


def test_the_writer_makes_each_of_these_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    prepare()
    with monkeypatch.context() as patch:
        seen = failing(patch, CALLS, 0, lambda: None)
        assert run("build").exit_code == 0
    put(PROD / "environment.yaml", f"{HEAD}{QUEUES}{TRAIN}")
    with monkeypatch.context() as patch:
        more = failing(patch, CALLS, 0, lambda: None)
        assert run("build").exit_code == 0
    assert {*seen, *more} == {*CALLS}


@pytest.mark.parametrize("code", CODES, ids=errno.errorcode.__getitem__)
@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_fails_is_told_and_the_next_build_mends_it(
    name: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault() -> None:
        raise OSError(code, os.strerror(code))

    for number in range(1, 20):
        allowed = prepare(grow=name == "mkdir")
        with monkeypatch.context() as patch:
            seen = failing(patch, (name,), number, fault)
            result = run("build")
        assert "Traceback" not in result.output
        if len(seen) < number:  # all calls of this name were tried
            break
        assert result.exit_code == 1
        assert "error[TF602]" in result.stderr
        assert os.strerror(code) in result.stderr
        if name != "unlink":
            assert not [*Path().rglob(".tfgitops-*")], "a fault leaves no temporary file"
        whole(allowed)
    assert number > 1


def test_a_file_that_grows_beyond_the_limit_of_the_system_is_whole(built: Path) -> None:
    """A real fault of `write`, halfway: the system writes some bytes and refuses the next."""
    edit(PROD / "environment.yaml", "worker: 2", "worker: 3")
    before = contents()
    script = (
        "import resource, signal, sys; from tfgitops.cli import app; "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)); app(['build'])"
    )
    process = subprocess.run([sys.executable, "-B", "-c", script], capture_output=True, text=True, check=False)
    assert process.returncode == 1
    assert "File too large" in process.stderr
    assert contents() == before


@pytest.mark.parametrize("grow", [False, True])
def test_a_build_that_is_killed_between_any_two_calls_is_mended_by_the_next(
    grow: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(1, 200):
        allowed = prepare(grow=grow)
        child = os.fork()
        if not child:
            try:
                failing(monkeypatch, CALLS, number, lambda: os.kill(os.getpid(), signal.SIGKILL))
                run("build")
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        whole(allowed)
        if not os.WIFSIGNALED(status):  # it went through
            break
    assert number > 15


def test_builds_at_once_end_as_one(built: Path) -> None:
    """Each compiles the spec as it finds it; the last change is what all of them come to, and nothing is left over."""
    processes = []
    for replicas in range(3, 9):
        put(PROD / "next.tmp", f"{HEAD}{TRAIN}".replace("worker: 2", f"worker: {replicas}"))
        (PROD / "next.tmp").replace(PROD / "environment.yaml")
        processes.append(subprocess.Popen([PROGRAM, "build"], stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    for process in processes:
        _, stderr = process.communicate(timeout=60)
        assert process.returncode == 0, stderr
        assert b"Traceback" not in stderr
    assert not [*Path().rglob(".tfgitops-*")]
    assert run("build").exit_code == 0
    assert run("build", "--check").exit_code == 0


@pytest.fixture
def branches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A repository with two branches that have other jobs, queues and folders."""
    (tmp_path / "pyproject.toml").unlink()
    repository = Repository(tmp_path)
    repository.git("branch", "-f", "main")
    repository.prod(("  vision:", "  text: {}\n  vision:"), ("  bert:", "  bart:"), ("replicas: 4", "replicas: 3"))
    repository.write("environments/lab/environment.yaml", f"{HEAD}{TRAIN}")
    repository.build("--restart-all")
    repository.commit("another")
    return repository


def test_a_build_while_git_checks_out_leaves_what_the_next_build_mends(branches: Repository) -> None:
    done = threading.Event()

    def checkouts() -> None:
        for _ in range(15):
            for branch in ("main", "change"):
                branches.git("checkout", "--quiet", "--force", branch)
        done.set()

    thread = threading.Thread(target=checkouts)
    thread.start()
    builds = 0
    while not done.is_set():
        result = run("build", "--restart-all", "--queues-at-once")
        assert "Traceback" not in result.output
        builds += 1
    thread.join()
    assert builds > 1
    for branch in ("main", "change"):
        branches.git("checkout", "--quiet", "--force", branch)
        branches.git("clean", "--quiet", "-d", "--force")
        branches.write("environments/prod/manifests/workloads/.tfgitops-0123abcd.tmp", "")
        assert run("build", "--restart-all", "--queues-at-once").exit_code == 0
        assert run("build", "--check").exit_code == 0
        assert branches.git("status", "--porcelain") == ""


@pytest.mark.parametrize("branch", ["main", "change"])
def test_what_a_build_of_another_branch_left_is_mended(branches: Repository, branch: str) -> None:
    """A checkout came between the reading of the specs and the writing of the manifests."""
    other = {"main": "change", "change": "main"}[branch]
    branches.git("checkout", "--quiet", "--force", other)
    from tfgitops.compiler.session import compile_all, open_session  # noqa: PLC0415

    results = compile_all(open_session([Path("environments")]))
    branches.git("checkout", "--quiet", "--force", branch)
    for one in results:
        one.folder.mkdir(exist_ok=True)
        write.apply(one.folder, one.files, write.compare(one.folder, one.files), [])
    assert run("build", "--restart-all", "--queues-at-once").exit_code == 0
    assert run("build", "--check").exit_code == 0
    assert branches.git("status", "--porcelain") == ""
