"""What an attacker, a user's settings or another program leaves in the way is told in a line, and changes nothing."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from commandline import run
from plugged import HEAD as PLUGIN
from workspace import HEAD, MANIFEST, OTHER, PROD, PROGRAM, TRAIN, TWO, WORKLOADS, edit, put

if TYPE_CHECKING:
    from repository import Repository

SPEC = PROD / "environment.yaml"
VERSIONS = {"superscript": '"²"', "5,000 digits": f'"{"9" * 5000}"', "parts": '"1..2.³.9999999999999"', "none": '""'}


@pytest.mark.parametrize("version", VERSIONS.values(), ids=VERSIONS)
def test_a_lock_may_say_any_text_as_a_version(version: str) -> None:
    put("tfgitops.lock", f"tfgitops = {version}\n")
    result = run("build", "--check")
    assert "TF603" in result.stderr
    assert (result.exit_code, "Traceback" in result.stderr) == (1, False)


@pytest.mark.parametrize("command", ["validate", "build", "build --locked", "review", "lock", "plugins list"])
def test_a_plugin_whose_name_no_file_has_is_told(command: str) -> None:
    put("pyproject.toml", '[tool.tfgitops]\nplugins = ["a\\u0000b"]\n')
    result = run(*command.split())
    assert "[tool.tfgitops] plugins must be a list of files" in result.stderr + result.stdout
    assert result.exit_code == 1


def test_a_fault_halfway_tells_what_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    put(SPEC, HEAD + TWO)
    replace, calls = os.replace, list[str]()

    def fail_second(source: str, target: str) -> None:
        calls.append(target)
        if len(calls) == 2:
            raise OSError(28, "No space left on device", target)
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail_second)
    result = run("build")
    assert result.stdout.splitlines() == [f"created  {OTHER}", f"{PROD}: stopped when 1 of 2 files were written"]
    assert [str(path) for path in WORKLOADS.iterdir()] == [str(OTHER)]


def test_a_manifest_with_both_sides_of_a_merge_is_ours_and_built_anew(built: Path) -> None:
    text = MANIFEST.read_text()
    MANIFEST.write_text(f"<<<<<<< HEAD\n{text}=======\n{text.replace('2.21', '2.20')}>>>>>>> theirs\n")
    assert run("build", "--check").stdout.splitlines()[0] == f"edited  {MANIFEST}"
    assert run("build").stdout.splitlines()[0] == f"restored  {MANIFEST}"
    assert MANIFEST.read_text() == text


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _link(path: Path) -> None:
    path.symlink_to(Path("precious").absolute())


def _hard_link(path: Path) -> None:
    path.hardlink_to("precious")


@pytest.mark.parametrize("make", [_pipe, _link, _hard_link])
def test_what_has_the_name_of_a_temporary_file_is_neither_opened_nor_waited_for(make: Any, built: Path) -> None:
    put("precious", "mine")
    make(WORKLOADS / ".tfgitops-job-train.yaml.tmp")
    edit(SPEC, "worker: 2", "worker: 3")
    done = subprocess.run([PROGRAM, "build"], capture_output=True, text=True, timeout=30, check=True)
    assert f"updated  {MANIFEST}" in done.stdout
    assert MANIFEST.is_file()
    assert not MANIFEST.is_symlink()
    assert Path("precious").read_text() == "mine"
    checked = run("build", "--check")
    assert checked.exit_code == 1
    assert checked.stdout.count("foreign  ") == 1


def test_folders_are_for_all_to_read_like_the_files_whatever_the_umask() -> None:
    before = os.umask(0o077)
    try:
        assert run("build").exit_code == 0
    finally:
        os.umask(before)
    modes = {oct(path.stat().st_mode & 0o777) for path in (PROD / "manifests", WORKLOADS)}
    assert (modes, oct(MANIFEST.stat().st_mode & 0o777)) == ({"0o755"}, "0o644")


@pytest.mark.parametrize("module", ["tfgitops.cli", "typer", "tfgitops.cli.validate", "ruamel.yaml"])
def test_ctrl_c_during_start_up_shows_no_traceback(module: str, tmp_path: Path) -> None:
    interrupting = f"""
        import sys
        class Finder:
            def find_spec(self, name, path=None, target=None):
                if name == {module!r}:
                    raise KeyboardInterrupt
        sys.meta_path.insert(0, Finder())
        from tfgitops.__main__ import main
        sys.argv = ["tfgitops", "validate"]
        main()
    """
    script = put("start.py", re.sub(r"^ {8}", "", interrupting, flags=re.MULTILINE))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (130, False)
    assert done.stderr == f"interrupted{'; what was written is whole' * (module == 'ruamel.yaml')}\n"


ENDS = {"exit": "os._exit(0)", "exec": "os.execv('/bin/true', ['true'])", "execlp": "os.execlp('true', 'true')"}


@pytest.mark.parametrize("when", ["import", "hook"])
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_a_plugin_cannot_end_the_compiler_by_accident(end: str, when: str) -> None:
    hook = "@hookimpl\ndef tfgitops_check_environment(environment):\n    "
    put("end.py", f"import os\n{PLUGIN}{hook if when == 'hook' else ''}{end}\n")
    put("pyproject.toml", '[tool.tfgitops]\nplugins = ["end.py"]\n')
    done = subprocess.run([PROGRAM, "build", "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "plugin 'end' local" in done.stderr
    assert "would end the compiler" in done.stderr


def test_a_child_of_a_plugin_may_end(tmp_path: Path) -> None:
    body = "\n    if os.fork() == 0:\n        os._exit(0)\n    os.wait()\n    return []\n"
    put("end.py", f"import os\n{PLUGIN}@hookimpl\ndef tfgitops_check_environment(environment):{body}")
    put("pyproject.toml", '[tool.tfgitops]\nplugins = ["end.py"]\n')
    done = subprocess.run([PROGRAM, "build"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.count("1 job, 1 manifest")) == (0, 1), done.stderr


def test_queues_nested_3000_deep_are_told_at_their_line() -> None:
    queues = "".join(f"  q{n}: {{parent: q{n - 1}}}\n" for n in range(1, 3000))
    put(SPEC, f"{HEAD}queues:\n  q0: {{}}\n{queues}{TRAIN}")
    result = run("validate")
    assert result.exit_code == 1
    assert "TF90" not in result.stderr
    assert "QUEUE08" in result.stderr
    assert len(result.stderr) < 10_000


@pytest.mark.parametrize("kind", ["", ", external: true"])
@pytest.mark.parametrize("first", ["{}", "{parent: q9998}"], ids=["chain", "circle"])
def test_10000_queues_one_below_the_other_are_refused(first: str, kind: str) -> None:
    queues = "".join(f"  q{n}: {{parent: q{n - 1}{kind}}}\n" for n in range(1, 9999))
    put(SPEC, f"{HEAD}queues:\n  q0: {first}\n{queues}{TRAIN}")
    result = run("validate")
    assert result.exit_code == 1
    assert "QUEUE08" in result.stderr
    assert result.stderr.count("error[") < 200


SETTINGS = {
    "log.showSignature": "true", "log.follow": "true", "log.showRoot": "false", "diff.relative": "true",
    "color.ui": "always", "color.diff": "always", "core.quotePath": "true", "log.date": "relative",
    "log.decorate": "full", "diff.renames": "copies", "diff.noprefix": "true", "format.pretty": "fuller",
}  # fmt: skip


def _sign(repository: Repository) -> None:
    """Give HEAD a signature that nobody can check."""
    commit = repository.git("cat-file", "commit", "HEAD")
    head, _, message = commit.partition("\n\n")
    signed = f"{head}\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n aaaa\n -----END PGP SIGNATURE-----\n\n{message}"
    put("commit", signed)
    made = repository.git("hash-object", "-t", "commit", "-w", "--literally", "commit").strip()
    Path("commit").unlink()
    repository.git("reset", "--quiet", "--hard", made)
    repository.git("branch", "--force", "main", made)


def test_no_setting_of_git_changes_a_review(repository: Repository) -> None:
    _sign(repository)
    repository.prod(("LR: 0.1", "LR: 0.2"), ("  shards:", "  gone:"))
    repository.base(("tf:2.21", "tf:2.22"))
    expected = repository.review("--format", "json").stdout, repository.review().stdout, run("build").output
    for key, value in SETTINGS.items():
        repository.git("config", key, value)
    assert (repository.review("--format", "json").stdout, repository.review().stdout, run("build").output) == expected


def test_a_changed_digest_of_a_block_in_the_headers_of_head_does_not_silence_the_guard(repository: Repository) -> None:
    for path in sorted((repository.top / "environments/prod/manifests/workloads").glob("job-*.yaml")):
        path.write_text(re.sub(r" own \w+", " own 01234567", path.read_text(), count=1))
    repository.commit("forged")
    repository.base(("tf:2.21", "tf:2.22"))
    result = run("build")
    assert "would restart 3 trainings of environments/prod that nobody changed" in result.stderr
    assert "nothing written" in result.stdout


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_in_a_shallow_clone_such_a_digest_does_not_silence_the_guard(
    depth: int, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in sorted((repository.top / "environments/prod/manifests/workloads").glob("job-*.yaml")):
        path.write_text(re.sub(r" own \w+", " own 01234567", path.read_text(), count=1))
    repository.commit("forged")
    repository.commit("another")
    clone = repository.top.parent / f"{repository.top.name}-{depth}"
    repository.git("clone", "--quiet", f"--depth={depth}", f"file://{repository.top}", str(clone))
    monkeypatch.chdir(clone)
    edit(Path("environments/base.yaml"), "tf:2.21", "tf:2.22")
    result = run("build")
    if depth == 3:
        assert "would restart 3 trainings of environments/prod that nobody changed" in result.stderr
    else:
        assert "warning[TF604]: this clone is shallow" in result.stderr
        assert "changed bert, resnet, shards" in result.stderr
    assert ("updated" in result.stdout) is (depth < 3)


def test_a_spec_that_was_committed_before_its_build_asks_nothing(repository: Repository) -> None:
    repository.prod(("LR: 0.1", "LR: 0.2"))
    repository.commit("the spec")
    repository.build()
    repository.commit("the manifests")
    assert run("build", "--check").exit_code == 0


WHOLE = {
    "TF102": lambda path: path.write_bytes(b"\xff\xfea\0"),
    "TF106": lambda path: path.write_bytes(b"#" * ((16 << 20) + 1)),
}


@pytest.mark.parametrize("code", WHOLE)
def test_what_is_said_of_a_whole_file_is_said_at_its_first_line(code: str) -> None:
    WHOLE[code](SPEC)
    (problem,) = json.loads(run("validate", "--format", "json").stdout)["problems"]
    assert (problem["code"], problem["file"], problem["line"]) == (code, str(SPEC), 1)
    assert f"::error file={SPEC},line=1,endLine=1,col=1" in run("validate", "--format", "github").stdout
    assert f"--> {SPEC}:1:1" in run("validate").stderr


def test_an_unreadable_file_is_told_at_its_first_line() -> None:
    os.mkfifo(PROD / "jobs.yaml")
    SPEC.unlink()
    SPEC.symlink_to("jobs.yaml")
    (problem,) = json.loads(run("validate", "--format", "json").stdout)["problems"]
    assert (problem["code"], problem["file"], problem["line"]) == ("TF101", str(SPEC), 1)


NAMES = {
    "CON": "device",
    "aux.prod": "device",
    "x.": "ends with a dot",
    "a:b": "has a character",
    "PROD": "stands beside 'prod'",
}


@pytest.mark.parametrize(("name", "why"), NAMES.items())
def test_a_folder_that_no_other_system_can_have_is_a_warning(name: str, why: str) -> None:
    put(Path("environments", name, "environment.yaml"), f"cluster: other\n{HEAD}{TRAIN}")
    result = run("validate", f"environments/{name}")
    assert "warning[TF110]: the name" in result.stderr
    assert why in result.stderr
    assert result.exit_code == 0


HOSTILE = ["::error::x", "a\x1b[31mb", "##[error]x", "a\rb", "`x`@all", "a b", "\u202ex"]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_drives_neither_a_terminal_nor_a_pipeline(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    put(Path("environments", name, "environment.yaml"), f"cluster: other\n{HEAD}{TRAIN}")
    put(Path("environments", name, "manifests/workloads/x.yaml"), "a: b\n")
    monkeypatch.chdir("environments")
    for command in (
        "validate",
        "build",
        "build --check",
        "build --check -q",
        "build -v",
        "images",
        "explain",
        "review",
        "lock",
    ):
        words = command.split()
        result = run(*words, *([] if command == "lock" else [name]))
        shown = result.stdout + result.stderr
        assert "Traceback" not in shown
        assert not [char for char in shown if not char.isprintable() and char != "\n"], (command, shown)
        assert not re.search(r"^\s*::\w|##\w*\[", shown, re.MULTILINE), (command, shown)


def test_a_committed_bare_repository_is_not_taken_for_the_repository(
    repository: Repository, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git reads the history in `HEAD`, `objects` and `refs` of a folder that has no `.git` of its own."""
    repository.git("checkout", "--quiet", "main")
    (repository.top / "ml").mkdir()
    for name in ("environments", "pyproject.toml"):
        put("pyproject.toml", "[tool.tfgitops]\n")
        (repository.top / name).rename(repository.top / "ml" / name)
    monkeypatch.chdir("ml")
    assert run("build", "--restart-all").exit_code == 0
    repository.commit("moved")
    edit(Path("environments/base.yaml"), "tf:2.21", "evil:1")
    assert run("build", "--restart-all").exit_code == 0
    assert "3 trainings restart" in run("review", "--against", "main").stdout
    forged = tmp_path_factory.mktemp("forged")
    repository.git("init", "--quiet", "--initial-branch=main", cwd=forged)
    shutil.copytree("environments", forged / "environments")
    repository.git("add", "--all", cwd=forged)
    repository.git("commit", "--quiet", "-m", "forged", cwd=forged)
    for name in ("HEAD", "objects", "refs"):
        (forged / ".git" / name).rename(repository.top / "ml" / name)
    put("config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n")
    result = run("review", "--against", "main")
    assert result.exit_code == 1
    assert "cannot use bare repository" in result.stderr
    edit(Path("environments/base.yaml"), "evil:1", "evil:2")
    assert "TF606" in run("build").stderr


def test_a_replaced_commit_does_not_change_a_review(repository: Repository) -> None:
    repository.base(("tf:2.21", "evil:1"))
    run("build", "--restart-all")
    repository.commit("change")
    expected = repository.review().stdout
    assert "3 trainings restart" in expected
    repository.git("replace", "main", "change")
    assert repository.review().stdout == expected


def test_a_file_that_is_huge_is_not_read() -> None:
    for name in ("environments/lab/environment.yml", "huge.py"):
        put(name, "")
        os.truncate(name, 1 << 40)
    Path("environments/lab/manifests").mkdir()
    assert "would be passed over" in run("validate").stderr
    Path("environments/lab/manifests").rmdir()
    assert run("validate").exit_code == 0
    put("pyproject.toml", '[tool.tfgitops]\nplugins = ["huge.py"]\n')
    put("tfgitops.lock", 'huge = "sha256:00"\n')
    result = run("build", "--locked")
    assert (result.exit_code, "plugin 'huge'" in result.stderr) == (1, True)
