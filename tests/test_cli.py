"""The command line: what each command says, writes and returns, in a root of its own."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from tfgitops.cli import COMMANDS, app
from tfgitops.version import __version__

PROGRAM = Path(sys.executable).parent / "tfgitops"
HEAD = "apiVersion: tfgitops/v1alpha1\nkind: Environment\nnamespace: ml\n"
TRAIN = "jobs:\n  train: {image: 'tf:2.21', worker: 2}\n"
TWO = f"{TRAIN}  other: {{image: 'tf:2.21', worker: 1}}\n"
QUEUES = "queues: {vision: {}, text: {parent: vision}}\n"
PROD = Path("environments/prod")
WORKLOADS = PROD / "manifests/workloads"
MANIFEST = WORKLOADS / "job-train.yaml"
OTHER = WORKLOADS / "job-other.yaml"

State = dict[str, tuple[str, int]]


def put(path: Path | str, text: str) -> Path:
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    return target


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def run(*arguments: str | Path, **environment: str) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], env=environment)


def tree(top: Path | str = ".") -> State:
    """Return every file below a folder: its content, and when it was written."""
    return {
        str(path): ("link" if path.is_symlink() else path.read_bytes().decode("latin-1"), path.lstat().st_mtime_ns)
        for path in sorted(Path(top).rglob("*"))
        if path.is_symlink() or path.is_file()
    }


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a root with one environment, which has one job."""
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    put("pyproject.toml", "[tool.tfgitops]\n")
    put(PROD / "environment.yaml", HEAD + TRAIN)
    return tmp_path


@pytest.fixture
def built(root: Path) -> Path:
    """Build two jobs, so that one can be taken away."""
    put(PROD / "environment.yaml", HEAD + TWO)
    assert run("build").exit_code == 0
    return root


# --- build: what is written --------------------------------------------------------------------------------------


def test_first_build_creates_the_manifests_and_says_so() -> None:
    result = run("build")
    assert result.exit_code == 0
    assert result.stdout == f"created  {MANIFEST}\n{PROD}: 1 job, 1 manifest: 1 file changed\n"
    assert result.stderr == ""
    assert MANIFEST.exists()


def test_second_build_changes_nothing_and_says_so(built: Path) -> None:
    before = tree()
    result = run("build")
    assert result.exit_code == 0
    assert result.stdout == f"{PROD}: 2 jobs, 2 manifests: nothing changed\n"
    assert tree() == before


def test_only_what_changed_is_written(built: Path) -> None:
    before = OTHER.stat().st_mtime_ns
    edit(PROD / "environment.yaml", "worker: 2", "worker: 3")
    result = run("build")
    assert result.stdout == f"updated  {MANIFEST}\n{PROD}: 2 jobs, 2 manifests: 1 file changed\n"
    assert OTHER.stat().st_mtime_ns == before


@pytest.mark.parametrize("path", ["environments", "environments/", PROD, f"./{PROD}", PROD / "environment.yaml"])
def test_path_may_be_an_environment_its_file_or_a_folder_of_environments(path: str | Path) -> None:
    assert run("build", path).exit_code == 0
    assert MANIFEST.exists()


def test_an_environment_that_is_named_twice_is_compiled_once() -> None:
    result = run("build", "environments", PROD, PROD / "environment.yaml")
    assert result.stdout.count("1 job, 1 manifest") == 1


def test_build_inside_an_environment_shows_short_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROD)
    assert "manifests/workloads/job-train.yaml" in run("build", ".").stdout
    assert "environments" not in run("build", "--check", ".").stdout


def test_a_bad_environment_does_not_block_a_good_one() -> None:
    put("environments/dev/environment.yaml", HEAD + "jobs:\n  train: {imgae: tf, worker: 2}\n")
    result = run("build")
    assert result.exit_code == 1
    assert "unknown key 'imgae'" in result.stderr
    assert "environments/dev: nothing written" in result.stdout
    assert not Path("environments/dev/manifests").exists()
    assert MANIFEST.exists()


