"""Checks of a plugin's contract: its patches name their keys, keys are described, and no order changes its answers."""

from __future__ import annotations

import importlib
import json
import os
import pickle
import subprocess
import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tfgitops.compiler.pipeline import compile_environment
from tfgitops.plugins.discovery import import_file
from tfgitops.plugins.door import Plugin, Plugins
from tfgitops.provenance.replanned import JobPatches
from tfgitops.report.text import render
from tfgitops.spec.diagnostics import CompileError
from tfgitops.targets.kubernetes.schemafile import schema_file
from tfgitops.targets.routes import MISSING, reach
from tfgitops.testing.bench import find_plugins, opened

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.plugins.hookspecs import SchemaFragment
    from tfgitops.spec.model import Job, Patch
    from tfgitops.spec.project import Project
    from tfgitops.targets.routes import Route

_SEEDS = ("1", "2")  # of the hashes in other processes
_MAPS = ("properties", "patternProperties")


def misattributed(compiled: Compiled, plugin: Plugin, plugins: Plugins) -> Iterator[str]:
    """Yield a sentence for each patch that disappears with one key of the plugin and names another."""
    environment = compiled.environment
    if not compiled.ok or environment is None or not hasattr(plugin.hooks, "tfgitops_contribute"):
        return
    own = {(one.site, one.key) for one in plugins.fragments if f"plugin '{plugin.name}'" in one.owner}
    for job in environment.jobs:
        if not job.pin:
            patches = JobPatches(job, Plugins((plugin,)))
            keys = [route for route in _routes(job, own) if patches.written(route) is not MISSING]
            for _, patch in patches.all:
                yield from _misattributed(patches, plugin.name, patch, keys)


def _routes(job: Job, own: set[tuple[str, str]]) -> Iterator[Route]:
    """Yield where a job may have keys of a plugin: its own, those of its roles, and those at the top."""
    for site, key in sorted(own):
        if site == "environment":
            yield (key,)
        elif site in ("job", "role"):
            yield from ((*route, key) for route in (job.route, *(role.route for role in job.roles)))


def _misattributed(patches: JobPatches, plugin: str, patch: Patch, keys: list[Route]) -> Iterator[str]:
    because = patches.said(patch.because)
    if patches.written(because) is MISSING:
        return  # the check of each answer reports it
    asking = [route for route in keys if patches.without(plugin, patch, route) is False]
    if not asking or any(because[: len(route)] == route for route in asking):
        return
    if patches.is_unasked(because) or patches.without(plugin, patch, because):
        key, said = ".".join(map(str, asking[0])), ".".join(map(str, because))
        yield f"tfgitops_contribute yields a patch of {patch.target!r} because of `{said}`, but it is there for `{key}`"


def undescribed(fragment: SchemaFragment) -> Iterator[str]:
    """Yield a sentence for each property without a description, and for each map that takes any key."""
    if not _has_description(fragment.schema):
        yield f"the key '{fragment.key}' has no description"
    yield from _undescribed(fragment.schema, fragment.key)


def _undescribed(schema: Any, name: str) -> Iterator[str]:
    if isinstance(schema, list):
        for inner in schema:
            yield from _undescribed(inner, name)
    if not isinstance(schema, dict):
        return
    if "properties" in schema and "additionalProperties" not in schema:
        yield f"'{name}' takes any key: a typing mistake in it would pass; say `additionalProperties: false`"
    for keyword, value in schema.items():
        if keyword not in _MAPS:
            yield from _undescribed(value, name)
            continue
        for key, inner in value.items():
            if not _has_description(inner):
                yield f"the property '{name}.{key}' has no description"
            yield from _undescribed(inner, f"{name}.{key}")


def _has_description(schema: Any) -> bool:
    """Tell whether a schema, or the definition that it refers to, has a description."""
    if not isinstance(schema, dict):
        return True
    document, marker, name = str(schema.get("$ref", "")).partition("#/$defs/")
    target = schema_file(document or "core.schema.json")["$defs"].get(name, {}) if marker else {}
    return bool(schema.get("description") or target.get("description") or document == "pod.schema.json")


