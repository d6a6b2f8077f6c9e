"""Problems as the command line shows them: text and JSON, coloured and plain."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from commandline import run
from workspace import HEAD, MANIFEST, PROD, edit, put

if TYPE_CHECKING:
    from pathlib import Path


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
