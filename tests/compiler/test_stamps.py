"""A build that nothing changed since is not repeated, and nobody can tell the difference."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from builder import cut
from commandline import run
from repository import Repository

from tfgitops.compiler import stamps
from tfgitops.compiler.stamps import Stamp

if TYPE_CHECKING:
    from collections.abc import Callable

SPEC = "environments/prod/environment.yaml"
JOBS = "environments/prod/jobs"
MANIFESTS = "environments/prod/manifests"
BERT = f"{MANIFESTS}/workloads/job-bert.yaml"
SETTINGS = "[tool.tfgitops.settings.policy]\nimages = ['registry.example.com']\n"
PLUGIN = """
from tfgitops import Problem, hookimpl
tfgitops_api = 1
@hookimpl
def tfgitops_check_environment(environment):
    print("looked")
    return [Problem(code="LOCAL1", message="a warning", at=(), severity="warning")]
"""
ALLOW = """
allow:
  - {{code: TF502, at: jobs.odd, until: {day}, reason: measured}}
"""
SHARED = """\
apiVersion: tfgitops/v1alpha1
kind: Environment
namespace: ml
cluster: eu-2
queues: {vision: {}}
jobs: {a: {image: 'tf:2.21', worker: 1}}
"""


@pytest.fixture(autouse=True)
def _every_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stamps, "is_much", lambda _: True)


@pytest.fixture
def hits(monkeypatch: pytest.MonkeyPatch) -> Counter[bool]:
    """Count the builds that used a stamp, and those that looked for one in vain."""
    found: Counter[bool] = Counter()
    words = Stamp.words

    def counted(self: Stamp, waiting: Callable[[Path], object]) -> list[str] | None:
        told = words(self, waiting)
        found[told is not None] += 1
        return told

    monkeypatch.setattr(Stamp, "words", counted)
    return found


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    made = tmp_path / "repository"
    made.mkdir()
    monkeypatch.chdir(made)
    repository = Repository(made)
    (made / JOBS / "more").mkdir(parents=True)
    (made / JOBS / "more/README.md").write_text("", encoding="utf-8")
    (made / JOBS / "odd.yaml").write_text(
        "script: {file: ../train.py}\nworker: {replicas: 2, cpu: 1, memory: 512m}\n", encoding="utf-8"
    )
    (made / "environments/prod/train.py").write_text("print(1)\n", encoding="utf-8")
    assert run("build").exit_code == 0
    repository.commit("first")
    return repository


def build(top: Path, *options: str, **environment: str) -> Any:
    cache = {"XDG_CACHE_HOME": str(top.parent / "cache"), "TFGITOPS_NO_CACHE": "", "CI": ""}
    return run("build", *options, **(cache | environment))


def cached(top: Path) -> list[Path]:
    return [*(top.parent / "cache").rglob("*.json")]


def tree(top: Path) -> dict[str, str | bytes | None]:
    """Return all that is below a folder but for Git's."""
    return {
        str(path.relative_to(top)): str(path.readlink()) if path.is_symlink() else
        path.read_bytes() if path.is_file() else None
        for path in sorted(top.rglob("*")) if ".git" not in path.parts
    }  # fmt: skip


def _edit(path: str, old: str, new: str) -> Callable[[Repository], None]:
    def edit(repository: Repository) -> None:
        file = repository.top / path
        if file.is_file():
            file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")

    return edit


def _append(path: str, text: str) -> Callable[[Repository], None]:
    def append(repository: Repository) -> None:
        file = repository.top / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text((file.read_text(encoding="utf-8") if file.exists() else "") + text, encoding="utf-8")

    return append


def _remove(path: str) -> Callable[[Repository], None]:
    def remove(repository: Repository) -> None:
        file = repository.top / path
        if file.is_symlink() or file.is_file():
            file.unlink()
        else:
            shutil.rmtree(file, ignore_errors=True)

    return remove


def _move(path: str, target: str) -> Callable[[Repository], None]:
    def move(repository: Repository) -> None:
        if (repository.top / path).exists() and not (repository.top / target).exists():
            (repository.top / target).parent.mkdir(parents=True, exist_ok=True)
            (repository.top / path).rename(repository.top / target)

    return move


