"""The plugins of a test: those that are installed, and those that it brings, as files, packages, modules or objects."""

from __future__ import annotations

import importlib
import sys
import tomllib
from dataclasses import replace
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tfgitops import discover
from tfgitops.plugins.discovery import hook_seconds, import_file, imported
from tfgitops.plugins.door import GROUP, Plugin, Plugins
from tfgitops.spec.diagnostics import CompileError
from tfgitops.spec.disk import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


def find_plugins(*given: Any, installed: bool = True, without: Iterable[str] = ()) -> Plugins:
    """Return the plugins that are installed, and the given ones in the place of those that have the same names.

    Args:
        given: each a plugin's module, or an object with hooks, the file of a local plugin, the folder of a package
            whose pyproject.toml has the entry point, or the name of an installed plugin.
        installed: whether all that are installed are there, too; those of tfgitops are among them.
        without: names of installed plugins that are left out.

    Raises:
        CompileError: a plugin is not there, or cannot be used.
    """
    known = {plugin.name: plugin for plugin in discover(without=without).plugins}
    chosen = {plugin.name: plugin for one in given for plugin in load(one, known)}
    return together(({**known, **chosen} if installed else chosen).values())


def together(plugins: Iterable[Plugin]) -> Plugins:
    """Join some plugins, with the time limit that the environment sets."""
    return Plugins(tuple(plugins), seconds=hook_seconds())


def load(given: Any, known: Mapping[str, Plugin] | None = None) -> list[Plugin]:
    """Return the plugins that a value stands for, as `find_plugins` takes it; ``known`` are the installed ones.

    Raises:
        CompileError: a plugin is not there, or cannot be used.
    """
    if known is None:
        known = {plugin.name: plugin for plugin in discover().plugins}
    if isinstance(given, Plugin):
        return [given]
    if isinstance(given, str) and not given.endswith(".py"):
        if given not in known:
            raise CompileError.of("TF902", f"there is no plugin '{given}'", f"the plugins are {', '.join(known)}")
        return [known[given]]
    if isinstance(given, (str, Path)):
        path = Path(given).resolve()
        return load_package(path) if path.is_dir() else [load_file(path)]
    if same := [plugin for plugin in known.values() if plugin.hooks is given]:
        return same
    named = given if isinstance(given, (ModuleType, type)) else type(given)
    name = named.__name__.rpartition(".")[2].removeprefix("tfgitops_").replace("_", "-").lower()
    origin = getattr(given, "__name__", None) or f"{type(given).__module__}.{type(given).__name__}"
    plugin = Plugin(name, None, str(getattr(given, "__version__", "0")), origin)
    return [_imported(plugin, lambda: given, Path(getattr(given, "__file__", None) or "."))]


def load_file(path: Path, origin: str = "") -> Plugin:
    """Import a local plugin, whose ``origin`` is its file as a repository names it; raise as `load` does."""
    if not path.is_file() or path.suffix != ".py":
        hint = "name the file of a local plugin, such as plugins/cost.py"
        raise CompileError.of("TF902", f"{path} is not a Python file", hint)
    return _imported(Plugin(path.stem, None, "local", origin or path.name), partial(import_file, path), path)


def _imported(plugin: Plugin, run: Callable[[], Any], place: Path) -> Plugin:
    """Import a plugin as the compiler does, and raise what the compiler would say of it."""
    found = imported(plugin, run, hook_seconds(), str(place))
    if found.fault:
        hint = found.fault.hint.partition("until it can be used")[0].rstrip("; ") or "mend that, then try again"
        raise CompileError([replace(found.fault, file=shown(place), hint=hint)])
    return found


def load_package(folder: Path) -> list[Plugin]:
    """Import the plugins that a package's pyproject.toml names as entry points; raise as `load` does."""
    path = folder / "pyproject.toml"
    points = names_plugins(path)
    if not points:
        hint = f'as in [project.entry-points.{GROUP}] with cost = "tfgitops_cost"'
        raise CompileError.of("TF902", f"{path} names no plugin", hint)
    version = str(_project(path).get("version", "0"))
    found = [Plugin(name, None, version, target) for name, target in sorted(points.items())]
    return [_imported(plugin, partial(_import_from, folder, plugin.origin), path) for plugin in found]


def names_plugins(path: Path) -> dict[str, str]:
    """Return the plugins that a pyproject.toml names as entry points: what each name stands for."""
    return dict(_project(path).get("entry-points", {}).get(GROUP, {}))


def _project(path: Path) -> Any:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8")).get("project", {})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return {}


def _import_from(folder: Path, target: str) -> Any:
    """Import what an entry point names from its own folder, afresh; whatever its own code raises is let through."""
    point, places = EntryPoint(name="", value=target, group=GROUP), [str(folder), str(folder / "src")]
    kept, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # nobody asked for files
    sys.path[:0] = places
    try:
        top = point.module.partition(".")[0]
        for name in [name for name in sys.modules if name.partition(".")[0] == top]:  # of another folder, or outdated
            del sys.modules[name]
        importlib.invalidate_caches()
        return point.load()
    finally:
        sys.dont_write_bytecode = kept
        for place in places:
            sys.path.remove(place)