def test_a_bad_spec_keeps_the_manifests_that_are_there(built: Path) -> None:
    before = tree(PROD / "manifests")
    put(PROD / "environment.yaml", HEAD + "jobs:\n  train: {worker: 2}\n")
    result = run("build")
    assert result.exit_code == 1
    assert f"{PROD}: nothing written" in result.stdout
    assert tree(PROD / "manifests") == before


def test_long_lists_are_cut_unless_verbose() -> None:
    jobs = "".join(f"  train-{index}: {{image: tf, worker: 1}}\n" for index in range(50))
    put(PROD / "environment.yaml", f"{HEAD}jobs:\n{jobs}")
    stdout = run("build").stdout
    assert stdout.count("created  ") == 40
    assert "… and 10 more (-v lists all)\n" in stdout
    edit(PROD / "environment.yaml", "image: tf", "image: other")
    assert run("build", "-v").stdout.count("updated  ") == 50


def test_quiet_build_says_nothing_but_problems() -> None:
    assert run("build", "-q").output == ""
    edit(PROD / "environment.yaml", "image", "imgae")
    result = run("build", "-q")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "unknown key 'imgae'" in result.stderr


def test_manifests_are_readable_by_all_whatever_the_umask() -> None:
    before = os.umask(0o077)
    try:
        run("build")
    finally:
        os.umask(before)
    assert MANIFEST.stat().st_mode & 0o777 == 0o644


# --- build --check: five ways to differ --------------------------------------------------------------------------

Change = Callable[[], object]

DIFFERENCES: dict[str, tuple[Change, Path, str]] = {
    "stale": (lambda: edit(PROD / "environment.yaml", "worker: 2", "worker: 3"), MANIFEST, "updated"),
    "edited": (lambda: edit(MANIFEST, "replicas: 2", "replicas: 9"), MANIFEST, "restored"),
    "orphan": (lambda: put(PROD / "environment.yaml", HEAD + TRAIN), OTHER, "removed"),
    "missing": (MANIFEST.unlink, MANIFEST, "created"),
}


@pytest.mark.parametrize("word", DIFFERENCES)
def test_check_tells_the_differences_apart_and_writes_nothing(word: str, built: Path) -> None:
    change, path, _ = DIFFERENCES[word]
    change()
    before = tree()
    result = run("build", "--check")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[0] == f"{word}  {path}"
    assert result.stdout.splitlines()[1:] == [result.stdout.splitlines()[-1]], "one line for the file, one in all"
    assert "1 file not as compiled; run `tfgitops build`" in result.stdout
    assert tree() == before


@pytest.mark.parametrize("word", DIFFERENCES)
def test_build_mends_each_difference_and_says_what_it_did(word: str, built: Path) -> None:
    change, path, done = DIFFERENCES[word]
    change()
    result = run("build")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == f"{done}  {path}"
    assert run("build", "--check").exit_code == 0


def test_check_of_what_was_just_built_is_fine(built: Path) -> None:
    before = tree()
    result = run("build", "--check")
    assert (result.exit_code, result.stdout) == (0, f"{PROD}: 2 jobs, 2 manifests: up to date\n")
    assert tree() == before


def test_quiet_check_lists_the_differences_alone(built: Path) -> None:
    MANIFEST.unlink()
    assert run("build", "--check", "-q").stdout == f"missing  {MANIFEST}\n"


def test_check_lists_every_difference_however_many() -> None:
    jobs = "".join(f"  train-{index}: {{image: tf, worker: 1}}\n" for index in range(50))
    put(PROD / "environment.yaml", f"{HEAD}jobs:\n{jobs}")
    assert run("build", "--check").stdout.count("missing  ") == 50


@pytest.mark.parametrize(
    ("old", "new"),
    [("worker: 2", "worker: 3"), (TWO, TRAIN.replace("train", "another"))],
    ids=["stale", "orphan"],
)
def test_edited_wins_over_stale_and_orphan(old: str, new: str, built: Path) -> None:
    edit(PROD / "environment.yaml", old, new)
    edit(MANIFEST, "replicas: 2", "replicas: 9")
    assert f"edited  {MANIFEST}\n" in run("build", "--check").stdout


