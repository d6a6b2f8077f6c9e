"""Whole outputs, from folders of cases: the manifests of good specs, and what the terminal says of bad ones.

A case of ``bad/`` is a folder of environments, or one environment, with ``expected.txt``: all that ``tfgitops build .``
says there. A case of ``ok/`` holds its environment's manifests, as they would be committed. ``--refresh`` writes both
anew; what changed is then to be read.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from commandline import run

from tfgitops import Plugins, compile_environment
from tfgitops.spec.project import find_environments
from tfgitops.testing import Case, find_cases

if TYPE_CHECKING:
    from collections.abc import Callable

    Golden = Callable[[str, Path], None]

CASES = Path(__file__).parent / "cases"
BAD = sorted(folder.name for folder in (CASES / "bad").iterdir())
OK = [case for case in find_cases(CASES) if case.good]

HEAD = "apiVersion: tfgitops/v1alpha1\nkind: Environment\nnamespace: ml\n"
JOBS = "jobs:\n  train: {image: tf, worker: 2}\n"
DEEP = 50_000

GENERATED: dict[str, bytes] = {
    "utf-16": (HEAD + JOBS).encode("utf-16"),
    "utf-16-without-a-mark": (HEAD + JOBS).encode("utf-16-le"),
    "not-utf-8": (HEAD + "jobs:\n  train: {image: tf, worker: 2} # caf\xe9\n").encode("latin-1"),
    "nul-characters": (HEAD + JOBS).encode() + b"x-a: \0\0\n",
    "nested-brackets": (HEAD + "jobs: " + "[" * DEEP + "]" * DEEP + "\n").encode(),
    "nested-braces-not-closed": (HEAD + "jobs: " + "{a: " * DEEP + "\n").encode(),
    "nested-lists": (HEAD + "jobs:\n  " + "- " * DEEP + "a\n").encode(),
    "nested-blocks": (HEAD + "".join(" " * level + "a:\n" for level in range(200))).encode(),
    "larger-than-16-mib": (HEAD + JOBS + "#" * (16 * 2**20)).encode(),
    "carriage-returns": (HEAD + "x-note: 'one\rtwo'\njobs:\n  train: {imge: tf, worker: 2}\n").encode(),
}
"""Specs that no editor would show, or that would fill a screen: by the name of their folder."""


def put_case(name: str, place: Path) -> None:
    """Copy a bad case to a root of its own, so that nothing can be written into this repository."""
    (place.parent / "pyproject.toml").write_text("[tool.tfgitops]\n")
    if name in GENERATED:
        place.mkdir()
        (place / "environment.yaml").write_bytes(GENERATED[name])
    else:
        shutil.copytree(CASES / "bad" / name, place, ignore=shutil.ignore_patterns("expected.txt"))


@pytest.mark.parametrize("name", sorted({*BAD, *GENERATED}))
def test_bad_spec_explains_itself_and_writes_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    place = tmp_path / name
    put_case(name, place)
    before = {path: path.stat().st_mtime_ns for path in place.rglob("*")}
    monkeypatch.chdir(place)
    result = run("build", ".", "--no-color")
    assert result.exit_code == 1, result.output
    assert {path: path.stat().st_mtime_ns for path in place.rglob("*")} == before
    assert result.stderr.isascii() or result.stderr.isprintable() or "\x1b" not in result.stderr
    golden((result.stderr + result.stdout).replace(str(tmp_path), "<root>"), CASES / "bad" / name / "expected.txt")


@pytest.mark.parametrize("case", OK, ids=lambda case: case.name)
def test_good_spec_compiles_to_the_committed_manifests(
    case: Case, plugins: Plugins, request: pytest.FixtureRequest
) -> None:
    case.run(plugins, refresh=request.config.getoption("tfgitops_refresh"))
    assert not (case.folder / "expected.txt").exists(), "there is something to be said of it"


@pytest.mark.parametrize("change", ["\ufeff", "\r\n"], ids=["BOM", "CRLF"])
def test_byte_order_mark_and_line_ends_change_nothing(change: str, plugins: Plugins, tmp_path: Path) -> None:
    folder = tmp_path / "shorthands"
    shutil.copytree(CASES / "ok" / "shorthands", folder)
    spec = folder / "environment.yaml"
    text = spec.read_text(encoding="utf-8")
    spec.write_bytes((text.replace("\n", "\r\n") if change == "\r\n" else change + text).encode())
    [file] = compile_environment(folder, plugins).files
    assert file.text == (folder / "manifests" / file.path).read_text(encoding="utf-8")


def test_a_spec_with_a_link_to_a_file_outside_of_the_root_is_refused(tmp_path: Path, plugins: Plugins) -> None:
    root = tmp_path / "root"
    place = root / "environments" / "test"
    place.mkdir(parents=True)
    (root / "pyproject.toml").write_text("[tool.tfgitops]\n")
    (tmp_path / "secret.yaml").write_text("apiVersion: tfgitops/v1alpha1\n")
    (root / "base.yaml").symlink_to("../secret.yaml")
    (place / "environment.yaml").write_text(f"extends: ../../base.yaml\n{HEAD}{JOBS}")
    [found] = compile_environment(place, plugins).diagnostics
    assert found.code == "TF108"
    assert "out of the root" in found.message


def test_every_case_has_an_environment() -> None:
    """A folder without one would pass unseen."""
    empty = [name for name in BAD if name not in GENERATED and not list((CASES / "bad" / name).rglob("*.yaml"))]
    assert empty == []
    for case in (CASES / "ok").iterdir():
        assert [*case.rglob("environment.yaml")], case
        assert find_environments(case), case
