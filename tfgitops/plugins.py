"""The one door to the plugins: found, ordered, asked, and kept from breaking more than themselves."""

from __future__ import annotations

import importlib.util
import json
import sys
import traceback
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import entry_points
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pluggy

from tfgitops import hookspecs
from tfgitops.diagnostics import CompileError, Diagnostic, Problem
from tfgitops.schema import SpecSchema, join

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from types import ModuleType

    from tfgitops.diagnostics import Route
    from tfgitops.project import Project

GROUP = "tfgitops"

_ANSWERS: dict[str, type] = {
    "tfgitops_schema": hookspecs.SchemaFragment,
    "tfgitops_check_environment": Problem,
    "tfgitops_contribute": hookspecs.Patch,
    "tfgitops_objects": hookspecs.Object,
    "tfgitops_accelerators": hookspecs.Accelerator,
    "tfgitops_check_manifests": Problem,
}


@dataclass(frozen=True, slots=True)
class Plugin:
    """One plugin: its name, the module or object with its hooks, its version, and where it comes from."""

    name: str
    hooks: Any
    version: str
    origin: str


@dataclass
class Plugins:
    """Some plugins, asked in the order of their names whatever order they were installed in."""

    plugins: tuple[Plugin, ...]

    def __post_init__(self) -> None:
        self._manager = pluggy.PluginManager(GROUP)
        self._manager.add_hookspecs(hookspecs)
        self._callers: dict[tuple[str, str], Any] = {}
        for plugin in self.plugins:
            self._manager.register(plugin.hooks, plugin.name)

    @cached_property
    def schema(self) -> SpecSchema:
        """The shape of a spec with these plugins.

        Raises:
            CompileError: two plugins own one key, or a fragment has no place.
        """
        try:
            return join(self.fragments)
        except (ValueError, KeyError) as error:
            raise _unusable(f"the plugins' schemas do not fit together: {error}") from error

    @cached_property
    def fragments(self) -> tuple[hookspecs.SchemaFragment, ...]:
        """The keys that the plugins own."""
        problems: list[Problem] = []
        found = tuple(fragment for _, fragment in self.ask("tfgitops_schema", (), problems))
        if problems:
            raise _unusable(problems[0].message, problems[0].hint)
        return found

    def ask(self, hook: str, at: Route, problems: list[Problem], **arguments: Any) -> Iterator[tuple[str, Any]]:
        """Yield each plugin's answers to a hook with its name.

        pluggy calls hooks newest-first, and entry points arrive in whatever order the installation lists them;
        neither may leak into a committed file. A plugin that raises, or answers with something else than the hook
        promises, is added to ``problems`` at a route of the spec, and the others are asked all the same.
        """
        wanted = _ANSWERS[hook]
        for plugin in self.plugins:
            caller = self._caller(hook, plugin)
            if caller is None:
                continue
            try:
                answers = [item for result in caller(**arguments) for item in result]
            except Exception as error:  # noqa: BLE001 - whatever a plugin does is its problem, not a crash of ours
                problems.append(_crash(plugin, hook, error, at))
                continue
            for answer in answers:
                if isinstance(answer, wanted):
                    yield plugin.name, answer
                else:
                    problems.append(_rubbish(plugin, hook, answer, wanted, at))

    def _caller(self, hook: str, plugin: Plugin) -> Any:
        key = (hook, plugin.name)
        if key not in self._callers:
            others = [other.hooks for other in self.plugins if other is not plugin]
            caller = self._manager.subset_hook_caller(hook, others)
            self._callers[key] = caller if caller.get_hookimpls() else None
        return self._callers[key]


def read_schema(package: str, name: str = "schema.json") -> dict[str, Any]:
    """Read the JSON Schema that lies in a plugin's package: `read_schema(__name__)`."""
    schema: dict[str, Any] = json.loads(files(package).joinpath(name).read_text(encoding="utf-8"))
    return schema


def discover(project: Project | None = None, without: Iterable[str] = ()) -> Plugins:
    """Find the plugins that are installed, and the local ones that a repository names.

    Raises:
        CompileError: a plugin cannot be imported, or is of another version of the contract.
    """
    found = [_installed(point) for point in entry_points(group=GROUP) if point.name not in without]
    if project:
        found += [_local(project, name) for name in project.plugins]
    named: dict[str, Plugin] = {}
    for plugin in sorted(found, key=lambda plugin: plugin.name):
        if plugin.name in without:
            continue
        if plugin.name in named:
            message = f"two plugins are called '{plugin.name}': {named[plugin.name].origin} and {plugin.origin}"
            raise _unusable(message)
        version = getattr(plugin.hooks, "tfgitops_api", None)
        if version != hookspecs.API_VERSION:
            declared = "declares no `tfgitops_api`" if version is None else f"declares tfgitops_api = {version}"
            message = f"plugin '{plugin.name}' {plugin.version} ({plugin.origin}) {declared}"
            raise _unusable(message, f"this compiler speaks version {hookspecs.API_VERSION}")
        named[plugin.name] = plugin
    return Plugins(tuple(named.values()))


def _installed(point: Any) -> Plugin:
    try:
        hooks = point.load()
    except Exception as error:
        raise _unusable(f"plugin '{point.name}' cannot be imported: {error!r}", f"it is {point.value}") from error
    return Plugin(point.name, hooks, point.dist.version if point.dist else "", point.value)


def _local(project: Project, name: str) -> Plugin:
    path = (project.root / name).resolve()
    if not path.is_relative_to(project.root.resolve()) or not path.is_file():
        raise _unusable(f"the local plugin {name} is not a file inside the root", "see [tool.tfgitops] plugins")
    return Plugin(path.stem, _import_file(path), "local", name)


def _import_file(path: Path) -> ModuleType:
    name = f"tfgitops_local_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise _unusable(f"the local plugin {path.name} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise _unusable(f"the local plugin {path.name} cannot be imported: {error!r}") from error
    return module


def _crash(plugin: Plugin, hook: str, error: Exception, at: Route) -> Problem:
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{last.filename.rsplit('/', 1)[-1]}:{last.lineno}"
    return Problem(
        code="TF901", message=f"plugin '{plugin.name}' {plugin.version} failed in {hook}: {error!r} ({where})", at=at,
        hint=f"this is a fault of the plugin, {plugin.origin}, not of the spec",
    )  # fmt: skip


def _rubbish(plugin: Plugin, hook: str, answer: Any, wanted: type, at: Route) -> Problem:
    return Problem(
        code="TF902", at=at,
        message=f"plugin '{plugin.name}' {plugin.version} yielded a {type(answer).__name__} from {hook}",
        found=repr(answer)[:80], expected=wanted.__name__,
        hint=f"this is a fault of the plugin, {plugin.origin}, not of the spec",
    )  # fmt: skip


def _unusable(message: str, hint: str = "") -> CompileError:
    return CompileError([Diagnostic(code="TF902", severity="error", message=message, hint=hint)])