def depends_on_key_order(compiled: Compiled, project: Project, plugins: Plugins) -> bool:
    """Tell whether a spec compiles to something else with the keys of its files from the last to the first.

    A spec that does not compile, or that has pins, does not tell.
    """
    environment = compiled.environment
    if not compiled.ok or environment is None or any(job.pin for job in environment.jobs):
        return False
    with TemporaryDirectory() as place:
        root = Path(place).resolve()
        old = project.root.resolve()
        for document in environment.places.documents:
            depth = len(document.prefix)
            texts = {path: str(reach(document.value, at[depth:])) for at, path in document.texts.items()}
            for path, text in {document.path: json.dumps(_reversed(document.bare.value)), **texts}.items():
                target = root / path.resolve().relative_to(old)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(text.encode())
        folder = root / compiled.folder.resolve().relative_to(old)
        other = compile_environment(folder, plugins, replace(project, root=root))
    return _bodies(other) != _bodies(compiled)


def _bodies(compiled: Compiled) -> list[tuple[str, str]]:
    """Return each file without its first line: that tells aliases, which are written out here, from their values."""
    return [(file.path, file.text.partition("\n")[2]) for file in compiled.files]


def _reversed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _reversed(value[key]) for key in reversed(value)}
    return [_reversed(item) for item in value] if isinstance(value, list) else value


def digest(compiled: Compiled) -> str:
    """Return a digest of all that a spec compiles to, wherever the spec lies."""
    made = [*((file.path, file.text) for file in compiled.files), render(compiled.diagnostics).split("\n")]
    return sha256(repr(made).replace(str(compiled.folder), "").encode()).hexdigest()


def dependent_on_hashes(
    plugin: Plugin, specs: Sequence[Path | str], settings: Mapping[str, Any], here: Sequence[str]
) -> list[int]:
    """Return the indices of the specs that do not compile to the same in processes with other hash seeds.

    ``here`` are the digests of the results in this process. Only a plugin that is a module can be imported in another
    process; for any other plugin the list is empty. Raises CompileError if another process cannot use the plugin.
    """
    if not isinstance(plugin.hooks, ModuleType) or not plugin.hooks.__file__:
        return []
    file = Path(plugin.hooks.__file__)
    top = file.parents[plugin.hooks.__name__.count(".") + (file.name == "__init__.py")]  # from where it is imported
    described = (plugin.name, plugin.version, plugin.origin, plugin.hooks.__name__, file)
    asked = pickle.dumps(([str(top), *sys.path], described, specs, settings))
    children = [_child(seed) for seed in _SEEDS]  # at the same time
    answers = [here]
    for child in children:
        told, failure = child.communicate(asked)
        if child.returncode:
            reason = failure.decode(errors="replace").strip().splitlines()[-1]
            raise CompileError.of("TF902", f"{plugin} cannot be tried in another process: {reason}")
        answers.append(told.decode().split())
    return [index for index, digests in enumerate(zip(*answers, strict=True)) if len(set(digests)) > 1]


def _child(seed: str) -> subprocess.Popen[bytes]:
    command = (sys.executable, "-B", "-c", f"from {__name__} import main; main()")
    pipe, environment = subprocess.PIPE, {**os.environ, "PYTHONHASHSEED": seed}
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment)  # noqa: S603 - us


def main() -> None:
    """Print the digest of each spec's result, in a process that `dependent_on_hashes` starts."""
    sys.path[:], (name, version, origin, module, file), specs, settings = pickle.load(sys.stdin.buffer)  # noqa: S301
    hooks = import_file(file) if version == "local" else importlib.import_module(module)
    plugins = find_plugins(Plugin(name, hooks, version, origin))
    for spec in specs:
        with opened(spec, settings) as (folder, project):
            print(digest(compile_environment(folder, plugins, project)))  # noqa: T201 - the answer
