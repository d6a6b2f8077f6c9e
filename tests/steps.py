"""What the tests of CI files share: reading them, and running their steps as a runner would."""

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

WRITTEN = REPOSITORY / "tfgitops" / "starting" / "files"
EXAMPLES = {
    path.name: path
    for path in (
        *(WRITTEN / name for name in ("github.yaml", "gitlab.yaml", "pre-commit.yaml")),
        *sorted((REPOSITORY / "docs" / "ci").glob("*.yaml")),
        REPOSITORY / ".pre-commit-hooks.yaml",
        REPOSITORY / "action.yml",
        REPOSITORY / "templates" / "check" / "template.yml",
    )
}
"""The CI files by name: those that `tfgitops init` writes, those to copy, and those that others call from here."""
BIN = Path(sys.executable).parent
HEAD = "apiVersion: tfgitops/v1alpha1\nkind: Environment\nnamespace: ml\n"


def read(path: Path) -> Any:
    """Return the last document of a file: a component of GitLab has its inputs in a document before."""
    return [*yaml.safe_load_all(path.read_text(encoding="utf-8"))][-1]


def texts(value: Any) -> Iterator[str]:
    """Yield every text in a document, wherever it is."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for below in value.values() for text in texts(below))
    elif isinstance(value, list):
        yield from (text for below in value for text in texts(below))


def step(example: str, name: str) -> str:
    """Return the script of a step of a workflow, or of the action."""
    (found,) = [step["run"] for step in steps_of(example) if step.get("name") == name]
    return str(found)


def steps_of(example: str) -> list[dict[str, Any]]:
    document = read(EXAMPLES[example])
    (job,) = document["jobs"].values() if "jobs" in document else [document["runs"]]
    return list(job["steps"])


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
