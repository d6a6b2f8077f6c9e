"""The command line itself: options, help, exit codes, and the real program."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from checkout import BUNDLED
from commandline import run
from workspace import HEAD, MANIFEST, PROD, PROGRAM, edit, put, tree

from tfgitops import __version__
from tfgitops.cli import COMMANDS


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
    assert all(plugin in result.stdout for plugin in BUNDLED)


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

    monkeypatch.setattr("tfgitops.compiler.session.compile_all", fail)
    result = run("build")
    assert result.exit_code == 3
    assert "RuntimeError: a bug" in result.stderr
    assert "this is a bug of tfgitops" in result.stderr


def program(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=60, check=False)


def test_the_program_builds_and_checks() -> None:
    first = program("build")
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout == f"created  {MANIFEST}\n{PROD}: 1 job, 1 manifest: 1 file changed\n"
    assert program("build", "--check").returncode == 0
    MANIFEST.unlink()
    assert program("build", "--check").returncode == 1


def test_the_package_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "tfgitops", "build", "--check", "--quiet"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (1, f"missing  {MANIFEST}\n", "")


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


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        (["--help"], ("tfgitops.compiler", "tfgitops.spec", "ruamel", "pluggy", "importlib.metadata", "jsonschema")),
        (["build", "--help"], ("tfgitops.compiler", "tfgitops.spec", "ruamel", "pluggy", "jsonschema")),
        (["--version"], ("tfgitops.compiler", "ruamel", "jsonschema")),
        (["build", "--check"], ("tfgitops.review", "jsonschema", "attr", "concurrent", "multiprocessing")),
    ],
)
def test_a_command_imports_what_it_needs(arguments: list[str], absent: tuple[str, ...]) -> None:
    script = (
        "import sys\nfrom typer.testing import CliRunner\nfrom tfgitops.cli import app\n"
        "CliRunner().invoke(app, sys.argv[1:])\nprint(*sorted(sys.modules))"
    )
    command = [sys.executable, "-c", script, *arguments]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert [name for name in loaded if name.startswith(absent)] == []
