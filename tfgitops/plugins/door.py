"""The one door to the plugins: asked in order, and kept from breaking more than themselves."""

from __future__ import annotations

import copy
import json
import time
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib.resources import files
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pluggy

from tfgitops.plugins import hookspecs
from tfgitops.plugins.faults import OutOfTimeError, failure, keys_unknown, misfit, told, unusable
from tfgitops.spec.diagnostics import Diagnostic, Problem, compiler_codes
from tfgitops.spec.model import read_only

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from tfgitops.plugins.hookspecs import SchemaFragment
    from tfgitops.plugins.keys import Keys
    from tfgitops.spec.schema.specschema import SpecSchema
    from tfgitops.targets.routes import Route

    Call = Callable[..., list[Iterable[Any]]]

GROUP = "tfgitops"
SECONDS = 10.0
"""How long one call of a plugin may take: so long that no machine is too slow for a hook that ends."""

_NOTHING = nullcontext()
_MAKING = ("tfgitops_contribute", "tfgitops_objects")
"""The hooks without whose answers the manifests are not whole."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """One plugin; a plugin with a ``fault`` is never asked, and its hooks may be None."""

    name: str
    hooks: Any
    version: str
    origin: str
    bundled: bool = False
    fault: Diagnostic | None = None

    def __str__(self) -> str:
        return f"plugin '{self.name}' {self.version} ({self.origin})"

    @property
    def codes(self) -> Mapping[str, str]:
        """What each code of its problems stands for; nothing where it lists none."""
        listed = getattr(self.hooks, "CODES", None)
        return listed if isinstance(listed, dict) else {}

    def unusable(self, what: str, hint: str = "") -> Plugin:
        """Return the same plugin as one that cannot be used."""
        hint = "; ".join(filter(None, (hint, keys_unknown(self.name))))
        return replace(self, fault=unusable(f"{self} {what}", hint))


class _Manager(pluggy.PluginManager):
    """Passes over what cannot be a hook: pluggy looks at each name of a module with care, and that takes longer."""

    def parse_hookimpl_opts(self, plugin: Any, name: str) -> pluggy.HookimplOpts | None:
        if isinstance(plugin, ModuleType):
            found = vars(plugin).get(name)
            if not callable(found) or issubclass(type(found), type):
                return None
        return super().parse_hookimpl_opts(plugin, name)


@dataclass
class Plugins:
    """Some plugins, asked in the order of their names. A plugin that cannot be used is in ``faults`` and not asked.

    ``seconds`` is how long one call of a plugin that is not bundled may take, 0 is without end; ``traced`` shows each
    call; ``without`` are the names of those that were left out.
    """

    plugins: tuple[Plugin, ...]
    seconds: float = field(default=SECONDS, kw_only=True)
    traced: bool = field(default=False, kw_only=True)
    without: frozenset[str] = field(default=frozenset(), kw_only=True)

    def __post_init__(self) -> None:
        self._manager = _Manager(GROUP)
        self._manager.add_hookspecs(hookspecs)
        self._callers: dict[str, list[tuple[Plugin, Call]]] = {}
        self._late: dict[str, Problem] = {}  # who did not come to an end, for all copies of this
        self._failed: set[str] | None = None  # who failed in one environment
        self._spoilt = False
        named = sorted(self.plugins, key=lambda plugin: plugin.name)
        self.plugins = tuple(plugin if plugin.fault else self._registered(plugin) for plugin in named)

    def _registered(self, plugin: Plugin) -> Plugin:
        """Register a plugin's hooks, or say why they cannot be used."""
        try:
            wrong, hint = misfit(self._manager, plugin.hooks)
            if not wrong:
                self._manager.register(plugin.hooks, plugin.name)
        except Exception as error:  # noqa: BLE001 - reading an attribute of an object may run code of the plugin
            wrong, hint = f"cannot be used: {' '.join(told(error).split())}", ""
        return plugin.unusable(wrong, hint) if wrong else plugin

    @cached_property
    def keys(self) -> Keys:
        """The keys that the plugins own; who is at fault there is asked for nothing else."""
        from tfgitops.plugins.keys import Claims, join_keys  # noqa: PLC0415 - not for a list of plugins

        claims = []
        for plugin, call in self._calls("tfgitops_schema"):
            problems: list[Problem] = []
            claims.append(Claims(plugin, self._answers("tfgitops_schema", plugin, call, (), problems), problems))
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
        """Whether no plugin that adds to manifests is at fault, so that the manifests can be judged."""
        if self._spoilt or any(plugin.fault for plugin in self.plugins):
            return False
        out = self.keys.out | (self._failed or frozenset())
        return not any(plugin.name in out for hook in _MAKING for plugin, _ in self._calls(hook))

    @property
    def late(self) -> frozenset[str]:
        """The names of those that did not come to an end, and are asked no more."""
        return frozenset(self._late)

    @cached_property
    def codes(self) -> dict[str, str]:
        """What each code of a problem stands for: the compiler's, and those that plugins list as ``CODES``."""
        found = dict(compiler_codes())
        for plugin in self.plugins:
            for code, meaning in () if plugin.fault else plugin.codes.items():
                found.setdefault(str(code), f"{meaning} (plugin `{plugin.name}`)")
        return found

    def afresh(self) -> Plugins:
        """Return the same plugins for one environment: a plugin that fails in it is not asked again.

        A plugin that does not come to an end is not asked for other environments either: the time is spent once.
        """
        self.keys  # noqa: B018 - made once, for all copies
        other = copy.copy(self)
        vars(other).update(_failed=set(), _spoilt=False)
        return other

    def ask(
        self, hook: str, at: Route, problems: list[Problem], *, only: str = "", **arguments: Any
    ) -> Iterator[tuple[str, Any]]:
        """Yield each plugin's answers to a hook with its name, checked and plain (`tfgitops.plugins.answers`).

        The order is that of the names: pluggy calls hooks newest-first, and entry points come in any order. A plugin
        that raises, or breaks the promise of the hook, is added to ``problems`` at a route of the spec, and the others
        are still asked. ``only`` is the name of the one plugin to ask.
        """
        shown = {name: read_only(value) for name, value in arguments.items()}
        for plugin, call in self._calls(hook):
            if plugin.name in self.keys.out or plugin.name in (self._failed or ()) or (only and plugin.name != only):
                continue
            if plugin.name in self._late:
                problems.append(replace(self._late[plugin.name], at=at))
                self._give_up(plugin)
                continue
            for answer in self._answers(hook, plugin, call, at, problems, **shown):
                yield plugin.name, answer

    def _answers(
        self, hook: str, plugin: Plugin, call: Call, at: Route, problems: list[Problem], **shown: Any
    ) -> list[Any]:
        """Ask one plugin: return its answers, and add what is wrong to ``problems``."""
        from tfgitops.plugins.answers import accept  # noqa: PLC0415 - not for a list of plugins

        before, start = len(problems), time.perf_counter()
        try:
            with isolation_of(plugin, self.seconds):
                answers = accept(plugin, hook, call(**shown), at, problems)
        except KeyboardInterrupt as error:
            error.add_note(f"while {plugin} was in {hook}")
            raise
        except (Exception, SystemExit, OutOfTimeError) as error:  # noqa: BLE001 - whatever it is, it is the plugin's
            answers = []
            problems.append(failure(plugin, hook, error, at, self.seconds))
            if isinstance(error, OutOfTimeError):
                self._late[plugin.name] = problems[-1]
            self._give_up(plugin)
        if len(problems) > before and hook in _MAKING:
            self._spoilt = True
        if self.traced:
            from tfgitops.plugins.hooktrace import show  # noqa: PLC0415 - for who asks for it

            show(hook, plugin, shown, answers, problems=problems[before:], seconds=time.perf_counter() - start)
        return answers

    def _give_up(self, plugin: Plugin) -> None:
        if self._failed is not None:
            self._failed.add(plugin.name)

    def _calls(self, hook: str) -> list[tuple[Plugin, Call]]:
        """Return who has a hook, and how it is called: made once, for it is asked for thousands of times."""
        if hook not in self._callers:
            found = getattr(self._manager.hook, hook).get_hookimpls()
            several = [(plugin, [one for one in found if one.plugin is plugin.hooks]) for plugin in self.plugins]
            self._callers[hook] = [(plugin, partial(_call, own)) for plugin, own in several if own and not plugin.fault]
        return self._callers[hook]


def isolation_of(plugin: Plugin, seconds: float) -> AbstractContextManager[None]:
    """Return what code of a plugin runs in; bundled plugins need nothing."""
    if plugin.bundled:
        return _NOTHING
    from tfgitops.plugins.isolation import isolated  # noqa: PLC0415 - for who has plugins of others

    return isolated(plugin.name, seconds)


def _call(functions: list[pluggy.HookImpl], **arguments: Any) -> list[Iterable[Any]]:
    """Call functions of one plugin as pluggy would, without what it does for many plugins."""
    answers: Iterator[Any] = (one.function(*[arguments[name] for name in one.argnames]) for one in functions)
    return [answer for answer in answers if answer is not None]


def read_schema(package: str, name: str = "schema.json") -> dict[str, Any]:
    """Read the JSON Schema that lies in a plugin's package: `read_schema(__name__)`."""
    schema: dict[str, Any] = json.loads(files(package).joinpath(name).read_text(encoding="utf-8"))
    return schema
