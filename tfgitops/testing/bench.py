"""The bench on which tests try plugins: how plugins are found, and how specs are compiled with them."""

from __future__ import annotations

import importlib
import sys
import textwrap
import tomllib
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tfgitops import discover
from tfgitops.compiler.pipeline import compile_environment
from tfgitops.plugins.discovery import hook_seconds, import_file, imported
from tfgitops.plugins.door import GROUP, Plugin, Plugins
from tfgitops.spec.diagnostics import CompileError
from tfgitops.spec.disk import shown
from tfgitops.spec.project import SPEC, Project, find_root, read_project
from tfgitops.spec.yamltext import parse
from tfgitops.testing.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    Settings = Mapping[str, Mapping[str, Any]]


def find_plugins(*given: Any, installed: bool = True, without: Iterable[str] = ()) -> Plugins:
    """Return the plugins that are installed, and the given ones in the place of those that have the same names.

    Args:
        given: each a plugin's module, or an object with hooks, the file of a local plugin, the folder of a package
            whose pyproject.toml has the entry point, or the name of an installed plugin.
        installed: whether all that are installed are there, too; those of tfgitops are among them.
        without: names of installed plugins that are left out.

    Raises CompileError if a plugin is not there, or cannot be used.
    """
    known = {plugin.name: plugin for plugin in discover(without=without).plugins}
    chosen = {plugin.name: plugin for one in given for plugin in load(one, known)}
    return together(({**known, **chosen} if installed else chosen).values())


def together(plugins: Iterable[Plugin]) -> Plugins:
    """Join some plugins, with the time limit that the environment sets."""
    return Plugins(tuple(plugins), seconds=hook_seconds())


def load(given: Any, known: Mapping[str, Plugin] | None = None) -> list[Plugin]:
    """Return the plugins that a value stands for, as `find_plugins` takes it; ``known`` are the installed ones.

    Raises CompileError if a plugin is not there, or cannot be used.
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


HEAD = "apiVersion: tfgitops/v1alpha1\nkind: Environment\nnamespace: ml\n"
"""What is put before a spec that has no ``apiVersion``."""


class Bench:
    """Compiles texts in ``root/environments/test``; ``read`` makes values of a manifest's text."""

    def __init__(self, root: Path, plugins: Plugins, read: Callable[[str], Any] = parse) -> None:
        self.folder = root / "environments" / "test"
        self._root = root
        self._plugins = plugins
        self._read = read

    def __call__(
        self,
        text: str,
        files: Mapping[str, str] | None = None,
        *,
        head: bool = True,
        plugins: Plugins | None = None,
        settings: Settings | None = None,
    ) -> Result:
        """Compile the text of an environment, with `HEAD` put before it unless it has a head.

        Args:
            text: the text of ``environment.yaml``, which may be indented as a whole.
            files: the texts of further files, by their path relative to the environment's folder.
            head: whether a head is put before a text without one.
            plugins: others than those of the bench.
            settings: what pyproject.toml would have in ``[tool.tfgitops.settings]``, by the plugin's name.
        """
        _write(self.folder, text, files or {}, head=head)
        chosen = plugins or self._plugins
        project = Project(root=self._root, settings=plain(settings))
        return Result(compile_environment(self.folder, chosen, project), chosen, self._read)


@contextmanager
def opened(spec: Path | str, settings: Settings) -> Iterator[tuple[Path, Project]]:
    """Give the folder of a spec, which is one or the text of one, and its project with some settings."""
    with TemporaryDirectory() as place:
        folder = spec if isinstance(spec, Path) else Path(place, "environments", "test")
        if not isinstance(spec, Path):
            _write(folder, spec, {}, head=True)
        project = read_project(find_root(folder.resolve()))
        yield folder.resolve(), replace(project, settings={**plain(settings), **project.settings})


def plain(settings: Settings | None) -> dict[str, dict[str, Any]]:
    """Return settings as they are read from a file."""
    return {name: dict(values) for name, values in (settings or {}).items()}


def _write(folder: Path, text: str, files: Mapping[str, str], *, head: bool) -> None:
    text = textwrap.dedent(text)
    whole = HEAD + text if head and "apiVersion:" not in text else text
    for path, content in {SPEC: whole, **files}.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(textwrap.dedent(content), encoding="utf-8")
