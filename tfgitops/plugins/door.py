"""The one door to the plugins: asked in order, and kept from breaking more than themselves."""

from __future__ import annotations

import copy
import inspect
import json
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pluggy

from tfgitops.plugins import hookspecs
from tfgitops.plugins.answers import Refusal, accept
from tfgitops.plugins.faults import OutOfTimeError, failure, keys_unknown, misfit, refusal, told, unusable
from tfgitops.plugins.keys import Claims, Keys, join_keys
from tfgitops.spec.diagnostics import CODES, Diagnostic, Problem
from tfgitops.spec.model import read_only
from tfgitops.targets.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfgitops.plugins.hookspecs import SchemaFragment
    from tfgitops.spec.schema.specschema import SpecSchema
    from tfgitops.targets.routes import Route

    Answers = tuple[list[Any], list[Refusal]]
    Asked = tuple[str, "Plugin", Any]

GROUP = "tfgitops"
SECONDS = 10.0
"""How long one call of a plugin may take: so long that no machine is too slow for a hook that ends."""

_HOOKS = [name for name in vars(hookspecs) if name.startswith("tfgitops_")]
_MAKING = ("tfgitops_contribute", "tfgitops_objects")
"""The hooks without whose answers the manifests are not whole."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """One plugin: its name, the module or object with its hooks, its version, and where it comes from.

    ``fault`` is why it cannot be used, if so; it is then asked for nothing, and its hooks may be None.
    """

    name: str
    hooks: Any
    version: str
    origin: str
    bundled: bool = False
    fault: Diagnostic | None = None

    def __str__(self) -> str:
        return f"plugin '{self.name}' {self.version} ({self.origin})"

    def unusable(self, what: str, hint: str = "") -> Plugin:
        """Return the same plugin as one that cannot be used."""
        hint = "; ".join(filter(None, (hint, keys_unknown(self.name))))
        return replace(self, fault=unusable(f"{self} {what}", hint))


@dataclass
class Plugins:
    """Some plugins, asked in the order of their names whatever order they were installed in.

    What is wrong with one that cannot be used is told by ``faults``, and the others are asked without it. ``seconds``
    is how long one call of a plugin that is not bundled may take, 0 is without end; ``traced`` shows each call;
    ``without`` are the names of those that were left out.
    """

    plugins: tuple[Plugin, ...]
    seconds: float = field(default=SECONDS, kw_only=True)
    traced: bool = field(default=False, kw_only=True)
    without: frozenset[str] = field(default=frozenset(), kw_only=True)

    def __post_init__(self) -> None:
        self._manager = pluggy.PluginManager(GROUP)
        self._manager.add_hookspecs(hookspecs)
        self._callers: dict[tuple[str, str], Any] = {}
        self._askable: dict[str, list[tuple[Plugin, Any]]] = {}
        self._late: dict[str, Problem] = {}  # who did not come to an end, for all copies of this
        self._failed: set[str] | None = None  # who failed in one environment
        self._spoilt = False
        named = sorted(self.plugins, key=lambda plugin: plugin.name)
        self.plugins = tuple(plugin if plugin.fault else self._registered(plugin) for plugin in named)

    def _registered(self, plugin: Plugin) -> Plugin:
        """Make a plugin's hooks ready, or say why they cannot be used."""
        try:
            self._manager.register(plugin.hooks, plugin.name)
            wrong, hint = self._misnamed(plugin)
        except KeyboardInterrupt:
            raise
        except pluggy.PluginValidationError as error:
            wrong, hint = misfit(plugin.hooks, error)
        except BaseException as error:  # noqa: BLE001 - whatever a plugin may raise is its own fault
            wrong, hint = f"cannot be used: {' '.join(told(error).split())}", ""
        if not wrong:
            return plugin
        if self._manager.has_plugin(plugin.name):
            self._manager.unregister(name=plugin.name)
        return plugin.unusable(wrong, hint)

    def _misnamed(self, plugin: Plugin) -> tuple[str, str]:
        """Refuse hooks that would never be called, for a slip of the pen or for want of a mark."""
        marked = {caller.name for caller in self._manager.get_hookcallers(plugin.hooks) or ()}
        named = {name for name in dir(plugin.hooks) if name.startswith("tfgitops_")}
        functions = {name for name in named if inspect.isroutine(inspect.getattr_static(plugin.hooks, name))}
        for name in sorted({*marked, *functions}):
            if name not in _HOOKS:
                hint = did_you_mean(name, _HOOKS) or f"the hooks are {', '.join(_HOOKS)}"
                return f"has {name}, which is no hook", hint
            if name not in marked:
                return f"has {name}, which is not marked as a hook", "put @hookimpl before it"
        return "", ""

    @cached_property
    def keys(self) -> Keys:
        """The keys that the plugins own; who is at fault there is asked for nothing else."""
        claims = []
        for plugin in self.plugins:
            if call := self._caller("tfgitops_schema", plugin):
                problems: list[Problem] = []
                answered = self._traced if self.traced else self._answered
                claims.append(Claims(plugin, *answered(("tfgitops_schema", plugin, call), (), problems, {}), problems))
        return join_keys(claims, more=any(plugin.fault for plugin in self.plugins), without=self.without)

    @property
    def schema(self) -> SpecSchema:
        """The shape of a spec with these plugins; where the keys of one are unknown, any key will do."""
        return self.keys.schema

    @property
    def fragments(self) -> tuple[SchemaFragment, ...]:
        """The keys that the plugins own."""
        return self.keys.fragments

    @property
    def faults(self) -> tuple[Diagnostic, ...]:
        """What is wrong with plugins whatever the spec says; while there is anything, nothing is to be written."""
        return tuple(plugin.fault for plugin in self.plugins if plugin.fault) + self.keys.faults

    @property
    def whole(self) -> bool:
        """Whether all has come that plugins contribute, so that the manifests can be judged.

        One that only checks may be at fault, and they are whole all the same.
        """
        if self._spoilt or any(plugin.fault for plugin in self.plugins):
            return False
        out = self.keys.out | (self._failed or frozenset())
        return not any(self._caller(hook, plugin) for plugin in self.plugins if plugin.name in out for hook in _MAKING)

    @property
    def outside(self) -> tuple[Plugin, ...]:
        """Those that can be used, and are not bundled."""
        return tuple(plugin for plugin in self._usable if not plugin.bundled)

    @property
    def late(self) -> frozenset[str]:
        """The names of those that did not come to an end, and are asked no more."""
        return frozenset(self._late)

    @cached_property
    def codes(self) -> dict[str, str]:
        """What each code of a problem stands for: the compiler's, and those that plugins list as ``CODES``."""
        found = dict(CODES)
        for plugin in self.plugins:
            listed = None if plugin.fault else getattr(plugin.hooks, "CODES", None)
            for code, meaning in listed.items() if isinstance(listed, dict) else ():
                found.setdefault(str(code), f"{meaning} (plugin `{plugin.name}`)")
        return found

    def afresh(self) -> Plugins:
        """Return the same plugins for one environment: who fails in it is asked for nothing more of it.

        Who does not come to an end is not asked for other environments either: the time is spent once.
        """
        self.keys  # noqa: B018 - made once, for all copies
        other = copy.copy(self)
        vars(other).update(_failed=set(), _spoilt=False)
        return other

    def ask(
        self, hook: str, at: Route, problems: list[Problem], *, only: str = "", **arguments: Any
    ) -> Iterator[tuple[str, Any]]:
        """Yield each plugin's answers to a hook with its name, checked and plain (`tfgitops.plugins.answers`).

        pluggy calls hooks newest-first, and entry points arrive in whatever order the installation lists them;
        neither may leak into a committed file. A plugin that raises, or answers with something else than the hook
        promises, is added to ``problems`` at a route of the spec, and the others are asked all the same.
        ``only`` is the name of the one that is asked, where it is not all of them.
        """
        shown = {name: read_only(value) for name, value in arguments.items()}
        answered = self._traced if self.traced else self._answered
        for plugin, call in self._calls(hook):
            if (only and plugin.name != only) or (self._failed and plugin.name in self._failed):
                continue
            if self._late and plugin.name in self._late:
                problems.append(replace(self._late[plugin.name], at=at))
                self._give_up(plugin)
                continue
            for answer in answered((hook, plugin, call), at, problems, shown)[0]:
                yield plugin.name, answer

    def _traced(self, asked: Asked, at: Route, problems: list[Problem], shown: dict[str, Any]) -> Answers:
        from tfgitops.plugins.hooktrace import traced  # noqa: PLC0415 - for who asks for it

        return traced(self._answered, asked, at, problems, shown)

    def _answered(self, asked: Asked, at: Route, problems: list[Problem], shown: dict[str, Any]) -> Answers:
        """Ask one plugin: return its answers and those that are refused, and add what is wrong to ``problems``."""
        hook, plugin, call = asked
        refused: list[Refusal] = []
        try:
            if plugin.bundled:
                return accept(hook, call(**shown), refused, trusted=True), refused
            from tfgitops.plugins.isolation import Isolation  # noqa: PLC0415 - for who has plugins of others

            with Isolation(plugin.name, self.seconds):
                return accept(hook, call(**shown), refused), refused
        except KeyboardInterrupt as error:
            error.add_note(f"while {plugin} was in {hook}")
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a plugin may raise is its own fault
            problem = failure(plugin, hook, error, at, self.seconds)
            problems.append(problem)
            if isinstance(error, OutOfTimeError):
                self._late[plugin.name] = problem
            self._give_up(plugin)
            return [], refused
        finally:
            if refused:
                problems += [refusal(plugin, hook, one, at) for one in refused]
                self._spoilt = self._spoilt or hook in _MAKING

    def _give_up(self, plugin: Plugin) -> None:
        if self._failed is not None:
            self._failed.add(plugin.name)

    @cached_property
    def _usable(self) -> tuple[Plugin, ...]:
        return tuple(plugin for plugin in self.plugins if not plugin.fault and plugin.name not in self.keys.out)

    def _calls(self, hook: str) -> list[tuple[Plugin, Any]]:
        """Return who has a hook, and how it is called: made once, for it is asked for thousands of times."""
        if hook not in self._askable:
            callers = [(plugin, self._caller(hook, plugin)) for plugin in self._usable]
            self._askable[hook] = [(plugin, call) for plugin, call in callers if call]
        return self._askable[hook]

    def _caller(self, hook: str, plugin: Plugin) -> Any:
        key = (hook, plugin.name)
        if key not in self._callers:
            others = [other.hooks for other in self.plugins if other is not plugin and not other.fault]
            caller = None if plugin.fault else self._manager.subset_hook_caller(hook, others)
            match caller.get_hookimpls() if caller else []:
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
