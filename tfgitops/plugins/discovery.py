"""Where plugins come from: what is installed, and the files that a repository names; each is there, usable or not."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from dataclasses import replace
from importlib.metadata import entry_points
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfgitops.plugins.door import GROUP, SECONDS, Plugin, Plugins, isolation_of
from tfgitops.plugins.faults import OutOfTimeError, failed_import, keys_unknown, unusable
from tfgitops.plugins.hookspecs import API_VERSION
from tfgitops.plugins.plain import brief
from tfgitops.spec.diagnostics import CompileError
from tfgitops.spec.disk import kind_of, resolved, shown
from tfgitops.spec.project import find_root, read_project
from tfgitops.targets.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import ModuleType

    from tfgitops.spec.project import Project

_LIMIT, _TRACE = "TFGITOPS_HOOK_SECONDS", "TFGITOPS_TRACE"


def discover(project: Project | None = None, without: Iterable[str] = ()) -> Plugins:
    """Find the plugins that are installed, and the local ones that a repository names.

    One that cannot be imported, or is of another version of the contract, is there with its fault. Raises CompileError
    if one that is to be left out, or has settings, is not there; or an environment variable is wrong.
    """
    without, seconds, traced = frozenset(without), hook_seconds(), _traced()
    points = entry_points(group=GROUP)
    local = project.plugins if project else ()
    _check_names(sorted({*points.names, *(Path(name).stem for name in local)}), without, project)
    # Several plugins come from one distribution, and each access to its metadata parses a file.
    about: dict[Any, Any] = {dist: dist.metadata if dist else {} for dist in {point.dist for point in points}}
    found = [_installed(point, about[point.dist], seconds) for point in points if point.name not in without]
    found += [_local(project, name, seconds) for name in local if project and Path(name).stem not in without]
    return Plugins(tuple(_each_once(found)), seconds=seconds, traced=traced, without=without)


def plugins_here(without: Iterable[str] | None = None) -> Plugins:
    """Return the plugins that `tfgitops build` would use for the environments of the working directory."""
    return discover(read_project(find_root(Path.cwd() / "environments" / "any")), without or ())


def hook_seconds() -> float:
    """Read how many seconds one call of a plugin may take; 0 is without end."""
    text = os.environ.get(_LIMIT, "")
    if re.fullmatch(r"(\d*\.?\d+)?", text):
        return float(text or SECONDS)
    hint = f"such as 60; 0 is without a limit, and without the variable it is {SECONDS:g}"
    raise CompileError.of("TF101", f"{_LIMIT} is no number of seconds: {text[:40]!r}", hint)


def _traced() -> bool:
    """Read whether each call of a plugin is shown."""
    text = os.environ.get(_TRACE, "")
    if text not in ("", "hooks"):
        raise CompileError.of("TF101", f"{_TRACE} is {text[:40]!r}", f"{_TRACE}=hooks shows each call of a plugin")
    return bool(text)


def _check_names(known: list[str], without: Iterable[str], project: Project | None) -> None:
    """Refuse names of plugins that are not there: a slip of the pen."""
    wrong = [(name, f"there is no plugin '{name}' to leave out") for name in sorted(without)]
    settings = sorted(project.settings) if project else ()
    wrong += [(name, f"[tool.tfgitops.settings.{name}] is for a plugin that is not there") for name in settings]
    otherwise = f"the plugins are {', '.join(known)}"
    if found := [unusable(said, did_you_mean(it, known) or otherwise) for it, said in wrong if it not in known]:
        raise CompileError(found)


def _each_once(found: Iterable[Plugin]) -> Iterator[Plugin]:
    """Yield the plugins in the order of their names; of those that have one name, none can be used."""
    ordered = sorted(found, key=lambda plugin: (plugin.name, plugin.origin))
    for name, same in groupby(ordered, key=lambda plugin: plugin.name):
        plugin, *others = same
        if others:
            message = f"two plugins are called '{name}': {' and '.join(map(str, (plugin, *others)))}"
            plugin = replace(plugin, fault=unusable(message, keys_unknown(name)))
        yield plugin


def _installed(point: Any, metadata: Any, seconds: float) -> Plugin:
    bundled = metadata.get("Name") == GROUP
    plugin = Plugin(point.name, None, metadata.get("Version", ""), point.value, bundled)
    return imported(plugin, point.load, 0 if bundled else seconds)


def _local(project: Project, name: str, seconds: float) -> Plugin:
    plugin = Plugin(Path(name).stem, None, "local", name)
    try:
        path = resolved(project.root / name)
        inside = path.is_relative_to(resolved(project.root)) and kind_of(project.root / name) == "file"
    except OSError as error:
        return plugin.unusable(f"cannot be read: {error.strerror}", "see [tool.tfgitops] plugins")
    if not inside:
        return plugin.unusable("is not a file inside the root", "see [tool.tfgitops] plugins")
    found = imported(plugin, lambda: import_file(path), seconds, str(path))
    return replace(found, fault=replace(found.fault, file=shown(path))) if found.fault else found


def imported(plugin: Plugin, load: Callable[[], Any], seconds: float, file: str = "") -> Plugin:
    """Import a plugin, whose ``file`` is named in its fault; a plugin that cannot be used has one."""
    try:
        with isolation_of(plugin, seconds):
            return _declared(plugin, load())
    except KeyboardInterrupt as error:
        error.add_note(f"while {plugin} was imported")
        raise
    except (Exception, SystemExit, OutOfTimeError) as error:  # noqa: BLE001 - whatever it is, it is the plugin's fault
        return plugin.unusable(f"cannot be imported: {failed_import(error, file, seconds)}")


def _declared(plugin: Plugin, hooks: Any) -> Plugin:
    """Return a plugin with its hooks, if it declares our version of the contract."""
    version = getattr(hooks, "tfgitops_api", None)
    if type(version) is not int or version != API_VERSION:
        declared = "declares no `tfgitops_api`" if version is None else f"declares tfgitops_api = {brief(version)}"
        return plugin.unusable(declared, f"this compiler speaks version {API_VERSION}")
    return Plugin(plugin.name, hooks, plugin.version, plugin.origin, plugin.bundled)


def import_file(path: Path) -> ModuleType:
    """Import the file of a local plugin, which nobody else can import."""
    name = f"tfgitops_local_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError("it is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
