"""What a user has: the wheel, in an environment of its own, and programs that know nothing of this checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

from checkout import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

_PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")


def run(*command: str | Path, cwd: Path, code: int = 0) -> str:
    """Run a program as somebody would who has never heard of this checkout, and return what it says."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    result = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout if code == 0 else result.stdout + result.stderr


def build_wheel(place: Path) -> Path:
    """Build the wheel from a copy of the repository, which holds nothing but what is committed or would be."""
    for name in ("tfgitops", "plugins", "schemas"):
        shutil.copytree(REPOSITORY / name, place / "source" / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / name, place / "source" / name)
    [built] = build_wheels(place, place / "source")
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
    return place / "bin"
