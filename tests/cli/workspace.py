"""A root with one environment, and the command line in it."""

from __future__ import annotations

import sys
from pathlib import Path

from builder import cut

PROGRAM = Path(sys.executable).parent / "tfgitops"
HEAD = "apiVersion: tfgitops/v1alpha1\nkind: Environment\nnamespace: ml\n"
TRAIN = "jobs:\n  train: {image: 'tf:2.21', worker: 2}\n"
TWO = f"{TRAIN}  other: {{image: 'tf:2.21', worker: 1}}\n"
QUEUES = "queues: {vision: {}, text: {parent: vision}}\n"
PROD = Path("environments/prod")
WORKLOADS = PROD / "manifests/workloads"
MANIFEST = WORKLOADS / "job-train.yaml"
OTHER = WORKLOADS / "job-other.yaml"

State = dict[str, tuple[str, int]]


def put(path: Path | str, text: str) -> Path:
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    return target


def edit(path: Path, old: str, new: str) -> None:
    path.write_text(cut(path.read_text(encoding="utf-8"), old, new), encoding="utf-8")


def tree(top: Path | str = ".") -> State:
    """Return every file below a folder: its content, and when it was written."""
    return {
        str(path): ("link" if path.is_symlink() else path.read_bytes().decode("latin-1"), path.lstat().st_mtime_ns)
        for path in sorted(Path(top).rglob("*"))
        if path.is_symlink() or path.is_file()
    }