def _link(path: str) -> Callable[[Repository], None]:
    """Put a link where a file or folder is, to what was there."""

    def link(repository: Repository) -> None:
        file, aside = repository.top / path, repository.top / f"aside-{Path(path).name}"
        if file.exists() and not file.is_symlink() and not aside.exists():
            file.rename(aside)
            file.symlink_to(aside)

    return link


def _git(*arguments: str) -> Callable[[Repository], object]:
    return lambda repository: repository.git(*arguments)


CHANGES: dict[str, Callable[[Repository], object]] = {
    "image": _edit("environments/base.yaml", "tf:2.21", "tf:2.22"),
    "image back": _edit("environments/base.yaml", "tf:2.22", "tf:2.21"),
    "job": _edit(SPEC, "LR: 0.1", "LR: 0.2"),
    "job back": _edit(SPEC, "LR: 0.2", "LR: 0.1"),
    "mistake": _edit(SPEC, "replicas: 2", "replcas: 2"),
    "mistake mended": _edit(SPEC, "replcas: 2", "replicas: 2"),
    "base is gone": _remove("environments/base.yaml"),
    "base is a link": _link("environments/base.yaml"),
    "base is another file": _move("environments/base.yaml", "environments/other.yaml"),
    "spec is a link": _link(SPEC),
    "text": _append("environments/prod/train.py", "print(2)\n"),
    "text is gone": _remove("environments/prod/train.py"),
    "new job": _append(f"{JOBS}/new.yaml", "worker: 1\n"),
    "new job is gone": _remove(f"{JOBS}/new.yaml"),
    "job moves": _move(f"{JOBS}/odd.yaml", f"{JOBS}/even.yaml"),
    "job moves into a folder": _move(f"{JOBS}/odd.yaml", f"{JOBS}/more/odd.yaml"),
    "jobs are a link": _link(JOBS),
    "a folder of jobs is gone": _remove(f"{JOBS}/more"),
    "that folder is a link": _link(f"{JOBS}/more"),
    "another environment": _append("environments/dev/environment.yaml", SHARED),
    "that one moves": _move("environments/dev", "environments/test"),
    "it is gone": _remove("environments/dev"),
    "its spec is gone": _remove("environments/dev/environment.yaml"),
    "settings": _append("pyproject.toml", SETTINGS),
    "other settings": _edit("pyproject.toml", "registry.example.com", "other.example.com"),
    "a plugin": _append("pyproject.toml", "[tool.tfgitops]\nplugins = ['local.py']\n"),
    "its file": _append("local.py", PLUGIN),
    "no settings": _remove("pyproject.toml"),
    "lock": _append("tfgitops.lock", 'tfgitops = "0.0.1"\n'),
    "no lock": _remove("tfgitops.lock"),
    "exception": _append(SPEC, ALLOW.format(day="2026-01-10")),
    "a later day": lambda repository: _commit_on(repository, "2026-02-01T00:00:00Z"),
    "pin bert": lambda _: run("pin", "environments/prod", "bert"),
    "unpin bert": lambda _: run("unpin", "environments/prod", "bert"),
    "header": _edit(BERT, "; do not edit.", " ; do not edit."),
    "header back": _edit(BERT, " ; do not edit.", "; do not edit."),
    "edited manifest": _append(BERT, "x: y\n"),
    "line ends": lambda repository: _line_ends(repository.top / BERT),
    "manifest is gone": _remove(BERT),
    "manifest moves": _move(BERT, f"{MANIFESTS}/workloads/job-other.yaml"),
    "manifest is a link": _link(BERT),
    "a foreign file": _append(f"{MANIFESTS}/workloads/foreign.yaml", "a: b\n"),
    "no foreign file": _remove(f"{MANIFESTS}/workloads/foreign.yaml"),
    "a file that none applies": _append(f"{MANIFESTS}/notes.txt", "x"),
    "an empty folder": lambda repository: (repository.top / MANIFESTS / "empty").mkdir(parents=True, exist_ok=True),
    "a temporary file": _append(f"{MANIFESTS}/workloads/.tfgitops-x.yaml.tmp", "x"),
    "manifests are gone": _remove(MANIFESTS),
    "manifests are a link": _link(MANIFESTS),
    "a folder of manifests is a link": _link(f"{MANIFESTS}/workloads"),
    "bootstrap": _append(SPEC, "\nbootstrap: {repo: 'https://git.example.com/ml/trainings.git'}\n"),
    "bootstrap file": _append("environments/prod/bootstrap/argocd/application.yaml", "x"),
    "staged": _git("add", "--all"),
    "commit": _git("commit", "--quiet", "--allow-empty", "-am", "more"),
    "back": _git("reset", "--quiet", "--soft", "HEAD~1"),
}
OPTIONS: tuple[tuple[str, ...], ...] = (
    (), (), (), ("--strict",), ("-q",), ("-v",), ("--no-plugin", "policy"), ("environments/prod",), ("--restart-all",),
)  # fmt: skip


