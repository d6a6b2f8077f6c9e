"""Faults of the system while manifests are written, and what stands in the way."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from commandline import run
from workspace import HEAD, MANIFEST, PROD, PROGRAM, QUEUES, TRAIN, TWO, WORKLOADS, edit, put, tree

from tfgitops.compiler.compiled import File
from tfgitops.compiler.write import Difference, alone, apply
from tfgitops.spec.diagnostics import CompileError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.mark.parametrize("code", [errno.EROFS, errno.ENOSPC, errno.EACCES])
def test_a_file_that_cannot_be_replaced_is_told_and_stays_whole(
    code: int, built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tree(PROD / "manifests")
    edit(PROD / "environment.yaml", "worker: 2", "worker: 3")

    def fail(source: str, target: Path) -> None:
        raise OSError(code, os.strerror(code), str(target))

    monkeypatch.setattr(os, "replace", fail)
    result = run("build")
    assert result.exit_code == 1
    assert "error[TF602]" in result.stderr
    assert os.strerror(code) in result.stderr
    assert str(MANIFEST) in result.stderr
    assert "Traceback" not in result.stderr
    assert tree(PROD / "manifests") == before, "and no temporary file is left"


def test_the_next_build_mends_what_a_fault_left_half_done(monkeypatch: pytest.MonkeyPatch) -> None:
    put(PROD / "environment.yaml", HEAD + TWO)
    replace = os.replace
    calls: list[str] = []

    def fail_second(source: str, target: Path) -> None:
        calls.append(str(target))
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail_second)
        assert run("build").exit_code == 1
    assert len(list(WORKLOADS.iterdir())) == 1
    assert run("build").exit_code == 0
    assert run("build", "--check").exit_code == 0


def test_a_file_in_place_of_the_folder_is_told() -> None:
    put(PROD / "manifests", "not a folder\n")
    assert run("build", "--check").exit_code == 1
    result = run("build")
    assert result.exit_code == 1
    assert str(PROD / "manifests") in result.stderr
    assert "error[TF60" in result.stderr
    assert "Traceback" not in result.stderr
    assert (PROD / "manifests").read_text(encoding="utf-8") == "not a folder\n"


def test_what_a_killed_build_left_is_removed(built: Path) -> None:
    left = put(WORKLOADS / ".tfgitops-abc123", "half a manif")
    assert run("build", "--check").exit_code == 0
    assert left.exists(), "a check removes nothing"
    assert "nothing changed" in run("build").stdout
    assert not left.exists()


def test_a_file_system_without_locks_is_written_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    assert run("build").exit_code == 0
    assert MANIFEST.exists()


def test_folders_that_become_empty_are_removed() -> None:
    put(PROD / "environment.yaml", HEAD + QUEUES + TRAIN)
    run("build")
    assert (PROD / "manifests/cluster-2").is_dir()
    put(PROD / "environment.yaml", HEAD + TRAIN)
    run("build")
    assert [path.name for path in (PROD / "manifests").iterdir()] == ["workloads"]


@contextmanager
def another_build() -> Iterator[Callable[[], None]]:
    """Hold the lock of an environment as a build does; call what is yielded to let go."""
    handle = os.open(PROD, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield lambda: fcntl.flock(handle, fcntl.LOCK_UN)
    finally:
        os.close(handle)


@contextmanager
def interrupts(handler: Any) -> Iterator[None]:
    """Set what SIGINT does here. A program that is started meanwhile inherits only whether SIGINT is ignored."""
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def waiting_build(on_interrupt: Any = signal.default_int_handler) -> Iterator[subprocess.Popen[str]]:
    """Start a build that comes second, and wait until it says so.

    By default an interrupt ends the build, also where the tests themselves run in the background.
    """
    with interrupts(on_interrupt):
        process = subprocess.Popen([PROGRAM, "build"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with process:
        try:
            assert process.stderr is not None
            assert process.stderr.readline() == f"waiting for another build of {PROD}\n"
            yield process
        finally:
            process.kill()


def test_a_second_build_at_the_same_time_says_so_and_waits() -> None:
    with another_build() as let_go, waiting_build() as process:
        assert process.poll() is None
        assert not MANIFEST.exists()
        let_go()
        stdout, _ = process.communicate(timeout=20)
        assert (process.returncode, stdout.splitlines()[0]) == (0, f"created  {MANIFEST}")


@pytest.mark.parametrize(("number", "codes"), [(signal.SIGINT, {130}), (signal.SIGTERM, {143, -signal.SIGTERM})])
def test_a_build_that_is_interrupted_says_so_by_its_exit_code(number: signal.Signals, codes: set[int]) -> None:
    with another_build(), waiting_build() as process:
        process.send_signal(number)
        _, stderr = process.communicate(timeout=20)
        assert process.returncode in codes
        assert "Traceback" not in stderr
    assert not MANIFEST.exists()


def test_an_interrupt_of_the_terminal_leaves_a_build_in_the_background_alone() -> None:
    """A shell without job control starts ``tfgitops build &`` with SIGINT ignored, and an ignored signal stays so."""
    with another_build() as let_go, waiting_build(signal.SIG_IGN) as process:
        process.send_signal(signal.SIGINT)
        let_go()
        stdout, _ = process.communicate(timeout=20)
        assert (process.returncode, stdout.splitlines()[0]) == (0, f"created  {MANIFEST}")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_full_disk_behind_standard_output_is_said_and_is_no_bug() -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:  # noqa: PTH123 - a device
        process = subprocess.run(
            [PROGRAM, "build", "--stdout"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert process.returncode == 1
    assert "standard output cannot be written" in process.stderr
    assert "Traceback" not in process.stderr


def test_a_file_where_the_manifests_folder_must_be_is_named() -> None:
    put(PROD / "manifests", "not a folder\n")
    result = run("build")
    assert result.exit_code == 1
    assert f"{PROD}/manifests is a file" in result.stderr


def test_a_foreign_file_alone_is_not_for_build_to_mend() -> None:
    run("build")
    put(PROD / "manifests" / "workloads" / "extra.yaml", "kind: ConfigMap\n")
    result = run("build", "--check")
    assert "move the foreign away" in result.stdout
    assert "run `tfgitops build`" not in result.stdout


def test_a_build_that_is_killed_leaves_nothing_that_a_controller_would_apply(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[str] = []

    def killed(temporary: str, _: str) -> None:
        left.append(temporary)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", killed)
    assert run("build").exit_code == 130
    assert [Path(name).suffix for name in left] == [".tmp"]
    assert not list(Path().rglob("*.tmp"))


def test_a_spec_with_the_wrong_ending_is_named() -> None:
    (PROD / "environment.yaml").rename(PROD / "environment.yml")
    result = run("build")
    assert result.exit_code == 1
    assert "rename" in result.stderr
    assert "environment.yml" in result.stderr


@pytest.mark.parametrize("path", ["x.yaml", "../x.yaml", "workloads/../../x.yaml", "/x.yaml", "workloads/.x.yaml"])
def test_no_file_goes_anywhere_but_into_a_folder_of_the_manifests(path: str, tmp_path: Path) -> None:
    folder = tmp_path / "environment"
    before = sorted(tmp_path.parent.rglob("*.yaml"))
    with pytest.raises(CompileError) as raised:
        apply(folder, [File(path=path, text="kind: Job\n")], [Difference(path=path, state="missing")])
    assert [found.code for found in raised.value.diagnostics] == ["TF602"]
    assert sorted(tmp_path.parent.rglob("*.yaml")) == before


def test_a_folder_that_cannot_be_locked_is_told(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="gone"), alone(tmp_path / "gone", list):
        pytest.fail("nobody is alone there")
