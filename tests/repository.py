"""A scripted Git repository with environments, and the command line in it."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any

from builder import cut
from commandline import run

if TYPE_CHECKING:
    from pathlib import Path

_IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "A"), ("EMAIL", "a@example.com"), ("DATE", "2026-01-02T03:04:05Z"))
}

BASE = """\
apiVersion: tfgitops/v1alpha1
kind: Environment
defaults:
  image: registry.example.com/tf:2.21
"""
PROD = """\
apiVersion: tfgitops/v1alpha1
kind: Environment
extends: ../base.yaml
cluster: eu-1
namespace: ml
gitops: argocd
queues:
  vision: {capability: {cpu: 64, nvidia.com/gpu: 8}}
volumes:
  logs: {size: 10Gi, storageClass: fast, access: ReadWriteMany, path: /logs}
defaults:
  queue: vision
  volumes: [logs]
jobs:
  bert:
    command: [python, train.py, --out=/logs/$(RUN)]
    worker: {replicas: 2, cpu: 4, gpu: 1}
  resnet:
    command: [python, train.py, --out=/logs/$(RUN)]
    env: {LR: 0.1}
    worker: {replicas: 2, cpu: 8, gpu: 2}
  shards:
    command: [python, extract.py, --out=/logs/$(RUN)]
    tasks: {shard: {replicas: 4, cpu: 2, minAvailable: 1}}
    minAvailable: 1
"""


class Repository:
    """A repository of one environment, built and committed on `main`, with `change` checked out."""

    def __init__(self, top: Path, *options: str) -> None:
        self.top = top
        self.git("init", "--quiet", "--initial-branch=main", "--template=", *options)  # no samples of hooks to copy
        self.write("environments/base.yaml", BASE)
        self.write("environments/prod/environment.yaml", PROD)
        self.build()
        self.commit("base")
        self.git("checkout", "--quiet", "-b", "change")

    @classmethod
    def of(cls, top: Path) -> Repository:
        """Return a repository that was made already."""
        made = cls.__new__(cls)
        made.top = top
        return made

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        """Run Git, without what the machine's own settings say."""
        settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", **_IDENTITY}
        return subprocess.run(
            ["git", *arguments], cwd=cwd or self.top, env=os.environ | settings, check=True, capture_output=True,
            text=True,
        ).stdout  # fmt: skip

    def commit(self, message: str) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)

    def keep(self) -> None:
        """Build, commit, and let `main` be that commit."""
        self.build("--restart-all")
        self.commit("kept")
        self.git("checkout", "--quiet", "-B", "main")
        self.git("checkout", "--quiet", "-B", "change")

    def write(self, path: str, text: str) -> None:
        target = self.top / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def read(self, path: str) -> str:
        return (self.top / path).read_text(encoding="utf-8")

    def edit(self, path: str, *changes: tuple[str, str]) -> None:
        text = self.read(path)
        for old, new in changes:
            text = cut(text, old, new)
        self.write(path, text)

    def prod(self, *changes: tuple[str, str]) -> None:
        """Edit the environment."""
        self.edit("environments/prod/environment.yaml", *changes)

    def base(self, *changes: tuple[str, str]) -> None:
        """Edit what the environment extends."""
        self.edit("environments/base.yaml", *changes)

    def manifest(self, name: str) -> str:
        """Return the text of a manifest of a job."""
        return self.read(f"environments/prod/manifests/workloads/job-{name}.yaml")

    def build(self, *arguments: str) -> None:
        result = run("build", *arguments)
        assert result.exit_code == 0, result.output

    def review(self, *arguments: str) -> Any:
        return run("review", "--against", "main", *arguments)
