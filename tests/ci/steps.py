"""What the tests of docs/ci share: reading the examples, and running their steps as a runner would."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from checkout import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLES = REPOSITORY / "docs" / "ci"
BIN = Path(sys.executable).parent
HEAD = "apiVersion: tfgitops/v1alpha1\nkind: Environment\nnamespace: ml\n"


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def texts(value: Any) -> Iterator[str]:
    """Yield every text in a document, wherever it is."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for below in value.values() for text in texts(below))
    elif isinstance(value, list):
        yield from (text for below in value for text in texts(below))


def step(example: str, name: str) -> str:
    """Return the script of a step of a workflow."""
    (job,) = read(EXAMPLES / example)["jobs"].values()
    (found,) = [step["run"] for step in job["steps"] if step.get("name") == name]
    return str(found)


def shell(script: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script as GitHub's runner does: bash, which ends at the first command that fails."""
    settings = {
        **os.environ, "PATH": f"{folder}/bin:{BIN}:{os.environ['PATH']}", "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull, **environment,
    }  # fmt: skip
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-c", script],
        cwd=folder, env=settings, capture_output=True, text=True, check=False,
    )  # fmt: skip


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
