"""What gives each field of an object that is no Job its value: found by asking its plugin again, one key changed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from tfgitops.provenance.experiment import (
    SETTINGS,
    environments,
    home,
    influences,
    moved,
    tops_of,
    tops_of_environment,
    variants,
    written,
)
from tfgitops.provenance.sources import DEFAULT, PLUGIN, Source, given, key
from tfgitops.targets.kubernetes.objectkinds import CLUSTER_SCOPED
from tfgitops.targets.routes import leaves, reach, value_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tfgitops.planning.plan import Planned
    from tfgitops.plugins.door import Plugins
    from tfgitops.spec.model import Environment
    from tfgitops.targets.routes import Route

_KEEP = "keep"
"""What a plugin says of an object beside its manifest."""


class ObjectSources:
    """The sources of the further objects of one environment.

    Hooks are pure, so a field that changes when one key of the spec, or one setting, changes comes from there: no
    plugin need tell.
    """

    def __init__(self, environment: Environment, plugins: Plugins) -> None:
        self._environment = environment
        self._plugins = plugins
        self._influences: dict[tuple[str, Route, int], Mapping[Route, list[Route]]] = {}

    def of(self, planned: Planned, at: Route) -> Iterator[Source]:
        """Yield the sources of one field of a planned object, the strongest first."""
        kind, because = planned.manifest["kind"], planned.because
        value = value_at(planned.manifest, at)
        plugin, number, asked = self._planned(planned)
        if asked is None:
            yield from _namespace(at, value)
            return
        if at == ("metadata", "namespace") and at[1] not in asked["metadata"] and kind not in CLUSTER_SCOPED:
            yield key("namespace", "name")
            return
        if at not in dict(leaves(asked)):
            return  # an annotation for the controller
        routes = self._followed(plugin, number, asked, because).get(at, ())
        if routes:
            yield Source(routes=tuple(routes), value=value, plugin=plugin)
        else:
            note = "its name" if because and value == because[-1] else ""
            yield Source(routes=(because,), layer=PLUGIN, value=value, plugin=plugin, note=note)

    def kept_by(self, planned: Planned) -> Iterable[Route]:
        """Return the keys that decide whether an object outlives its removal from Git."""
        plugin, number, asked = self._planned(planned)
        return () if asked is None else self._followed(plugin, number, asked, planned.because).get((_KEEP,), ())

    def _followed(
        self, plugin: str, number: int, asked: Mapping[str, Any], because: Route
    ) -> Mapping[Route, list[Route]]:
        cached = (asked["kind"], because, number)
        if cached not in self._influences:
            self._influences[cached] = self._find(plugin, number, asked, because)
        return self._influences[cached]

    def _planned(self, planned: Planned) -> tuple[str, int, Mapping[str, Any] | None]:
        """Find an object in what the plugins say again: its plugin, which of those alike it is, and what that said."""
        name, count = planned.manifest["metadata"]["name"], Counter[str]()
        for plugin, manifest in self._said(self._environment, planned.manifest["kind"], planned.because):
            if manifest["metadata"]["name"] == name:
                return plugin, count[plugin], manifest
            count[plugin] += 1
        return "", 0, None

    def _said(
        self, environment: Environment, kind: str, because: Route, plugin: str = ""
    ) -> list[tuple[str, Mapping[str, Any]]]:
        """Ask the plugins, or one of them, for the objects of a kind that one route asked for."""
        said = self._plugins.ask("tfgitops_objects", (), [], only=plugin, environment=environment)
        return [
            (owner, {**answer.manifest, _KEEP: answer.keep})
            for owner, answer in said
            if answer.manifest["kind"] == kind and answer.because == because
        ]

    def _find(self, plugin: str, number: int, before: Mapping[str, Any], because: Route) -> Mapping[Route, list[Route]]:
        """Find which fields of an object follow which values of the spec; one of a job is tried with that job alone."""
        environment = self._environment
        job = environment.by_name.get(str(because[1])) if because[:1] == ("jobs",) and because[1:] else None
        found: dict[Route, list[Route]] = {}

        def value(route: Route) -> Any:
            if job:
                return written(job, route)
            return reach({**environment.data, SETTINGS: environment.settings}, route)

        def ask(route: Route) -> list[Any]:
            others = (one.environment for one in variants(job, route)) if job else environments(environment, route)
            answers = (self._said(other, before["kind"], because, plugin) for other in others)
            return [answer[number][1] if number < len(answer) else None for answer in answers]

        routes = influences(tops_of(job) if job else tops_of_environment(environment), value, ask, before)
        for route in dict.fromkeys(home(job, route) if job else route for route in routes):
            effects = (moved(before, answer) for answer in ask(route) if answer is not None)
            for field in next(filter(None, effects), {}):
                found.setdefault(field, []).append(route)
        return found


def _namespace(at: Route, value: Any) -> Iterator[Source]:
    """Yield the sources of a field of the Namespace, the one object beside Jobs that the core writes."""
    if at == ("metadata", "name"):
        yield key("namespace", "name")
    elif at[:1] == ("metadata",):
        yield key("namespace", *at[1:])
    else:
        yield given(DEFAULT, value, ("namespace", "create"), note="what is written is a Namespace")
