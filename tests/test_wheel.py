"""What a user installs: the wheel, in an environment of its own, far from this repository."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent
CASES = REPOSITORY / "tests" / "cases" / "ok"


def run(*command: str | Path, cwd: Path) -> str:
    """Run a program as somebody would who has never heard of this checkout, and return what it says."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    result = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from a copy of the repository, which holds nothing but what is committed or would be."""
    place = tmp_path_factory.mktemp("wheel")
    for name in ("tfgitops", "plugins", "schemas"):
        shutil.copytree(REPOSITORY / name, place / "source" / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / name, place / "source" / name)
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
    run(*pip, "wheel", "--no-deps", "--wheel-dir", place, place / "source", cwd=place)
    [built] = place.glob("tfgitops-*.whl")
    return built


@pytest.fixture(scope="module")
def program(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel, and what it says it needs, into an environment with nothing else."""
    place = tmp_path_factory.mktemp("venv")
    run(sys.executable, "-m", "venv", "--without-pip", place, cwd=place)
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
    run(*pip, "--python", place / "bin" / "python", "install", wheel, cwd=place)
    return place / "bin" / "tfgitops"


def test_wheel_holds_the_compiler_its_plugins_its_schemas_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0].split("-")[0] for name in names}
    assert tops == {
        "tfgitops",
        "tfgitops_gpu",
        "tfgitops_nodes",
        "tfgitops_policy",
        "tfgitops_queue",
        "tfgitops_storage",
    }
    for schema in (REPOSITORY / "schemas").glob("*.json"):
        assert f"tfgitops/schemas/{schema.name}" in names
    for plugin in ("gpu", "nodes", "policy", "queue", "storage"):
        assert f"tfgitops_{plugin}/schema.json" in names
    assert not [name for name in names if "__pycache__" in name or "tests/" in name or "/test_" in name]


def test_installed_compiler_is_not_the_checkout(program: Path, tmp_path: Path) -> None:
    where = run(program.parent / "python", "-c", "import tfgitops; print(tfgitops.__file__)", cwd=tmp_path)
    assert where.startswith(str(program.parent.parent))
    version = run(program, "--version", cwd=tmp_path)
    assert all(plugin in version for plugin in ("gpu", "nodes", "policy", "queue", "storage"))


def test_installed_compiler_gives_the_same_bytes_as_the_checkout(program: Path, tmp_path: Path) -> None:
    specs = tmp_path / "environments"
    shutil.copytree(CASES, specs, ignore=shutil.ignore_patterns("manifests"))
    run(program, "build", cwd=tmp_path)

    def manifests(top: Path) -> dict[str, bytes]:
        return {str(path.relative_to(top)): path.read_bytes() for path in top.rglob("manifests/**/*.yaml")}

    assert manifests(specs) == manifests(CASES)
    assert "up to date" in run(program, "build", "--check", cwd=tmp_path)


@pytest.mark.parametrize("which", ["environment", "job"])
def test_installed_compiler_finds_its_schemas(which: str, program: Path, tmp_path: Path) -> None:
    checkout = run(Path(sys.executable).parent / "tfgitops", "schema", which, cwd=tmp_path)
    installed = run(program, "schema", which, cwd=tmp_path)
    assert installed == checkout
    assert json.loads(installed)["$schema"].startswith("https://json-schema.org/")


def test_installed_compiler_writes_a_plugin_that_passes_its_tests(program: Path, tmp_path: Path) -> None:
    run(program, "plugins", "new", "team", cwd=tmp_path)
    assert run(program, "plugins", "test", cwd=tmp_path / "tfgitops-team").endswith("3 passed\n")
