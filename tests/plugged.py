"""A repository with one environment and local plugins of its own, and texts of plugins to put there."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import yaml
from commandline import run

from tfgitops import Compiled, Plugins, compile_environment, discover
from tfgitops.report.text import render
from tfgitops.spec.project import read_project

SPEC = """\
apiVersion: tfgitops/v1alpha1
kind: Environment
namespace: ml
jobs:
  train:
    image: tf:2.21
    labels: {team: vision}
    worker: 2
"""
HEAD = """\
from tfgitops import Object, Patch, Problem, SchemaFragment, hookimpl

tfgitops_api = 1


"""
FOLDER = Path("environments/prod")
MANIFESTS = FOLDER / "manifests"


class Plugged:
    """A root with one environment, and local plugins of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.spec(SPEC)
        self._names: list[str] = []
        self._settings = ""
        self._write()

    def spec(self, text: str) -> None:
        (self.root / FOLDER).mkdir(parents=True, exist_ok=True)
        (self.root / FOLDER / "environment.yaml").write_text(text)

    def plugin(self, name: str, body: str = "", head: str = HEAD) -> None:
        (self.root / f"{name}.py").write_text(head + textwrap.dedent(body))
        self._names += [name] * (name not in self._names)
        self._write()

    def settings(self, text: str) -> None:
        self._settings = text
        self._write()

    def _write(self) -> None:
        files = json.dumps([f"{name}.py" for name in self._names])
        (self.root / "pyproject.toml").write_text(f"[tool.tfgitops]\nplugins = {files}\n{self._settings}\n")

    def discover(self, *without: str) -> Plugins:
        return discover(read_project(self.root), without)

    def compile(self, plugins: Plugins | None = None) -> Compiled:
        project = read_project(self.root)
        return compile_environment(self.root / FOLDER, plugins or discover(project), project)

    def job(self) -> dict[str, Any]:
        compiled = self.compile()
        assert compiled.ok, render(compiled.diagnostics)
        text = next(file.text for file in compiled.files if file.path == "workloads/job-train.yaml")
        manifest: dict[str, Any] = yaml.safe_load(text)
        return manifest

    def pod(self) -> dict[str, Any]:
        spec: dict[str, Any] = self.job()["spec"]["tasks"][0]["template"]["spec"]
        return spec


def hook(name: str, arguments: str, body: str) -> str:
    return f"@hookimpl\ndef {name}({arguments}):\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n\n\n"


def contribute(body: str) -> str:
    return hook("tfgitops_contribute", "job", body)


def build(*arguments: str) -> Any:
    return run("build", *arguments)


def pod_patch(spec: str) -> str:
    return contribute(f'for role in job.roles: yield role.pod({{"spec": {spec}}}, "image")')


def requirement(key: str) -> str:
    expression = f'{{"matchExpressions": [{{"key": "{key}", "operator": "Exists"}}]}}'
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    return pod_patch(f'{{"affinity": {{"nodeAffinity": {{"{required}": {{"nodeSelectorTerms": [{expression}]}}}}}}}}')
