"""The one door to the plugins: found, ordered, asked, and kept from breaking more than themselves."""

from __future__ import annotations

import importlib.util
import inspect
import json
import sys
import traceback
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib.metadata import entry_points
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pluggy

from tfgitops import hookspecs
from tfgitops.answers import Refused, accept, route_of
from tfgitops.diagnostics import CODES, CompileError, Diagnostic, Problem, did_you_mean
from tfgitops.model import read_only
from tfgitops.plain import AnswerError, show
from tfgitops.schema import SpecSchema, join

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import ModuleType

    from tfgitops.diagnostics import Route
    from tfgitops.project import Project

GROUP = "tfgitops"

_HOOKS = [name for name in vars(hookspecs) if name.startswith("tfgitops_")]
_FAILURES = (Exception, SystemExit)
"""Whatever a plugin may raise is its own fault, and does not end the program."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """One plugin: its name, the module or object with its hooks, its version, and where it comes from."""

    name: str
    hooks: Any
    version: str
    origin: str
    bundled: bool = False

    def __str__(self) -> str:
        return f"plugin '{self.name}' {self.version} ({self.origin})"


@dataclass
class Plugins:
    """Some plugins, asked in the order of their names whatever order they were installed in.

    Raises:
        CompileError: a hook of one does not exist, or takes what it is not given.
    """

    plugins: tuple[Plugin, ...]

    def __post_init__(self) -> None:
        self._manager = pluggy.PluginManager(GROUP)
        self._manager.add_hookspecs(hookspecs)
        self._callers: dict[tuple[str, str], Any] = {}
        for plugin in self.plugins:
            try:
                self._manager.register(plugin.hooks, plugin.name)
            except _FAILURES as error:
                raise _unusable(f"{plugin} cannot be used: {' '.join(str(error).split())}") from error
            self._check_names(plugin)

    def _check_names(self, plugin: Plugin) -> None:
        """Refuse hooks that would never be called, for a slip of the pen or for want of a mark."""
        marked = {caller.name for caller in self._manager.get_hookcallers(plugin.hooks) or ()}
        named = {name for name in dir(plugin.hooks) if name.startswith("tfgitops_")}
        functions = {name for name in named if inspect.isroutine(inspect.getattr_static(plugin.hooks, name))}
        for name in sorted({*marked, *functions}):
            if name not in _HOOKS:
                hint = did_you_mean(name, _HOOKS) or f"the hooks are {', '.join(_HOOKS)}"
                raise _unusable(f"{plugin} has {name}, which is no hook", hint)
            if name not in marked:
                raise _unusable(f"{plugin} has {name}, which is not marked as a hook", "put @hookimpl before it")

    @cached_property
    def schema(self) -> SpecSchema:
        """The shape of a spec with these plugins.

        Raises:
            CompileError: two plugins own one key, or a fragment has no place.
        """
        return join(self.fragments)

    @cached_property
    def fragments(self) -> tuple[hookspecs.SchemaFragment, ...]:
        """The keys that the plugins own.

        Raises:
            CompileError: a plugin failed, or its fragment is none.
        """
        problems: list[Problem] = []
        plugins = {plugin.name: str(plugin) for plugin in self.plugins}
        found = [(name, fragment) for name, fragment in self.ask("tfgitops_schema", (), problems)]
        if problems:
            raise CompileError(_without_place(problem) for problem in problems)
        return tuple(replace(fragment, owner=plugins[name]) for name, fragment in found)

    @cached_property
    def codes(self) -> dict[str, str]:
        """What each code of a problem stands for: the compiler's, and those that plugins list as ``CODES``."""
        found = dict(CODES)
        for plugin in self.plugins:
            listed = getattr(plugin.hooks, "CODES", None)
            for code, meaning in listed.items() if isinstance(listed, dict) else ():
                found.setdefault(str(code), f"{meaning} (plugin `{plugin.name}`)")
        return found

    def ask(self, hook: str, at: Route, problems: list[Problem], **arguments: Any) -> Iterator[tuple[str, Any]]:
        """Yield each plugin's answers to a hook with its name, checked and plain (`tfgitops.answers`).

        pluggy calls hooks newest-first, and entry points arrive in whatever order the installation lists them;
        neither may leak into a committed file. A plugin that raises, or answers with something else than the hook
        promises, is added to ``problems`` at a route of the spec, and the others are asked all the same.
        """
        shown = {name: read_only(value) for name, value in arguments.items()}
        for plugin in self.plugins:
            caller = self._caller(hook, plugin)
            if caller is None:
                continue
            refused: Refused = []
            try:
                answers = accept(hook, caller(**shown), refused, trusted=plugin.bundled)
            except _FAILURES as error:
                problems.append(_crash(plugin, hook, error, at))
                continue
            finally:
                problems += [_refused(plugin, hook, answer, error, at) for answer, error in refused]
            for answer in answers:
                yield plugin.name, answer

    def _caller(self, hook: str, plugin: Plugin) -> Any:
        key = (hook, plugin.name)
        if key not in self._callers:
            others = [other.hooks for other in self.plugins if other is not plugin]
            caller = self._manager.subset_hook_caller(hook, others)
            match caller.get_hookimpls():
                case []:
                    self._callers[key] = None
                case [one] if not (one.wrapper or one.hookwrapper or one.kwargnames):
                    self._callers[key] = partial(_call, one)
                case _:
                    self._callers[key] = caller
        return self._callers[key]


