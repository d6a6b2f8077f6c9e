"""Plugins that cannot be used, or are at fault: what `tfgitops plugins` and the compiler say of them."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest
from commandline import run

if TYPE_CHECKING:
    from pathlib import Path

SPEC = "apiVersion: tfgitops/v1alpha1\nkind: Environment\nnamespace: ml\n"
BROKEN = "import os\nimport rnadom\n"
GOOD = "from tfgitops import Problem, hookimpl\n\ntfgitops_api = 1\n"


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def local(root: Path, **plugins: str) -> None:
    for name, text in plugins.items():
        (root / f"{name}.py").write_text(text)
    (root / "pyproject.toml").write_text(f"[tool.tfgitops]\nplugins = {json.dumps([f'{one}.py' for one in plugins])}\n")


UNUSABLE = {
    "not to be imported": (BROKEN, "cannot be imported: ModuleNotFoundError(\"No module named 'rnadom'\") (demo.py:2)"),
    "of another contract": ("tfgitops_api = 2\n", "declares tfgitops_api = 2"),
    "without keys": (f"{GOOD}\n@hookimpl\ndef tfgitops_schema():\n    1 / 0\n", "failed in tfgitops_schema"),
    "with a hook that is none": (f"{GOOD}\n@hookimpl\ndef tfgitops_chek():\n    ...\n", "has tfgitops_chek, which"),
}


@pytest.mark.parametrize("what", UNUSABLE)
def test_a_plugin_that_cannot_be_used_is_listed_with_its_fault(what: str, root: Path) -> None:
    text, said = UNUSABLE[what]
    local(root, demo=text, other=GOOD)
    result = run("plugins", "list")
    assert result.exit_code == 1
    [line] = [line for line in result.stdout.splitlines() if line.startswith("  fault")]
    assert said in line
    listed = json.loads(run("plugins", "list", "--format", "json").stdout)["plugins"]
    assert {one["name"] for one in listed if one["fault"]} == {"demo"}


def test_an_entry_point_that_names_nothing_is_listed_with_its_fault(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "x-1.dist-info").mkdir()
    (root / "x-1.dist-info/METADATA").write_text("Name: tfgitops-x\nVersion: 1\n")
    (root / "x-1.dist-info/entry_points.txt").write_text("[tfgitops]\nx = json:nothing\ny = nosuch\n")
    monkeypatch.syspath_prepend(str(root))
    result = run("plugins", "list")
    assert result.exit_code == 1
    assert "cannot be imported: AttributeError(\"module 'json' has no attribute 'nothing'\")\n" in result.stdout
    assert "cannot be imported: ModuleNotFoundError(\"No module named 'nosuch'\")\n" in result.stdout


def test_two_plugins_of_one_name_are_listed_with_their_fault(root: Path) -> None:
    local(root, gpu=GOOD)
    result = run("plugins", "list")
    assert result.exit_code == 1
    assert "  fault     two plugins are called 'gpu': plugin 'gpu'" in result.stdout


def test_a_plugin_that_cannot_be_imported_is_told_with_its_line_where_it_is_tested(root: Path) -> None:
    local(root, demo=BROKEN)
    result = run("plugins", "test")
    assert result.exit_code == 1
    assert "error[TF902]: plugin 'demo' local (demo.py) cannot be imported: " in result.stderr
    assert "No module named 'rnadom'\") (demo.py:2)" in result.stderr
    assert "= help: " in result.stderr


ARGUMENTS = {
    "jobs": ("tfgitops_contribute", "did you mean 'job'?; it may take: job"),
    "environ": ("tfgitops_check_manifests", "did you mean 'environment'?; it may take: environment, manifests, accel"),
    "job": ("tfgitops_schema", "it takes none"),
}


@pytest.mark.parametrize("argument", ARGUMENTS)
def test_an_argument_that_a_hook_has_not_is_told_with_those_that_it_has(argument: str, root: Path) -> None:
    hook, hint = ARGUMENTS[argument]
    local(root, demo=f"{GOOD}\n@hookimpl\ndef {hook}({argument}):\n    return []\n")
    (root / "environments/prod").mkdir(parents=True)
    (root / "environments/prod/environment.yaml").write_text(f"{SPEC}jobs: {{}}\n")
    said = run("validate").stderr
    assert f"cannot be used: {hook} has no argument '{argument}'" in said
    assert f"= help: {hint}" in said
    assert "\\n" not in said


def test_a_fault_of_the_plugin_is_not_written_into_what_a_case_expects(root: Path) -> None:
    local(root, demo=f"{GOOD}\n@hookimpl\ndef tfgitops_check_environment(environment):\n    1 / 0\n")
    case = root / "cases/bad/one"
    case.mkdir(parents=True)
    (case / "environment.yaml").write_text(f"{SPEC}jobs: {{}}\n")
    result = run("plugins", "test", "--refresh")
    assert result.exit_code == 1
    assert "bad/one is not written: it would keep a fault of a plugin" in result.stdout
    assert "TF901" in result.stdout
    assert [*case.iterdir()] == [case / "environment.yaml"]


def test_an_endless_loop_is_waited_for_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFGITOPS_HOOK_SECONDS", "1")
    local(
        root, demo=f"{GOOD}\n@hookimpl\ndef tfgitops_check_environment(environment):\n    while True:\n        pass\n"
    )
    for name in ("one", "two"):
        (root / "cases/ok" / name).mkdir(parents=True)
        (root / "cases/ok" / name / "environment.yaml").write_text(f"{SPEC}jobs: {{}}\n")
    start = time.monotonic()
    result = run("plugins", "test")
    assert time.monotonic() - start < 2.5
    assert "not tried: it did not come to an end before" in result.stdout
    assert "3 of 3 failed" in result.stdout


@pytest.mark.parametrize(
    ("without", "said"),
    [
        (["team"], "the plugin 'team' is left out (--no-plugin), and this may be a key of it"),
        (["team", "gpu"], "the plugins 'gpu', 'team' are left out (--no-plugin), and this may be a key of one of them"),
    ],
)
@pytest.mark.parametrize("place", ["teams: {a: {}}\njobs: {}\n", "jobs: {a: {image: tf, worker: 1, team: {a: 1}}}\n"])
def test_a_key_of_a_plugin_that_is_left_out_is_told_so(without: list[str], said: str, place: str, root: Path) -> None:
    assert run("plugins", "new", "team", "--local").exit_code == 0
    (root / "environments/prod").mkdir(parents=True)
    (root / "environments/prod/environment.yaml").write_text(SPEC + place)
    options = [option for name in without for option in ("--no-plugin", name)]
    assert f"= help: {said}" in run("validate", *options).stderr


@pytest.mark.parametrize("change", ["job.data['x'] = 1", "job.get('env').update(A='b')", "job.roles.append(1)"])
def test_a_hook_that_changes_what_it_reads_is_told_to_make_a_copy(change: str, root: Path) -> None:
    local(root, demo=f"{GOOD}\n@hookimpl\ndef tfgitops_contribute(job):\n    {change}\n")
    (root / "environments/prod").mkdir(parents=True)
    (root / "environments/prod/environment.yaml").write_text(
        f"{SPEC}jobs: {{a: {{image: tf, worker: 1, env: {{A: b}}}}}}\n"
    )
    assert "hooks change nothing: make a copy" in " ".join(run("validate").stderr.split())


@pytest.mark.parametrize(("code", "said"), [("TF203", "TF902"), ("TF999", "TF902"), ("TFX1", "TFX1")])
def test_a_code_of_the_compilers_is_refused_where_a_plugin_says_it(code: str, said: str, root: Path) -> None:
    problem = f'Problem(code="{code}", message="m", at=("jobs",), hint="h")'
    local(root, demo=f"{GOOD}\n@hookimpl\ndef tfgitops_check_environment(environment):\n    yield {problem}\n")
    (root / "environments/prod").mkdir(parents=True)
    (root / "environments/prod/environment.yaml").write_text(f"{SPEC}jobs: {{}}\n")
    assert f"error[{said}]" in run("validate").stderr
