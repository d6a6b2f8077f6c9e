"""Whether what a plugin makes depends on the order of a set, which Python chooses anew in each process."""

from __future__ import annotations

import importlib
import os
import pickle
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tfgitops.compiler.pipeline import compile_environment
from tfgitops.plugins.discovery import import_file
from tfgitops.plugins.door import Plugin
from tfgitops.report.text import render
from tfgitops.spec.diagnostics import CompileError
from tfgitops.testing.bench import opened
from tfgitops.testing.finding import find_plugins

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tfgitops.compiler.compiled import Compiled

_SEEDS = ("1", "2")


def digest(compiled: Compiled) -> str:
    """Return a digest of all that came of a spec, wherever that lies."""
    made = [*((file.path, file.text) for file in compiled.files), render(compiled.diagnostics).split("\n")]
    return sha256(repr(made).replace(str(compiled.folder), "").encode()).hexdigest()


def unsteady(
    plugin: Plugin, specs: Sequence[Path | str], settings: Mapping[str, Any], here: Sequence[str]
) -> list[int]:
    """Return the numbers of the specs that do not compile to the same in processes with other hashes.

    Only a plugin that is a module can be asked so; of another kind, none is returned. ``here`` are the digests of what
    the specs compile to in this process.

    Raises:
        CompileError: another process cannot use the plugin.
    """
    if not isinstance(plugin.hooks, ModuleType) or not plugin.hooks.__file__:
        return []
    place = Path(plugin.hooks.__file__)
    top = place.parents[plugin.hooks.__name__.count(".") + (place.name == "__init__.py")]  # from where it is imported
    described = (plugin.name, plugin.version, plugin.origin, plugin.hooks.__name__, place)
    asked = pickle.dumps(([str(top), *sys.path], described, specs, settings))
    children = [_child(seed) for seed in _SEEDS]  # at the same time
    answers = [here]
    for child in children:
        told, failure = child.communicate(asked)
        if child.returncode:
            reason = failure.decode(errors="replace").strip().splitlines()[-1]
            raise CompileError.of("TF902", f"{plugin} cannot be tried in another process: {reason}")
        answers.append(told.decode().split())
    return [number for number, digests in enumerate(zip(*answers, strict=True)) if len(set(digests)) > 1]


def _child(seed: str) -> subprocess.Popen[bytes]:
    command = (sys.executable, "-B", "-c", f"from {__name__} import main; main()")
    pipe, environment = subprocess.PIPE, {**os.environ, "PYTHONHASHSEED": seed}
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment)  # noqa: S603 - us


def main() -> None:
    """Print a digest of all that comes of each spec, for the process that asks."""
    sys.path[:], (name, version, origin, module, file), specs, settings = pickle.load(sys.stdin.buffer)  # noqa: S301
    hooks = import_file(file) if version == "local" else importlib.import_module(module)
    plugins = find_plugins(Plugin(name, hooks, version, origin))
    for spec in specs:
        with opened(spec, settings) as (folder, project):
            print(digest(compile_environment(folder, plugins, project)))  # noqa: T201 - the answer