def _call(one: pluggy.HookImpl, **arguments: Any) -> list[Iterable[Any]]:
    """Call a plain function as pluggy would, without what it does for many: it is asked thousands of times."""
    answers: Any = one.function(*[arguments[name] for name in one.argnames])
    return [] if answers is None else [answers]


def read_schema(package: str, name: str = "schema.json") -> dict[str, Any]:
    """Read the JSON Schema that lies in a plugin's package: `read_schema(__name__)`."""
    schema: dict[str, Any] = json.loads(files(package).joinpath(name).read_text(encoding="utf-8"))
    return schema


def discover(project: Project | None = None, without: Iterable[str] = ()) -> Plugins:
    """Find the plugins that are installed, and the local ones that a repository names.

    Raises:
        CompileError: a plugin cannot be imported, or is of another version of the contract, or one that is to be left
            out is not there.
    """
    without = frozenset(without)
    points = entry_points(group=GROUP)
    local = project.plugins if project else ()
    known = sorted({*points.names, *(Path(name).stem for name in local)})
    for name in sorted(without.difference(known)):
        hint = did_you_mean(name, known) or f"the plugins are {', '.join(known)}"
        raise _unusable(f"there is no plugin '{name}' to leave out", hint)
    for name in sorted(set(project.settings if project else ()).difference(known)):
        hint = did_you_mean(name, known) or f"the plugins are {', '.join(known)}"
        raise _unusable(f"[tool.tfgitops.settings.{name}] is for a plugin that is not there", hint)
    found = [_installed(point) for point in points if point.name not in without]
    found += [_local(project, name) for name in local if project and Path(name).stem not in without]
    named: dict[str, Plugin] = {}
    for plugin in sorted(found, key=lambda plugin: plugin.name):
        if plugin.name in named:
            message = f"two plugins are called '{plugin.name}': {named[plugin.name].origin} and {plugin.origin}"
            raise _unusable(message)
        version = getattr(plugin.hooks, "tfgitops_api", None)
        if version != hookspecs.API_VERSION:
            declared = "declares no `tfgitops_api`" if version is None else f"declares tfgitops_api = {version}"
            raise _unusable(f"{plugin} {declared}", f"this compiler speaks version {hookspecs.API_VERSION}")
        named[plugin.name] = plugin
    return Plugins(tuple(named.values()))


def _installed(point: Any) -> Plugin:
    try:
        hooks = point.load()
    except _FAILURES as error:
        raise _unusable(f"plugin '{point.name}' cannot be imported: {_told(error)}", f"it is {point.value}") from error
    bundled = point.dist is not None and point.dist.name == GROUP
    return Plugin(point.name, hooks, point.dist.version if point.dist else "", point.value, bundled)


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
    except _FAILURES as error:
        raise _unusable(f"the local plugin {path.name} cannot be imported: {_told(error)}") from error
    return module


def _crash(plugin: Plugin, hook: str, error: BaseException, at: Route) -> Problem:
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{last.filename.rsplit('/', 1)[-1]}:{last.lineno}"
    return Problem(
        code="TF901", at=at,
        message=f"plugin '{plugin.name}' {plugin.version} failed in {hook}: {_told(error)} ({where})",
        hint=f"this is a fault of the plugin, {plugin.origin}, not of the spec",
    )  # fmt: skip


def _refused(plugin: Plugin, hook: str, answer: Any, error: AnswerError, at: Route) -> Problem:
    kind = type(answer).__name__
    article = "an" if kind[0] in "AEIOaeio" else "a"
    what = f"yielded {article} {kind} from {hook}{': ' if error.message else ''}{error.message}"
    return Problem(
        code="TF902", message=f"plugin '{plugin.name}' {plugin.version} {what}", at=route_of(answer) or at,
        found=error.found, expected=error.expected,
        hint=f"this is a fault of the plugin, {plugin.origin}, not of the spec",
    )  # fmt: skip


def _told(error: BaseException) -> str:
    return show(error, 400)


def _without_place(problem: Problem) -> Diagnostic:
    """Say what is wrong with a plugin before there is a spec to say it of."""
    return Diagnostic(
        code="TF902", severity="error", message=problem.message, found=problem.found, expected=problem.expected,
        hint=problem.hint,
    )  # fmt: skip


def _unusable(message: str, hint: str = "") -> CompileError:
    return CompileError([Diagnostic(code="TF902", severity="error", message=message, hint=hint)])
