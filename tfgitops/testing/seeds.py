"""Whether what a plugin makes depends on the order of a set, which Python chooses anew in each process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tfgitops.compiler.pipeline import compile_environment
from tfgitops.plugins.door import Plugin
from tfgitops.report.text import render
from tfgitops.spec.diagnostics import CompileError, Diagnostic
from tfgitops.spec.project import SPEC, Project, find_root, read_project
from tfgitops.testing.bench import HEAD
from tfgitops.testing.finding import LOCAL, find_plugins, import_from, load_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_SEEDS = ("1", "2", "3")


@contextmanager
def opened(spec: Path | str, settings: Mapping[str, Any]) -> Iterator[tuple[Path, Project]]:
    """Give the folder of a spec, which is one or the text of one, and its project with some settings."""
    with TemporaryDirectory() as place:
        folder = spec if isinstance(spec, Path) else Path(place, "environments", "test")
        if not isinstance(spec, Path):
            folder.mkdir(parents=True)
            (folder / SPEC).write_text(spec if "apiVersion:" in spec else HEAD + spec, encoding="utf-8")
        project = read_project(find_root(folder.resolve()))
        yield folder.resolve(), replace(project, settings={**settings, **project.settings})


def unsteady(plugin: Plugin, specs: Sequence[Path | str], settings: Mapping[str, Any]) -> list[int]:
    """Return the numbers of the specs that do not compile to the same in processes with other hashes.

    Only a plugin that is a module can be asked so; of another kind, none is returned.

    Raises:
        CompileError: another process cannot use the plugin.
    """
    if not isinstance(plugin.hooks, ModuleType) or not plugin.hooks.__file__:
        return []
    asked = {
        "path": sys.path,
        "plugin": [plugin.name, plugin.version, plugin.origin, plugin.hooks.__name__, plugin.hooks.__file__],
        "specs": [[str(spec.resolve()), True] if isinstance(spec, Path) else [spec, False] for spec in specs],
        "settings": settings,
    }
    children = [_child(seed) for seed in _SEEDS]  # at the same time
    answers = []
    for child in children:
        told, failure = child.communicate(json.dumps(asked))
        if child.returncode:
            message = f"{plugin} cannot be tried in another process: {failure.strip().splitlines()[-1]}"
            raise CompileError([Diagnostic(code="TF902", severity="error", message=message)])
        answers.append(json.loads(told))
    return [number for number, digests in enumerate(zip(*answers, strict=True)) if len(set(digests)) > 1]


def _child(seed: str) -> subprocess.Popen[str]:
    command = (sys.executable, "-c", f"from {__name__} import main; main()")
    pipe, environment = subprocess.PIPE, {**os.environ, "PYTHONHASHSEED": seed}
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, text=True)  # noqa: S603 - us


def main() -> None:
    """Print a digest of all that comes of each spec, for the process that asks."""
    asked = json.load(sys.stdin)
    sys.path += [place for place in asked["path"] if place not in sys.path]
    plugins = find_plugins(_plugin(*asked["plugin"]))
    digests = []
    for text, is_path in asked["specs"]:
        with opened(Path(text) if is_path else text, asked["settings"]) as (folder, project):
            compiled = compile_environment(folder, plugins, project)
            made = [*((file.path, file.text) for file in compiled.files), render(compiled.diagnostics).split("\n")]
        digests.append(sha256(repr(made).replace(str(folder), "").encode()).hexdigest())
    print(json.dumps(digests))  # noqa: T201 - the answer


def _plugin(name: str, version: str, origin: str, module: str, file: str) -> Plugin:
    path = Path(file)
    if module.startswith(LOCAL):
        return load_file(path, origin)
    parts = module.count(".") + (path.name == "__init__.py")
    return Plugin(name, import_from(path.parents[parts], module), version, origin)