def _commit_on(repository: Repository, day: str) -> None:
    line = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--allow-empty", "-m", "later"]
    subprocess.run(line, cwd=repository.top, env=os.environ | {"GIT_COMMITTER_DATE": day}, check=True)


def _line_ends(path: Path) -> None:
    if path.is_file():
        path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))


def _restore(top: Path, state: Path) -> None:
    """Put back all of a repository; its folder stays, for it is the working directory."""
    for entry in top.iterdir():
        shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
    shutil.copytree(state, top, symlinks=True, dirs_exist_ok=True)


def _equal(cache: Path, repository: Repository, options: tuple[str, ...]) -> None:
    """Build with the cache, then all over again from the same state without it, and compare all."""
    top = repository.top
    before = top.parent / "before"
    shutil.rmtree(before, ignore_errors=True)
    shutil.copytree(top, before, symlinks=True)
    one = run("build", *options, XDG_CACHE_HOME=str(cache), TFGITOPS_NO_CACHE="", CI="")
    found = tree(top)
    _restore(top, before)
    other = run("build", *options)
    assert (one.exit_code, one.stdout, one.stderr) == (other.exit_code, other.stdout, other.stderr)
    assert found == tree(top)


@pytest.mark.parametrize("seed", range(3))
def test_cached_and_full_builds_are_equal(repository: Repository, hits: Counter[bool], seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - a test
    start, cache = repository.top.parent / "start", repository.top.parent / "cache"
    shutil.copytree(repository.top, start, symlinks=True)
    for _ in range(40):
        if chance.random() < 0.2:
            _restore(repository.top, start)
        elif chance.random() < 0.7:
            CHANGES[chance.choice([*CHANGES])](repository)
        _equal(cache, repository, chance.choice(OPTIONS))
    assert min(hits[True], hits[False]) > 3


@pytest.mark.parametrize("change", CHANGES)
def test_after_each_change_and_after_its_reversal(repository: Repository, hits: Counter[bool], change: str) -> None:
    start, cache = repository.top.parent / "start", repository.top.parent / "cache"
    _equal(cache, repository, ())
    shutil.copytree(repository.top, start, symlinks=True)
    _equal(cache, repository, ())
    assert hits.pop(True) == 1
    CHANGES[change](repository)
    for options in ((), ("--restart-all",), (), ()):
        _equal(cache, repository, options)
    _restore(repository.top, start)
    for _ in range(2):
        _equal(cache, repository, ())
    assert hits[True] > 0


def test_a_first_build_leaves_a_stamp(repository: Repository, hits: Counter[bool]) -> None:
    for path in (MANIFESTS, JOBS):
        shutil.rmtree(repository.top / path)
    CHANGES["bootstrap"](repository)
    for _ in range(2):
        assert build(repository.top).exit_code == 0
    assert hits == {False: 1, True: 1}


@pytest.mark.parametrize(
    "changes",
    [
        ("exception", "a later day", "back"),
        ("pin bert", "commit", "header", "commit", "header back"),
        ("its file", "a plugin", "no settings"),
        ("another environment", "that one moves", "its spec is gone", "it is gone"),
        ("new job", "job moves", "new job is gone", "staged", "commit", "back"),
    ],
    ids=lambda changes: changes[0],
)
def test_after_several_changes(repository: Repository, hits: Counter[bool], changes: tuple[str, ...]) -> None:
    cache = repository.top.parent / "cache"
    for change in changes:
        CHANGES[change](repository)
        for options in ((), ("--restart-all",), (), ()):
            _equal(cache, repository, options)
    assert hits[True] > 0 or changes[0] == "pin bert"


def test_there_is_none_with_a_pin_or_with_plugins_of_others(repository: Repository) -> None:
    for changes in (["pin bert"], ["unpin bert", "its file", "a plugin"]):
        for change in changes:
            CHANGES[change](repository)
        assert build(repository.top).exit_code == 0
        assert cached(repository.top) == []


def test_a_warning_is_said_again(repository: Repository, hits: Counter[bool]) -> None:
    first = build(repository.top)
    again = build(repository.top)
    assert hits == {False: 1, True: 1}
    assert "TF502" in first.stderr
    assert (again.stdout, again.stderr) == (first.stdout, first.stderr)
    assert "nothing changed" in again.stdout


def _text(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def broken(path: Path) -> None:
        data = json.loads(path.read_text(encoding="utf-8"))
        change(data)
        path.write_text(json.dumps(data), encoding="utf-8")

    return broken


def _be_a_link(path: Path) -> None:
    path.rename(path.with_suffix(".aside"))
    path.symlink_to(path.with_suffix(".aside"))


def _be_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _be_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


BREAKS: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:-20]),
    "no UTF-8": lambda path: path.write_bytes(b"\xff\xfe"),
    "no JSON": lambda path: path.write_text("words", encoding="utf-8"),
    "a list": lambda path: path.write_text("[]", encoding="utf-8"),
    "nested too deeply": lambda path: path.write_text("[" * 200_000, encoding="utf-8"),
    "too large": lambda path: path.write_bytes(path.read_bytes() + b" " * (5 << 20)),
    "other words": _text(lambda data: data["words"].__setitem__(1, "fine\n")),
    "no words": _text(lambda data: data.pop("words")),
    "words of another type": _text(lambda data: data.update(words={"a": 1})),
    "a question less": _text(lambda data: data["asked"].pop()),
    "no questions": _text(lambda data: data.update(asked=[])),
    "another question": _text(lambda data: data["asked"].append(["bytes", "/etc/hostname"])),
    "no such question": _text(lambda data: data["asked"].append(["weather", "x"])),
    "no questions at all": _text(lambda data: data.update(asked=7)),
    "a path that cannot be": _text(lambda data: data["asked"].append(["bytes", "\0"])),
    "a folder that is not there": _text(lambda data: data["asked"].append(["inside", "/nowhere"])),
    "a file that is not there": _text(lambda data: data["asked"].append(["bytes", "nowhere"])),
    "another digest": _text(lambda data: data.update(digest="0" * 64)),
    "no digest": _text(lambda data: data.pop("digest")),
    "a link": _be_a_link,
    "a folder": _be_a_folder,
    "a named pipe": _be_a_pipe,
    "not there": Path.unlink,
}


