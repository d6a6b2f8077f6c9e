"""What gives each field of an object that is no Job its value: found by asking its plugin again, one key changed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tfgitops.kubernetes.kinds import CLUSTER_SCOPED
from tfgitops.provenance.experiment import changed, followers
from tfgitops.provenance.patches import JobPatches
from tfgitops.provenance.sources import DEFAULT, PLUGIN, Source, given, key
from tfgitops.structure import MISSING, leaves, reach, value_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfgitops.diagnostics import Route
    from tfgitops.hookspecs import Object
    from tfgitops.model import Environment
    from tfgitops.plan import Planned
    from tfgitops.plugins.door import Plugins


class ObjectSources:
    """The sources of the further objects of one environment.

    Hooks are pure, so a field that changes when one key of the spec changes comes from that key: no plugin need tell.
    """

    def __init__(self, environment: Environment, plugins: Plugins) -> None:
        self._environment = environment
        self._plugins = plugins
        self._influences: dict[tuple[str, Route], Mapping[Route, list[Route]]] = {}

    def of(self, planned: Planned, at: Route) -> Iterator[Source]:
        """Yield the sources of one field of a planned object, the strongest first."""
        kind, because = planned.manifest["kind"], planned.because
        value = value_at(planned.manifest, at)
        plugin, asked = self._asked(self._environment, kind, planned.manifest["metadata"]["name"], because)
        if asked is None:
            yield from _namespace(at, value)
            return
        if at == ("metadata", "namespace") and at[1] not in asked["metadata"] and kind not in CLUSTER_SCOPED:
            yield key("namespace", "name")
            return
        if at not in dict(leaves(asked)):
            return  # an annotation for the controller
        cached = (kind, because)
        if cached not in self._influences:
            self._influences[cached] = self._find(plugin, kind, because, asked)
        routes = self._influences[cached].get(at, ())
        for route in routes:
            yield Source(routes=(route,), plugin=plugin)
        if not routes:
            note = "its name" if because and value == because[-1] else ""
            yield Source(routes=(because,), layer=PLUGIN, value=value, plugin=plugin, note=note)

    def _asked(
        self, environment: Environment, kind: str, name: str, because: Route
    ) -> tuple[str, Mapping[str, Any] | None]:
        """Ask the plugins for an object again; without a name, by its kind and what asked for it."""
        answers: list[tuple[str, Object]] = list(self._plugins.ask("tfgitops_objects", (), [], environment=environment))
        for plugin, answer in answers:
            manifest = answer.manifest
            same = not name or manifest["metadata"]["name"] == name
            if manifest["kind"] == kind and answer.because == because and same:
                return plugin, manifest
        return "", None

    def _find(self, plugin: str, kind: str, because: Route, before: Mapping[str, Any]) -> Mapping[Route, list[Route]]:
        """Find which fields of an object follow which values of the block that asked for it."""
        found: dict[Route, list[Route]] = {}
        for route, environments in self._experiments(plugin, because):
            for environment in environments:
                other, after = self._asked(environment, kind, "", because)
                fields = followers(before, after) if after is not None and other == plugin else set()
                if fields:
                    for field in sorted(fields, key=str):
                        found.setdefault(field, []).append(route)
                    break
        return found

    def _experiments(self, plugin: str, because: Route) -> Iterator[tuple[Route, Iterator[Environment]]]:
        """Yield the values below what asked, and the environment with each of them changed."""
        environment = self._environment
        job = environment.by_name.get(str(because[1])) if because[:1] == ("jobs",) and because[1:] else None
        if job is None:
            block = reach(environment.data, because)
            routes = [(*because, *inner) for inner, _ in leaves(block)] if block is not MISSING else []
            for route in routes:
                yield route, (replace(environment, data=data) for data in changed(environment.data, route))
            return
        patches = JobPatches(job, self._plugins)
        if not patches.is_unasked(because):
            for route in patches.candidates(plugin, patches.said(because)):
                yield route, (other.environment for other in patches.changed(route))


def _namespace(at: Route, value: Any) -> Iterator[Source]:
    """Yield the sources of a field of the Namespace, the one object beside Jobs that the core writes."""
    if at == ("metadata", "name"):
        yield key("namespace", "name")
    elif at[:1] == ("metadata",):
        yield key("namespace", *at[1:])
    else:
        yield given(DEFAULT, value, ("namespace", "create"), note="what is written is a Namespace")