def test_an_edited_orphan_is_removed(built: Path) -> None:
    edit(OTHER, "tf:2.21", "tf:2.22")
    put(PROD / "environment.yaml", HEAD + TRAIN)
    assert f"removed  {OTHER}\n" in run("build").stdout
    assert not OTHER.exists()


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace("sha256:", "sha256:0", 1),
        lambda text: text.replace("\n# sha256:", "\n\n# sha256:", 1),
        lambda text: text + "# a remark\n",
        lambda text: text.removesuffix("\n"),
    ],
    ids=["digest", "blank line", "remark at the end", "no end of line"],
)
def test_any_other_byte_below_the_first_line_is_an_edit(damage: Callable[[str], str], built: Path) -> None:
    MANIFEST.write_text(damage(MANIFEST.read_text(encoding="utf-8")), encoding="utf-8")
    assert f"edited  {MANIFEST}\n" in run("build", "--check").stdout


def test_an_emptied_manifest_is_not_taken_for_somebody_elses(built: Path) -> None:
    """Nothing of it is ours any more, so it is in the way; it is named, and not overwritten."""
    MANIFEST.write_text("")
    result = run("build")
    assert result.exit_code == 1
    assert str(MANIFEST) in result.stderr
    assert MANIFEST.read_text(encoding="utf-8") == ""


def test_crlf_changes_nothing(built: Path) -> None:
    MANIFEST.write_bytes(MANIFEST.read_bytes().replace(b"\n", b"\r\n"))
    before = tree()
    assert run("build", "--check").exit_code == 0
    assert "nothing changed" in run("build").stdout
    assert tree() == before


# --- files of others ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["stray.yaml", "stray.yml", "stray.json", "workloads/stray.yaml", "deep/er/stray.yaml"]
)
def test_foreign_files_fail_the_check_and_are_never_touched(name: str, built: Path) -> None:
    stray = put(PROD / "manifests" / name, "kind: ConfigMap\n")
    before = stray.stat()
    result = run("build", "--check")
    assert (result.exit_code, result.stdout.splitlines()[0]) == (1, f"foreign  {stray}")
    result = run("build")
    assert result.exit_code == 0
    assert f"foreign  {stray}\n" in result.stdout
    assert "1 foreign file left alone" in result.stdout
    assert (stray.read_text(encoding="utf-8"), stray.stat().st_mtime_ns) == ("kind: ConfigMap\n", before.st_mtime_ns)


def test_a_foreign_file_that_is_no_text_is_foreign_too(built: Path) -> None:
    stray = PROD / "manifests" / "stray.yaml"
    stray.write_bytes(b"\xff\xfe\0")
    assert f"foreign  {stray}\n" in run("build", "--check").stdout


@pytest.mark.parametrize("name", ["README.md", "workloads/notes.txt", "OWNERS"])
def test_files_that_no_controller_applies_do_not_count(name: str, built: Path) -> None:
    note = put(PROD / "manifests" / name, "a note\n")
    assert run("build", "--check").exit_code == 0
    assert run("build").exit_code == 0
    assert note.exists()


def test_a_foreign_file_in_the_way_is_an_error() -> None:
    put(MANIFEST, "kind: ConfigMap\n")
    for command in (("build",), ("build", "--check")):
        result = run(*command)
        assert result.exit_code == 1
        assert "error[TF601]" in result.stderr
        assert str(MANIFEST) in result.stderr
        assert MANIFEST.read_text(encoding="utf-8") == "kind: ConfigMap\n"


def test_a_folder_in_the_way_is_an_error() -> None:
    MANIFEST.mkdir(parents=True)
    result = run("build")
    assert result.exit_code == 1
    assert "error[TF601]" in result.stderr
    assert f"{PROD}: nothing written" in result.stdout


