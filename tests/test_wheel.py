"""What a user installs: the wheel, in an environment of its own, far from this repository."""

from __future__ import annotations

import os
import sys
import tarfile
import zipfile
from typing import TYPE_CHECKING

import pytest
from checkout import BUNDLED, REPOSITORY
from installed import copy_sources, install, run

if TYPE_CHECKING:
    from pathlib import Path

CASES = REPOSITORY / "tests" / "cases" / "ok"


@pytest.fixture(scope="module")
def program(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("venv"), wheel) / "tfgitops"


def test_wheel_holds_the_compiler_its_plugins_its_schemas_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0].split("-")[0] for name in names}
    assert tops == {"tfgitops", *(f"tfgitops_{plugin}" for plugin in BUNDLED)}
    for schema in (REPOSITORY / "schemas").glob("*.json"):
        assert f"tfgitops/schemas/{schema.name}" in names
    beside = {path.relative_to(REPOSITORY / "plugins") for path in REPOSITORY.glob("plugins/tfgitops_*/*.*")}
    assert {path.as_posix() for path in beside} <= {*names}


def test_a_second_build_gives_the_same_bytes(tmp_path: Path) -> None:
    """Times, modes and folders of the files do not matter. The sdist gives the same wheel."""
    built = []
    for name in ("one", "another"):
        source = copy_sources(tmp_path / name)
        for number, path in enumerate(sorted(source.rglob("*"))):
            if name == "another" and path.is_file():
                os.utime(path, (number, number))
                path.chmod(0o600)
        run(sys.executable, "-m", "hatchling", "build", "--directory", tmp_path / f"dist-{name}", cwd=source)
        built.append({path.name: path.read_bytes() for path in (tmp_path / f"dist-{name}").iterdir()})
    assert built[0] == built[1]
    [sdist] = (tmp_path / "dist-one").glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    [source] = (tmp_path / "unpacked").iterdir()
    run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", tmp_path / "third", cwd=source)
    [third] = (tmp_path / "third").iterdir()
    assert third.read_bytes() == built[0][third.name]


def test_the_wheel_has_what_init_writes(program: Path, tmp_path: Path) -> None:
    run(program, "init", "trainings", cwd=tmp_path)
    run(program, "build", "--check", "--locked", cwd=tmp_path / "trainings")
