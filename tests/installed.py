"""What a user has: the wheel, in an environment of its own, and programs that know nothing of this checkout."""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
import sys
import sysconfig
from importlib.util import cache_from_source
from pathlib import Path

from checkout import REPOSITORY

_PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")


def run(*command: str | Path, cwd: Path, code: int = 0) -> str:
    """Run a program as somebody would who has never heard of this checkout, and return what it says."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    result = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout if code == 0 else result.stdout + result.stderr


SOURCES = ("tfgitops", "plugins", "schemas", "pyproject.toml", "README.md", "LICENSE")
"""All that the wheel is built from."""


def copy_sources(place: Path) -> Path:
    """Copy what the wheel is built from, and nothing but what is committed or would be."""
    for path in (REPOSITORY / name for name in SOURCES):
        if path.is_dir():
            shutil.copytree(path, place / path.name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            place.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, place)
    return place


def build_wheel(place: Path) -> Path:
    """Build the wheel from a copy of the repository."""
    [built] = build_wheels(place, copy_sources(place / "source"))
    return built


def build_wheels(place: Path, *sources: Path) -> list[Path]:
    """Build the wheels of packages with the hatchling that is installed here, as an environment for each takes longer.

    Return them in the order of their names.
    """
    run(
        *_PIP,
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "--check-build-dependencies",
        "--wheel-dir",
        place,
        *sources,
        cwd=place,
    )
    return sorted(place.glob("*.whl"))


def install(place: Path, *what: str | Path) -> Path:
    """Make an environment with some packages, and what they say they need; return the folder of its programs."""
    run(sys.executable, "-m", "venv", "--without-pip", place, cwd=place)
    run(*_PIP, "--python", place / "bin" / "python", "install", "--no-compile", *what, cwd=place)
    _take_bytecode(place)
    return place / "bin"


def _take_bytecode(place: Path) -> None:
    """Take the bytecode of files that are the same here: compiling them would take longer than most tests do."""
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(place)}))
    for file in packages.rglob("*.py"):
        for root in (Path(sysconfig.get_path("purelib")), REPOSITORY):
            here = root / file.relative_to(packages)
            bytecode = Path(cache_from_source(str(here)))
            if bytecode.exists() and filecmp.cmp(file, here, shallow=False):
                shutil.copystat(here, file)  # by its time a file is known to be what was compiled
                Path(cache_from_source(str(file))).parent.mkdir(exist_ok=True)
                shutil.copy(bytecode, cache_from_source(str(file)))
