"""Whether a plugin keeps the contract: tried on specs, with the bundled plugins beside it, in one call."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfgitops.compiler.pipeline import compile_environment
from tfgitops.plugins.answers import accept
from tfgitops.plugins.hookspecs import Object
from tfgitops.spec.diagnostics import Problem
from tfgitops.spec.model import Patch
from tfgitops.testing.bench import find_plugins, load, opened, together
from tfgitops.testing.contractchecks import (
    dependent_on_hashes,
    depends_on_key_order,
    digest,
    misattributed,
    undescribed,
)
from tfgitops.testing.purity import WatchedPlugin

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.plugins.door import Plugin
    from tfgitops.spec.places import Places
    from tfgitops.targets.routes import Route
    from tfgitops.testing.bench import Settings

RULES = {
    "answers": "a hook raises nothing, and yields what it promises and nothing else",
    "pure": "a hook answers the same for the same arguments: no clock, no chance, no files, no network",
    "inputs": "a hook changes nothing that it is given",
    "order": "no order changes a byte of the result: of plugins, of keys in a spec, of a set",
    "because": "each patch and each object names the key that asked for it, and that key is written in the spec",
    "descriptions": "each key, and each property below it, has a description, and a map says which keys it takes",
    "hints": "each problem has a hint, which is something to do",
    "codes": "each problem has a code of the plugin's own, which its CODES describe",
    "shown": "the specs that a plugin is tried on make it say something",
}
"""The contract as `breaches` checks it, rule by rule; plugins/README.md says the same at greater length."""


@dataclass(frozen=True, kw_only=True)
class Breach:
    """A rule that a plugin breaks, and how."""

    plugin: str
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.message}\n    the contract: {RULES[self.rule]}"


class ContractError(AssertionError):
    """A plugin that breaks the contract, with each way in which it does."""

    def __init__(self, found: Iterable[Breach]) -> None:
        self.breaches = tuple(found)
        names = ", ".join(sorted({f"'{breach.plugin}'" for breach in self.breaches}))
        super().__init__("\n".join([f"the plugin {names} breaks the contract", *map(str, self.breaches)]))


def check_plugin(plugin: Any, specs: Iterable[Path | str], *, settings: Settings | None = None) -> None:
    """Check that a plugin keeps the contract on each of some specs.

    Args:
        plugin: what `find_plugins` takes: a module, an object, a file, a package's folder or a name.
        specs: folders of environments, or texts of specs, as `Bench` takes them; good and bad ones.
        settings: what pyproject.toml would give the plugins, for specs that are in no root with settings.

    Raises:
        ContractError: it does not, with all that is wrong.
        CompileError: the plugin is not there, or cannot be used.
    """
    __tracebackhide__ = True  # pytest shows where it is called
    if found := breaches(plugin, specs, settings=settings):
        raise ContractError(found)


def breaches(plugin: Any, specs: Iterable[Path | str], *, settings: Settings | None = None) -> list[Breach]:
    """Return each way in which a plugin breaks the contract on some specs: see `check_plugin`."""
    listed = list(specs)
    return [breach for one in load(plugin) for breach in _ContractCheck(one, settings or {}).on(listed)]


class _ContractCheck:
    """One plugin, tried on one spec after another."""

    def __init__(self, plugin: Plugin, settings: Settings) -> None:
        self._plugin = replace(plugin, bundled=False)  # a bundled plugin is judged as any other is
        self._settings = settings
        self._watched = WatchedPlugin(self._plugin)
        others = [other for other in find_plugins().plugins if other.name != plugin.name]
        self._plugins, self._unwatched = together([*others, self._watched.plugin]), together([*others, self._plugin])
        self._found: dict[Breach, None] = {}

    def on(self, specs: Sequence[Path | str]) -> list[Breach]:
        if not self._owns_well():
            return list(self._found)
        said, digests = len(self._watched.answers), []
        for spec in specs:
            digests.append(self._try(spec))
            if self._plugins.late:
                return list(self._found)  # another spec would take as long again
        if len(self._watched.answers) == said and not any(breach.rule == "answers" for breach in self._found):
            what = "none of the specs makes it yield a patch, an object or a problem: add one with its keys"
            self._say("shown", what)
        for rule, message in self._watched.faults:
            self._say(rule, message)
        if not self._found:  # another process costs much, and has nothing to say where all goes wrong already
            for number in dependent_on_hashes(self._plugin, specs, self._settings, digests):
                what = "what is made of a set must be sorted"
                self._say("order", f"in another process, {_name(specs[number])} compiles to something else: {what}")
        changing = any(rule in ("pure", "inputs") for rule, _ in self._watched.faults)
        return [one for one in self._found if not (changing and one.rule == "order")]  # no two compiles need be alike

    def _owns_well(self) -> bool:
        """Judge the hooks without arguments, and tell whether a spec can be compiled."""
        for fault in self._plugins.faults:
            self._say("answers", f"{fault.message}; {fault.hint}")
        if self._plugins.faults:
            return False
        own = [one for one in self._plugins.fragments if one.owner == str(self._watched.plugin)]
        for message in chain.from_iterable(map(undescribed, own)):
            self._say("descriptions", message)
        problems: list[Problem] = []
        [*self._plugins.ask("tfgitops_accelerators", (), problems)]
        for problem in problems:
            self._say("answers", problem.message)
        return True

    def _try(self, spec: Path | str) -> str:
        """Judge all that is said of a spec, and return a digest of what it compiles to."""
        with opened(spec, self._settings) as (folder, project):
            seen = len(self._watched.answers)
            compiled = compile_environment(folder, self._plugins, project)
            for diagnostic in compiled.diagnostics:
                if diagnostic.code in ("TF901", "TF902") and f"'{self._plugin.name}'" in diagnostic.message:
                    self._say("answers", diagnostic.message)
            for hook, answer in self._watched.answers[seen:]:
                self._judge(hook, answer, compiled)
            if not self._plugins.late:
                if depends_on_key_order(compiled, project, self._unwatched):
                    what = f"with the keys of the spec in another order, {_name(spec)} compiles to something else"
                    self._say("order", what)
                for message in misattributed(compiled, self._plugin, self._plugins):
                    self._say("because", message)
            return digest(compiled)

    def _judge(self, hook: str, value: Any, compiled: Compiled) -> None:
        if isinstance(value, Problem) and str(value.code).startswith("TF") and str(value.code)[2:].isdigit():
            self._say("codes", f"{hook} yields {value.code}, and codes that begin with TF are the compiler's")
        if not accept(self._plugin, hook, [[value]], (), []):
            return  # the compiler says what is wrong with it
        if isinstance(value, Problem):
            if not value.hint:
                self._say("hints", f"{hook} yields {value.code} without a hint: {value.message}")
            if not self._plugin.codes.get(value.code):
                self._say("codes", f"{hook} yields {value.code}, which is not in its CODES")
            return
        places = compiled.environment and compiled.environment.places
        if isinstance(value, (Patch, Object)) and places and not _is_written(value.because, places):
            what = f"a patch of {value.target!r}" if isinstance(value, Patch) else f"a {value.manifest['kind']}"
            self._say("because", f"{hook} yields {what} because of {value.because!r}, which the spec does not say")

    def _say(self, rule: str, message: str) -> None:
        self._found[Breach(plugin=self._plugin.name, rule=rule, message=message)] = None


def _name(spec: Path | str) -> str:
    return spec.name if isinstance(spec, Path) else "a spec"


def _is_written(route: Route, places: Places) -> bool:
    """Tell whether a route is written in a file, or is above what one holds."""
    document, found = places.find(route)
    above = any(one.prefix[: len(route)] == route for one in places.documents)
    return bool(route) and (document.depth(found) == len(found) or above)
