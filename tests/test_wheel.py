"""What a user installs: the wheel, in an environment of its own, far from this repository."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import pytest
from checkout import BUNDLED, REPOSITORY
from installed import install

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
