"""`tfgitops lock` and `build --locked`: versions that are recorded, and refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from checkout import BUNDLED
from commandline import run
from workspace import HEAD, MANIFEST, PROD, TRAIN, edit, put

from tfgitops import __version__

LOCK = Path("tfgitops.lock")


def test_lock_records_the_versions_and_nothing_else() -> None:
    result = run("lock")
    assert result.exit_code == 0
    assert "tfgitops.lock" in result.stdout
    lines = [line for line in LOCK.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    assert lines == [f'{name} = "{__version__}"' for name in ("tfgitops", *BUNDLED)]
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
