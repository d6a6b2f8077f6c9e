"""What the tests share: compiling a spec from text, looking into the result, and golden files."""

from __future__ import annotations

import importlib.util
import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from repository import Repository

from tfgitops import Compiled, Plugins, compile_environment, discover
from tfgitops.report.text import render

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

REPOSITORY = Path(__file__).parent.parent
HEAD = "apiVersion: tfgitops/v1alpha1\nkind: Environment\nnamespace: ml\n"


def load_tool(name: str) -> ModuleType:
    """Import one of the scripts of ``tools/``, which are no package."""
    spec = importlib.util.spec_from_file_location(name, REPOSITORY / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--refresh", action="store_true", help="write golden files anew instead of comparing with them")


class Result:
    """One compiled environment, by job, role and container."""

    def __init__(self, compiled: Compiled) -> None:
        self.compiled = compiled
        self.ok = compiled.ok
        self.text = render(compiled.diagnostics)
        self.codes = [diagnostic.code for diagnostic in compiled.diagnostics]
        self.files = {file.path: file.text for file in compiled.files}

    def manifest(self, path: str) -> dict[str, Any]:
        """Read one file, such as ``cluster/queue-vision.yaml``, as a YAML 1.1 reader would."""
        found: dict[str, Any] = yaml.safe_load(self.files[path])
        return found

    def job(self, name: str = "train") -> dict[str, Any]:
        assert self.ok, self.text
        return self.manifest(f"workloads/job-{name}.yaml")

    def task(self, role: str, job: str = "train") -> dict[str, Any]:
        return next(task for task in self.job(job)["spec"]["tasks"] if task["name"] == role)

    def pod(self, role: str, job: str = "train") -> dict[str, Any]:
        spec: dict[str, Any] = self.task(role, job)["template"]["spec"]
        return spec

    def container(self, role: str, job: str = "train") -> dict[str, Any]:
        first: dict[str, Any] = self.pod(role, job)["containers"][0]
        return first

    def env(self, role: str, job: str = "train") -> dict[str, Any]:
        return {entry["name"]: entry.get("value", entry.get("valueFrom")) for entry in self.container(role, job)["env"]}

    def tf_config(self, role: str, index: int = 0, job: str = "train") -> dict[str, Any]:
        text = self.env(role, job)["TF_CONFIG"].replace("$(TASK_INDEX)", str(index))
        config: dict[str, Any] = json.loads(text)
        return config


@pytest.fixture(scope="session")
def plugins() -> Plugins:
    return discover()


@pytest.fixture
def compile_spec(tmp_path: Path, plugins: Plugins, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Compile the text of an environment, with its head put before it unless it has one.

    ``files`` are further files, by their path relative to the environment's folder.
    """

    def compile_text(
        text: str, files: Mapping[str, str] | None = None, *, head: bool = True, plugins: Plugins = plugins
    ) -> Result:
        folder = tmp_path / "environments" / "test"
        folder.mkdir(parents=True, exist_ok=True)
        monkeypatch.chdir(folder)
        text = textwrap.dedent(text)
        whole = text if not head or "apiVersion:" in text else HEAD + text
        for path, content in {"environment.yaml": whole, **(files or {})}.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(textwrap.dedent(content), encoding="utf-8")
        return Result(compile_environment(folder, plugins))

    return compile_text


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, Path], None]:
    """Compare a text with a golden file, or write the file anew with ``--refresh``."""

    def compare(text: str, path: Path) -> None:
        if request.config.getoption("--refresh"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"{path} is missing; write it with --refresh, and read it"
        assert text == path.read_text(encoding="utf-8")

    return compare


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Return a Git repository with one environment, and go there."""
    monkeypatch.chdir(tmp_path)
    return Repository(tmp_path)
