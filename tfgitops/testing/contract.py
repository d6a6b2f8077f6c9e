"""Whether a plugin keeps the contract: tried on specs, with the bundled plugins beside it, in one call."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfgitops.compiler.pipeline import compile_environment
from tfgitops.plugins.answers import accept
from tfgitops.plugins.hookspecs import Object
from tfgitops.spec.diagnostics import Problem
from tfgitops.spec.model import Patch
from tfgitops.testing.because import unnamed
from tfgitops.testing.bench import opened
from tfgitops.testing.described import undescribed
from tfgitops.testing.finding import find_plugins, load, together
from tfgitops.testing.seeds import digest, unsteady
from tfgitops.testing.watchedplugin import Witness

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.plugins.door import Plugin, Plugins
    from tfgitops.spec.places import Places
    from tfgitops.spec.project import Project
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
    return [breach for one in load(plugin) for breach in _Trial(one, settings or {}).on(listed)]


class _Trial:
    """One plugin, tried on one spec after another."""

    def __init__(self, plugin: Plugin, settings: Settings) -> None:
        self._plugin = replace(plugin, bundled=False)  # ours are judged as any other is
        self._settings = settings
        self._witness = Witness(self._plugin)
        self._others = [other for other in find_plugins().plugins if other.name != plugin.name]
        self._found: dict[Breach, None] = {}

    def on(self, specs: Sequence[Path | str]) -> list[Breach]:
        plugins = together([*self._others, self._witness.plugin])
        if not self._owns_well(plugins):
            return list(self._found)
        said, digests = len(self._witness.answers), []
        for spec in specs:
            digests.append(self._try(spec, plugins))
            if plugins.late:
                return list(self._found)  # to try on would take as long again
        if len(self._witness.answers) == said and not any(breach.rule == "answers" for breach in self._found):
            self._say(
                "shown", "none of the specs makes it yield a patch, an object or a problem: add one with its keys"
            )
        faults = self._witness.faults
        for rule, message in faults:
            self._say(rule, message)
        if not self._found:  # another process costs much, and has nothing to say where all goes wrong already
            for number in unsteady(self._plugin, specs, self._settings, digests):
                what = "what is made of a set must be sorted"
                self._say("order", f"in another process, {_name(specs[number])} compiles to something else: {what}")
        changing = any(rule in ("pure", "inputs") for rule, _ in faults)  # then no two compiles need be alike
        return [breach for breach in self._found if not (changing and breach.rule == "order")]

    def _owns_well(self, plugins: Plugins) -> bool:
        """Judge what is asked for at the start, and tell whether a spec can be compiled."""
        for fault in plugins.faults:
            self._say("answers", f"{fault.message}; {fault.hint}")
        if plugins.faults:
            return False
        for fragment in plugins.fragments:
            if fragment.owner == str(self._witness.plugin):
                for message in undescribed(fragment):
                    self._say("descriptions", message)
        problems: list[Problem] = []
        [*plugins.ask("tfgitops_accelerators", (), problems)]
        for problem in problems:
            self._say("answers", problem.message)
        return True

    def _try(self, spec: Path | str, plugins: Plugins) -> str:
        """Judge all that is said of a spec, and return a digest of what it compiles to."""
        with opened(spec, self._settings) as (folder, project):
            seen = len(self._witness.answers)
            compiled = compile_environment(folder, plugins, project)
            for diagnostic in compiled.diagnostics:
                if diagnostic.code in ("TF901", "TF902") and f"'{self._plugin.name}'" in diagnostic.message:
                    self._say("answers", diagnostic.message)
            for hook, answer in self._witness.answers[seen:]:
                self._judge(hook, answer, compiled)
            if not plugins.late:
                self._reorder(compiled, project, _name(spec))
                for message in unnamed(compiled, self._plugin, plugins):
                    self._say("because", message)
            return digest(compiled)

    def _judge(self, hook: str, value: Any, compiled: Compiled) -> None:
        if isinstance(value, Problem) and str(value.code).startswith("TF") and str(value.code)[2:].isdigit():
            self._say("codes", f"{hook} yields {value.code}, and codes that begin with TF are the compiler's")
        if not accept(self._plugin, hook, [[value]], (), []):
            return  # the compiler says what is wrong with it
        if isinstance(value, Problem):
            self._judge_problem(hook, value)
        if not isinstance(value, (Patch, Object)) or compiled.environment is None:
            return
        if not _written(value.because, compiled.environment.places):
            what = f"a patch of {value.target!r}" if isinstance(value, Patch) else f"a {value.manifest['kind']}"
            self._say("because", f"{hook} yields {what} because of {value.because!r}, which the spec does not say")

    def _judge_problem(self, hook: str, problem: Problem) -> None:
        if not problem.hint:
            self._say("hints", f"{hook} yields {problem.code} without a hint: {problem.message}")
        if not self._plugin.codes.get(problem.code):
            self._say("codes", f"{hook} yields {problem.code}, which is not in its CODES")

    def _reorder(self, compiled: Compiled, project: Project, name: str) -> None:
        """Compile the spec with its keys in another order; the plugins are always asked in the order of their names."""
        environment = compiled.environment
        if not compiled.ok or environment is None or any(job.pin for job in environment.jobs):
            return
        with tempfile.TemporaryDirectory() as place:
            folder = _turned(environment.places, compiled.folder, project.root, Path(place).resolve())
            moved = replace(project, root=Path(place).resolve())
            other = compile_environment(folder, together([*self._others, self._plugin]), moved)
            if _bodies(other) != _bodies(compiled):
                self._say("order", f"with the keys of the spec in another order, {name} compiles to something else")

    def _say(self, rule: str, message: str) -> None:
        self._found[Breach(plugin=self._plugin.name, rule=rule, message=message)] = None


def _name(spec: Path | str) -> str:
    return spec.name if isinstance(spec, Path) else "a spec"


def _written(route: Route, places: Places) -> bool:
    """Tell whether a route is written in a file, or is above what one holds."""
    document, found = places.find(route)
    if not route:
        return False
    return document.depth(found) == len(found) or any(one.prefix[: len(route)] == route for one in places.documents)


def _turned(places: Places, folder: Path, root: Path, place: Path) -> Path:
    """Write an environment's files below another root, each with its keys from the last to the first."""
    for document in places.documents:
        target = place / document.path.resolve().relative_to(root.resolve())
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(_reversed(document.value)), encoding="utf-8")
    return place / folder.resolve().relative_to(root.resolve())


def _bodies(compiled: Compiled) -> list[tuple[str, str]]:
    """Return each file without its first line: that tells aliases, which are written out here, from their values."""
    return [(file.path, file.text.partition("\n")[2]) for file in compiled.files]


def _reversed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _reversed(value[key]) for key in reversed(value)}
    return [_reversed(item) for item in value] if isinstance(value, list) else value