@pytest.mark.parametrize("link", [PROD / "manifests", WORKLOADS, MANIFEST], ids=["top", "folder", "file"])
def test_nothing_is_written_through_a_link(link: Path) -> None:
    target = Path("elsewhere")
    if link == MANIFEST:
        put(target, "precious\n")
    else:
        put(target / "precious.txt", "precious\n")
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(target.resolve())
    before = tree()
    result = run("build")
    assert result.exit_code == 1
    assert "error[TF601]" in result.stderr
    assert str(link) in result.stderr
    assert tree() == before


def test_a_link_among_the_manifests_is_foreign(built: Path) -> None:
    link = WORKLOADS / "linked.yaml"
    link.symlink_to(MANIFEST.resolve())
    assert f"foreign  {link}\n" in run("build", "--check").stdout
    run("build")
    assert link.is_symlink()


# --- environments that went away ---------------------------------------------------------------------------------


def test_manifests_of_a_folder_that_lost_its_spec_are_orphans(built: Path) -> None:
    put("environments/dev/environment.yaml", HEAD + TRAIN)
    (PROD / "environment.yaml").unlink()
    result = run("build", "--check")
    assert result.exit_code == 1
    assert {f"orphan  {MANIFEST}", f"orphan  {OTHER}"} <= set(result.stdout.splitlines())
    run("build")
    assert not (PROD / "manifests").exists()


def test_orphans_elsewhere_are_left_alone_when_one_environment_is_named(built: Path) -> None:
    put("environments/dev/environment.yaml", HEAD + TRAIN)
    (PROD / "environment.yaml").unlink()
    assert run("build", "environments/dev").exit_code == 0
    assert MANIFEST.exists()


def test_foreign_files_of_a_folder_that_lost_its_spec_stay(built: Path) -> None:
    put("environments/dev/environment.yaml", HEAD + TRAIN)
    stray = put(WORKLOADS / "stray.yaml", "kind: ConfigMap\n")
    (PROD / "environment.yaml").unlink()
    run("build")
    assert not MANIFEST.exists()
    assert stray.exists()


# --- one owner ---------------------------------------------------------------------------------------------------


def two_owners(*clusters: str) -> None:
    put(PROD / "environment.yaml", f"{HEAD}cluster: {clusters[0]}\nqueues: {{vision: {{}}}}\n{TRAIN}")
    other = HEAD.replace("namespace: ml", "namespace: lab")
    put("environments/lab/environment.yaml", f"{other}cluster: {clusters[1]}\nqueues: {{vision: {{}}}}\n{TRAIN}")


def test_two_environments_that_write_one_object_of_a_cluster_are_refused() -> None:
    two_owners("eu-1", "eu-1")
    result = run("build")
    assert result.exit_code == 1
    assert "error[TF404]" in result.stderr
    assert "environments/lab/environment.yaml:5:10" in result.stderr
    assert "environments/prod/environment.yaml:5:10" in result.stderr


def test_neither_of_two_owners_is_written() -> None:
    """Else the object would be in Git twice, were it the second that had it first."""
    two_owners("eu-1", "eu-1")
    run("build")
    assert list(Path().rglob("manifests")) == []


def test_the_same_queue_in_two_clusters_is_two_queues() -> None:
    two_owners("eu-1", "us-1")
    assert run("build").exit_code == 0


def test_environments_of_two_roots_need_two_calls() -> None:
    put("second/pyproject.toml", "[tool.tfgitops]\n")
    put("second/environments/dev/environment.yaml", HEAD + TRAIN)
    result = run("build", "environments", "second/environments")
    assert result.exit_code == 1
    assert "more than one root" in result.stderr
    assert not MANIFEST.exists()