@pytest.mark.parametrize("broken", BREAKS)
def test_a_broken_stamp_is_dropped_silently(repository: Repository, hits: Counter[bool], broken: str) -> None:
    first = build(repository.top)
    [stamp] = cached(repository.top)
    BREAKS[broken](stamp)
    again = build(repository.top)
    assert hits == {False: 2}
    assert (again.exit_code, again.stdout, again.stderr) == (0, first.stdout, first.stderr)
    build(repository.top)
    assert hits[True] == (broken != "a folder")  # which nothing can replace


def test_the_stamp_of_another_call_is_foreign(repository: Repository, hits: Counter[bool]) -> None:
    build(repository.top)
    [quiet] = cached(repository.top)
    build(repository.top, "-q")
    [loud] = {*cached(repository.top)} - {quiet}
    shutil.copy(quiet, loud)
    assert build(repository.top, "-q").stdout == ""
    assert hits == {False: 3}


@pytest.mark.parametrize(
    ("options", "environment"),
    [
        (("--check",), {}), (("--stdout",), {}), (("--locked",), {}), (("--format", "json"), {}), (("-v",), {}),
        (("--restart-all",), {}), (("--pin-rest",), {}), (("--queues-at-once",), {}), (("--restart", "bert"), {}),
        ((), {"CI": "true"}), ((), {"TFGITOPS_NO_CACHE": "1"}), ((), {"TFGITOPS_TRACE": "hooks"}),
        ((), {"XDG_CACHE_HOME": "relative"}),
        ((), {"XDG_CACHE_HOME": "inside"}),  # where a commit could bring a forged one
    ],
)  # fmt: skip
def test_most_builds_never_read_or_write_one(
    repository: Repository, hits: Counter[bool], options: tuple[str, ...], environment: dict[str, str]
) -> None:
    run("lock")
    if environment.get("XDG_CACHE_HOME") == "inside":
        environment = {"XDG_CACHE_HOME": str(repository.top / "relative")}
    build(repository.top, *options, **environment)
    assert cached(repository.top) == []
    build(repository.top)
    build(repository.top, *options, **environment)
    assert hits == {False: 1}
    assert len(cached(repository.top)) == 1
    assert not (repository.top / "relative").exists()


