"""What a user installs: the wheel, in an environment of its own, far from this repository."""

from __future__ import annotations

import json
import shutil
import sys
import zipfile
from pathlib import Path

import pytest
from checkout import REPOSITORY
from installed import install, run

CASES = REPOSITORY / "tests" / "cases" / "ok"


@pytest.fixture(scope="module")
def program(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("venv"), wheel) / "tfgitops"


def test_wheel_holds_the_compiler_its_plugins_its_schemas_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0].split("-")[0] for name in names}
    assert tops == {
        "tfgitops",
        "tfgitops_access",
        "tfgitops_files",
        "tfgitops_gpu",
        "tfgitops_monitoring",
        "tfgitops_nodes",
        "tfgitops_notebook",
        "tfgitops_policy",
        "tfgitops_queue",
        "tfgitops_storage",
        "tfgitops_tensorboard",
    }
    for schema in (REPOSITORY / "schemas").glob("*.json"):
        assert f"tfgitops/schemas/{schema.name}" in names
    for plugin in (
        "access",
        "files",
        "gpu",
        "monitoring",
        "nodes",
        "notebook",
        "policy",
        "queue",
        "storage",
        "tensorboard",
    ):
        assert {f"tfgitops_{plugin}/schema.json", f"tfgitops_{plugin}/diagnostics.md"} <= {*names}
    assert "tfgitops/spec/diagnostics.md" in names
    assert not [name for name in names if "__pycache__" in name or "tests/" in name or "/test_" in name]


def test_installed_compiler_is_not_the_checkout(program: Path, tmp_path: Path) -> None:
    where = run(program.parent / "python", "-c", "import tfgitops; print(tfgitops.__file__)", cwd=tmp_path)
    assert where.startswith(str(program.parent.parent))
    version = run(program, "--version", cwd=tmp_path)
    assert all(
        plugin in version
        for plugin in (
            "access",
            "files",
            "gpu",
            "monitoring",
            "nodes",
            "notebook",
            "policy",
            "queue",
            "storage",
            "tensorboard",
        )
    )


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
