"""The plugins of a test: those that are installed, and those that it brings, as files, packages, modules or objects."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tfgitops import discover
from tfgitops.diagnostics import CompileError, Diagnostic
from tfgitops.hookspecs import API_VERSION
from tfgitops.plugins.door import GROUP, Plugin, Plugins

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LOCAL = "tfgitops_local_"
"""What the modules of local plugins are called by, as the compiler calls them."""


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
    chosen = dict(known) if installed else {}
    for one in given:
        for plugin in load(one, known):
            chosen[plugin.name] = plugin
    return together(chosen.values())


def together(plugins: Iterable[Plugin]) -> Plugins:
    """Join some plugins, in the order of their names."""
    return Plugins(tuple(sorted(plugins, key=lambda plugin: plugin.name)))


def load(given: Any, known: Mapping[str, Plugin] | None = None) -> list[Plugin]:
    """Return the plugins that one thing stands for, as `find_plugins` has it.

    ``known`` are those that are installed, by their names, where they have been looked for already.

    Raises:
        CompileError: a plugin is not there, or cannot be used.
    """
    if known is None:
        known = {plugin.name: plugin for plugin in discover().plugins}
    if isinstance(given, Plugin):
        return [given]
    if isinstance(given, str) and not given.endswith(".py"):
        if given not in known:
            raise _refuse(f"there is no plugin '{given}'", f"the plugins are {', '.join(known)}")
        return [known[given]]
    if isinstance(given, (str, Path)):
        path = Path(given).resolve()
        return load_package(path) if path.is_dir() else [load_file(path)]
    same = [plugin for plugin in known.values() if plugin.hooks is given]
    return same or [_checked(Plugin(_name(given), given, str(getattr(given, "__version__", "0")), _origin(given)))]


def load_file(path: Path, origin: str = "") -> Plugin:
    """Import a local plugin, whose ``origin`` is its file as a repository names it.

    Raises:
        CompileError: it is not there, or cannot be imported.
    """
    name = f"{LOCAL}{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise _refuse(f"{path} is not a Python file", "name the file of a local plugin, such as plugins/cost.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # whatever its own code raises
        raise _refuse(f"{path} cannot be imported: {error}", "") from error
    return _checked(Plugin(path.stem, module, "local", origin or path.name))


def _checked(plugin: Plugin) -> Plugin:
    """Return a plugin that speaks our version of the contract.

    Raises:
        CompileError: it does not.
    """
    version = getattr(plugin.hooks, "tfgitops_api", None)
    if version != API_VERSION:
        declared = "declares no `tfgitops_api`" if version is None else f"declares tfgitops_api = {version}"
        raise _refuse(f"{plugin} {declared}", f"this compiler speaks version {API_VERSION}")
    return plugin


def load_package(folder: Path) -> list[Plugin]:
    """Import the plugins that a package's pyproject.toml names as entry points, installed or not.

    Raises:
        CompileError: there is none, or one cannot be imported.
    """
    path = folder / "pyproject.toml"
    points = names_plugins(path)
    if not points:
        hint = f'as in [project.entry-points.{GROUP}] with cost = "tfgitops_cost"'
        raise _refuse(f"{path} names no plugin", hint)
    version = str(_project(path).get("version", "0"))
    return [
        _checked(Plugin(name, import_from(folder, target), version, target)) for name, target in sorted(points.items())
    ]


def names_plugins(path: Path) -> dict[str, str]:
    """Return the plugins that a pyproject.toml names as entry points: what each name stands for."""
    points: dict[str, str] = _project(path).get("entry-points", {}).get(GROUP, {})
    return points


def _project(path: Path) -> dict[str, Any]:
    try:
        project: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8")).get("project", {})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return {}
    return project


def import_from(folder: Path, target: str) -> Any:
    """Import what an entry point names from its own folder, afresh.

    Raises:
        CompileError: it cannot be imported.
    """
    module, _, attribute = target.partition(":")
    places = [str(folder), str(folder / "src")]
    kept, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # nobody asked for files
    sys.path[:0] = places
    try:
        _forget(module)
        found: Any = importlib.import_module(module)
        for name in filter(None, attribute.split(".")):
            found = getattr(found, name)
    except Exception as error:  # whatever its own code raises
        raise _refuse(f"{target} cannot be imported: {error}", f"it is an entry point of {folder}") from error
    finally:
        sys.dont_write_bytecode = kept
        for place in places:
            sys.path.remove(place)
    return found


def _forget(module: str) -> None:
    """Forget what was imported under a name, and below it: another folder's, or this one's as it was."""
    top = module.partition(".")[0]
    for name in [name for name in sys.modules if name == top or name.startswith(f"{top}.")]:
        del sys.modules[name]
    importlib.invalidate_caches()


def _name(given: Any) -> str:
    """Name a plugin after its module, or its class: `tfgitops_cost_centre` is `cost-centre`."""
    named = given.__name__ if isinstance(given, (ModuleType, type)) else type(given).__name__
    return named.rpartition(".")[2].removeprefix("tfgitops_").replace("_", "-").lower()


def _origin(given: Any) -> str:
    return getattr(given, "__name__", None) or f"{type(given).__module__}.{type(given).__name__}"


def _refuse(message: str, hint: str) -> CompileError:
    return CompileError([Diagnostic(code="TF902", severity="error", message=message, hint=hint)])