@pytest.mark.parametrize("command", ["validate", "review", "images environments/prod"])
def test_other_commands_have_none(repository: Repository, command: str) -> None:
    run(*command.split(), XDG_CACHE_HOME=str(repository.top.parent / "cache"), TFGITOPS_NO_CACHE="", CI="")
    assert cached(repository.top) == []


def test_a_small_build_has_none(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.chdir(repository.top)
    build(repository.top)
    assert cached(repository.top) == []


def test_a_build_with_errors_leaves_none(repository: Repository) -> None:
    spec = repository.top / SPEC
    spec.write_text(cut(spec.read_text(encoding="utf-8"), "gpu: 1", "gqu: 1"), encoding="utf-8")
    assert build(repository.top).exit_code == 1
    assert cached(repository.top) == []


def test_a_folder_that_is_a_link_or_cannot_be_written_is_left_alone(repository: Repository) -> None:
    cache = repository.top.parent / "cache"
    cache.mkdir()
    (cache / "tfgitops").symlink_to(repository.top)
    assert build(repository.top).exit_code == 0
    assert cached(repository.top) == []
    (cache / "tfgitops").unlink()
    (cache / "tfgitops").write_text("", encoding="utf-8")
    assert build(repository.top).exit_code == 0
    assert (cache / "tfgitops").read_text(encoding="utf-8") == ""


def test_another_compiler_or_plugin_has_other_stamps(
    repository: Repository, hits: Counter[bool], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    build(repository.top)
    source = tmp_path / "sources"
    source.mkdir()
    (source / "extra.json").write_text("1", encoding="utf-8")
    monkeypatch.setattr(stamps, "FOLDERS", (*stamps.FOLDERS, source))
    build(repository.top)
    (source / "extra.json").write_text("2", encoding="utf-8")
    build(repository.top)
    assert hits == {False: 3}
    build(repository.top)
    assert hits[True] == 1
    (source / "new-1.0.dist-info").mkdir()
    monkeypatch.syspath_prepend(source)
    build(repository.top)
    assert hits == {False: 4, True: 1}


def test_other_settings_have_other_stamps(repository: Repository, hits: Counter[bool]) -> None:
    for text in (SETTINGS, SETTINGS.replace("registry", "other"), f"# moved\n{SETTINGS}"):
        (repository.top / "pyproject.toml").write_text(text, encoding="utf-8")
        assert build(repository.top).exit_code == 0
    assert hits == {False: 3}


def test_no_stamp_is_kept_if_the_compiler_was_edited_meanwhile(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = iter("ab")
    monkeypatch.setattr(stamps, "_name", lambda *_: next(names))
    build(repository.top)
    assert not (repository.top.parent / "cache").exists()


def test_only_the_newest_are_kept(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stamps, "_MOST_STAMPS", 2)
    for options in ((), ("-q",), ("--no-plugin", "policy")):
        build(repository.top, *options)
    assert len(cached(repository.top)) == 2


def test_the_stamp_is_small_and_private(repository: Repository) -> None:
    build(repository.top)
    [stamp] = cached(repository.top)
    assert stamp.stat().st_mode & 0o777 == 0o600
    assert stamp.stat().st_size < 10_000