# --- faults while writing ----------------------------------------------------------------------------------------


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
def waiting_build() -> Iterator[subprocess.Popen[str]]:
    """Start a build that comes second, and wait until it says so."""
    with subprocess.Popen([PROGRAM, "build"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
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


# --- build --stdout ----------------------------------------------------------------------------------------------


def test_stdout_has_all_manifests_those_of_the_cluster_first_and_writes_nothing() -> None:
    put(PROD / "environment.yaml", f"{HEAD}kustomization: true\n{QUEUES}volumes: {{data: {{size: 1Gi}}}}\n{TRAIN}")
    before = tree()
    result = run("build", "--stdout")
    assert (result.exit_code, result.stderr) == (0, "")
    found = [(document["kind"], document["metadata"]["name"]) for document in yaml.safe_load_all(result.stdout)]
    assert found[:2] == [("Queue", "vision"), ("Queue", "text")]
    assert [kind for kind, _ in found[2:]] == ["Job", "PersistentVolumeClaim"]
    assert result.stdout.count("\n---\n") == len(found) - 1
    assert tree() == before


def test_stdout_is_what_build_writes(built: Path) -> None:
    files = [path.read_text(encoding="utf-8") for path in sorted(WORKLOADS.iterdir())]
    assert run("build", "--stdout").stdout == "---\n".join(files)


def test_stdout_of_a_bad_spec_is_empty() -> None:
    edit(PROD / "environment.yaml", "image", "imgae")
    result = run("build", "--stdout")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "unknown key 'imgae'" in result.stderr


def test_a_reader_that_goes_away_ends_it_quietly() -> None:
    jobs = "".join(f"  train-{index}: {{image: tf, worker: 4}}\n" for index in range(100))
    put(PROD / "environment.yaml", f"{HEAD}jobs:\n{jobs}")
    with subprocess.Popen(
        [PROGRAM, "build", "--stdout"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith("# Generated by tfgitops")
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(timeout=20) == 0


# --- diagnostics -------------------------------------------------------------------------------------------------


def test_json_has_one_form_with_problems_and_without() -> None:
    result = run("build", "--format", "json")
    assert result.exit_code == 0
    assert json.loads(result.stdout) == {
        "version": 1, "problems": [], "files": [{"state": "created", "path": str(MANIFEST)}],
    }  # fmt: skip
    edit(PROD / "environment.yaml", "image", "imgae")
    result = run("build", "--format", "json")
    assert (result.exit_code, result.stderr) == (1, "")
    [problem] = json.loads(result.stdout)["problems"]
    assert problem == {
        "code": "TF201", "severity": "error", "message": "unknown key 'imgae'",
        "file": f"{PROD}/environment.yaml", "line": 5, "column": 11,
        "found": "", "expected": "", "hint": "did you mean 'image'?", "notes": [],
    }  # fmt: skip


def test_json_of_a_check_names_the_files_that_differ(built: Path) -> None:
    MANIFEST.unlink()
    result = run("build", "--check", "--format", "json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["files"] == [{"state": "missing", "path": str(MANIFEST)}]


@pytest.mark.parametrize("command", ["build", "validate"])
def test_json_of_a_path_that_is_not_there_is_json(command: str) -> None:
    result = run(command, "nowhere", "--format", "json")
    assert result.exit_code == 1
    [problem] = json.loads(result.stdout)["problems"]
    assert (problem["code"], problem["file"], problem["line"]) == ("TF101", None, None)


def test_all_problems_of_all_environments_are_shown_at_once_sorted_by_place() -> None:
    put(PROD / "environment.yaml", f"{HEAD}nonsense: 1\njobs:\n  train: {{imgae: tf, wroker: 2}}\n")
    put("environments/dev/environment.yaml", HEAD + "jobs:\n  train: {image: TF, worker: two}\n")
    stderr = run("build").stderr
    places = [line.split()[-1] for line in stderr.splitlines() if line.strip().startswith("-->")]
    assert places == [
        "environments/dev/environment.yaml:5:18",
        "environments/dev/environment.yaml:5:30",
        "environments/prod/environment.yaml:4:1",
        "environments/prod/environment.yaml:6:11",
        "environments/prod/environment.yaml:6:22",
    ]
    assert stderr.endswith("\n\n5 errors\n")


def test_warnings_do_not_fail_unless_strict() -> None:
    edit(PROD / "environment.yaml", "worker: 2", "worker: {memory: 1k}")
    for command in ("build", "validate"):
        strict = run(command, "--strict")
        assert strict.exit_code == 1
        assert "error[TF502]" in strict.stderr
        assert not MANIFEST.exists()
    result = run("build")
    assert result.exit_code == 0
    assert "warning[TF502]" in result.stderr
    assert result.stderr.endswith("\n1 warning\n")
    assert MANIFEST.exists()


@pytest.mark.parametrize(
    ("arguments", "environment", "coloured"),
    [
        ((), {}, False),
        ((), {"FORCE_COLOR": "1"}, True),
        ((), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (("--no-color",), {"FORCE_COLOR": "1"}, False),
    ],
)
def test_colours_are_for_terminals_and_for_those_who_ask(
    arguments: tuple[str, ...], environment: dict[str, str], *, coloured: bool
) -> None:
    edit(PROD / "environment.yaml", "image", "imgae")
    for command in ("build", "validate"):
        assert ("\x1b[" in run(command, *arguments, **environment).stderr) is coloured
    assert ("\x1b[" in run("build", "nowhere", *arguments, **environment).stderr) is coloured


def test_escape_sequences_of_a_spec_do_not_reach_the_terminal() -> None:
    put(PROD / "environment.yaml", HEAD + 'jobs:\n  "\\e[31mred": {image: tf, worker: 1, "\\a": 1}\n')
    result = run("build")
    assert result.exit_code == 1
    assert "\x1b" not in result.output
    assert "\a" not in result.output


# --- the command line itself -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ("--nonsense",), ("nonsense",), ("build", "--nonsense"), ("build", "--format", "xml"), ("schema", "nonsense"),
        ("build", "--check", "--stdout"), ("build", "--stdout", "--format", "json"), ("validate", "--check"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_wrong_command_line_is_2_and_writes_nothing(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Usage:" in result.stderr
    assert "Traceback" not in result.output
    assert not MANIFEST.exists()


@pytest.mark.parametrize("command", [*COMMANDS, "plugins new", "plugins test", "pin environments/prod", "--version"])
@pytest.mark.parametrize("empty", [("",), ("--format=",), ("--", ""), (PROD, "")])
def test_an_empty_argument_is_2_and_not_the_folder_that_one_is_in(command: str, empty: tuple[str | Path, ...]) -> None:
    before = tree()
    result = run(*command.split(), *empty)
    assert result.exit_code == 2
    assert "an argument is empty" in result.stderr
    assert tree() == before


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nowhere", "nowhere is not there"),
        ("empty", "no environment is below empty"),
        ("folded", "folded/environment.yaml is a folder"),
        ("pyproject.toml", "pyproject.toml is not an environment"),
        ("", "is not there"),
    ],
)
@pytest.mark.parametrize("command", ["build", "validate", "lock"])
def test_a_path_without_environment_is_1(command: str, path: str, message: str) -> None:
    Path("empty").mkdir()
    Path("folded/environment.yaml").mkdir(parents=True)
    if path == "":
        (PROD / "environment.yaml").unlink()
        PROD.rmdir()
        Path("environments").rmdir()
    result = run(command, *([path] if path else []))
    assert result.exit_code == 1
    assert message in result.stderr
    assert "error[TF101]" in result.stderr


def test_version_names_the_plugins() -> None:
    result = run("--version")
    assert result.exit_code == 0
    assert result.stdout.startswith(f"tfgitops {__version__} ")
    for plugin in ("gpu", "nodes", "policy", "queue", "storage"):
        assert plugin in result.stdout


@pytest.mark.parametrize("command", [*COMMANDS, "plugins list", "plugins new", "plugins test"])
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_every_help_has_an_example_and_the_exit_codes(command: str, option: str) -> None:
    result = run(*command.split(), option)
    assert result.exit_code == 0
    words = " ".join(result.stdout.split())
    assert f"Example: tfgitops {command}" in words
    assert "Exit codes: 0 fine, 1 problems" in words


def test_a_bug_of_ours_is_3_and_shows_where(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("tfgitops.cli.common.compile_all", fail)
    result = run("build")
    assert result.exit_code == 3
    assert "RuntimeError: a bug" in result.stderr
    assert "this is a bug of tfgitops" in result.stderr


# --- validate ----------------------------------------------------------------------------------------------------


def test_validate_makes_every_check_and_writes_nothing() -> None:
    put("environments/dev/environment.yaml", HEAD + "jobs:\n  train: {image: tf, queue: nowhere, worker: 2}\n")
    before = tree()
    result = run("validate")
    assert result.exit_code == 1
    assert "error[QUEUE01]" in result.stderr
    assert result.stdout == "environments/dev: not valid\nenvironments/prod: valid\n"
    assert tree() == before
    assert run("validate", PROD).exit_code == 0
    assert run("validate", PROD, "-q").output == ""


def test_validate_does_not_mind_stale_manifests(built: Path) -> None:
    edit(PROD / "environment.yaml", "worker: 2", "worker: 3")
    assert run("validate").exit_code == 0


# --- schema ------------------------------------------------------------------------------------------------------


def test_schema_accepts_a_spec_and_knows_its_keys() -> None:
    result = run("schema")
    assert (result.exit_code, result.stderr) == (0, "")
    schema = json.loads(result.stdout)
    Draft202012Validator.check_schema(schema)
    judge = Draft202012Validator(schema)
    assert judge.is_valid(yaml.safe_load(HEAD + QUEUES + TRAIN))
    assert not judge.is_valid(yaml.safe_load(HEAD + TRAIN.replace("image", "imgae")))


def test_schema_of_a_job_file_accepts_a_job() -> None:
    schema = json.loads(run("schema", "job").stdout)
    judge = Draft202012Validator(schema)
    assert judge.is_valid({"image": "tf", "worker": {"replicas": 2, "gpu": 1}, "queue": "vision"})
    assert not judge.is_valid({"image": "tf", "wroker": 2})


def test_schema_is_written_to_a_file() -> None:
    result = run("schema", "-o", "environment.schema.json")
    assert (result.exit_code, result.output) == (0, "")
    assert Path("environment.schema.json").read_text(encoding="utf-8") == run("schema").stdout
    assert run("schema", "-o", "nowhere/environment.schema.json").exit_code == 1


def test_schema_knows_nothing_of_a_plugin_that_is_left_out() -> None:
    assert '"queues"' in run("schema").stdout
    assert '"queues"' not in run("schema", "--no-plugin", "queue").stdout


# --- lock --------------------------------------------------------------------------------------------------------

LOCK = Path("tfgitops.lock")


def test_lock_records_the_versions_and_nothing_else() -> None:
    result = run("lock")
    assert result.exit_code == 0
    assert "tfgitops.lock" in result.stdout
    lines = [line for line in LOCK.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    assert lines == [f'{name} = "{__version__}"' for name in ("tfgitops", "gpu", "nodes", "policy", "queue", "storage")]
    before = LOCK.read_bytes()
    run("lock")
    assert LOCK.read_bytes() == before


def test_build_never_writes_the_lock() -> None:
    run("build")
    assert not LOCK.exists()
    put(LOCK, 'tfgitops = "0.0.1"\n')
    run("build")
    assert LOCK.read_text(encoding="utf-8") == 'tfgitops = "0.0.1"\n'


def test_locked_refuses_without_a_lock() -> None:
    result = run("build", "--locked")
    assert result.exit_code == 1
    assert "error[TF603]" in result.stderr
    assert "tfgitops lock" in result.stderr
    assert not MANIFEST.exists()


def test_locked_builds_with_the_versions_of_the_lock() -> None:
    run("lock")
    result = run("build", "--locked")
    assert (result.exit_code, result.stderr) == (0, "")
    assert MANIFEST.exists()


def test_locked_refuses_before_anything_is_shown_or_removed(built: Path) -> None:
    put("environments/dev/environment.yaml", HEAD + TRAIN)
    (PROD / "environment.yaml").unlink()
    result = run("build", "--locked", "--stdout")
    assert (result.exit_code, result.stdout) == (1, "")
    assert run("build", "--locked").exit_code == 1
    assert MANIFEST.exists()


LOCKS = {
    "the compiler is": ('tfgitops = "{version}"', 'tfgitops = "0.0.1"'),
    "written by a newer compiler: 999.0.0": ('tfgitops = "{version}"', 'tfgitops = "999.0.0"'),
    "plugin 'gpu' is": ('gpu = "{version}"', 'gpu = "0.0.1"'),
    "plugin 'cost', 1.0 in tfgitops.lock, is not installed": ('gpu = "{version}"', 'gpu = "{version}"\ncost = "1.0"'),
    "plugin 'gpu' {version} is not in tfgitops.lock": ('gpu = "{version}"\n', ""),
}


@pytest.mark.parametrize("message", LOCKS)
def test_versions_that_differ_are_told_and_refused_by_locked(message: str) -> None:
    run("lock")
    old, new = (part.format(version=__version__) for part in LOCKS[message])
    edit(LOCK, old, new)
    locked = run("build", "--locked")
    assert locked.exit_code == 1
    assert locked.stderr.count("error[TF603]") == 1
    assert message.format(version=__version__) in locked.stderr
    assert not MANIFEST.exists()
    free = run("build")
    assert free.exit_code == 0
    assert "warning[TF603]" in free.stderr
    assert MANIFEST.exists()


def test_locked_runs_no_line_of_a_local_plugin_that_is_not_the_one_of_the_lock() -> None:
    put(PROD / "environment.yaml", HEAD + TRAIN)
    put("pyproject.toml", "[tool.tfgitops]\nplugins = ['plugins/mine.py']\n")
    plugin = put("plugins/mine.py", "tfgitops_api = 1\n")
    assert run("lock").exit_code == 0
    assert run("build", "--locked").exit_code == 0
    plugin.write_text("tfgitops_api = 1\nopen('it-ran', 'w').close()\n", encoding="utf-8")
    result = run("build", "--locked")
    assert result.exit_code == 1
    assert "error[TF603]: plugin 'mine' is sha256:" in result.stderr
    assert not Path("it-ran").exists()
    plugin.unlink()
    assert "error[TF603]: plugin 'mine'" in run("build", "--locked").stderr
    Path("tfgitops.lock").unlink()
    assert "there is no tfgitops.lock" in run("build", "--locked").stderr


def test_a_lock_that_is_not_toml_is_told() -> None:
    put(LOCK, "<<<<<<< HEAD\n")
    for command in (("build",), ("build", "--locked")):
        result = run(*command)
        assert result.exit_code == 1
        assert "tfgitops.lock cannot be read" in result.stderr
        assert "Traceback" not in result.stderr


# --- the real program --------------------------------------------------------------------------------------------


def program(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=60, check=False)


def test_the_program_builds_and_checks() -> None:
    first = program("build")
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout == f"created  {MANIFEST}\n{PROD}: 1 job, 1 manifest: 1 file changed\n"
    assert program("build", "--check").returncode == 0
    MANIFEST.unlink()
    assert program("build", "--check").returncode == 1


def test_the_program_puts_problems_on_standard_error() -> None:
    edit(PROD / "environment.yaml", "image", "imgae")
    result = program("build")
    assert result.returncode == 1
    assert result.stderr.startswith("error[TF201]: unknown key 'imgae'\n")
    assert result.stdout == f"{PROD}: nothing written\n"
    assert program("build", "--nonsense").returncode == 2


def test_the_program_survives_a_terminal_that_knows_ascii_only() -> None:
    put(PROD / "environment.yaml", HEAD + "jobs:\n  träin: {image: tf, worker: 2}\n")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"}
    result = subprocess.run([PROGRAM, "build"], capture_output=True, text=True, env=environment, check=False)
    assert result.returncode == 1
    assert "Traceback" not in result.stderr


# --- what stands in the way --------------------------------------------------------------------------------------


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
