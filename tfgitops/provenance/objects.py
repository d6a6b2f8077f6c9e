"""What gives each field of an object that is no Job its value: found by asking its plugin again, one key changed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from tfgitops.provenance.experiment import followers
from tfgitops.provenance.jobpatches import JobPatches, alone, environments
from tfgitops.provenance.reads import watched
from tfgitops.provenance.sources import DEFAULT, PLUGIN, Source, given, key
from tfgitops.targets.kubernetes.objectkinds import CLUSTER_SCOPED
from tfgitops.targets.routes import MISSING, leaves, reach, value_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfgitops.planning.plan import Planned
    from tfgitops.plugins.door import Plugins
    from tfgitops.spec.model import Environment
    from tfgitops.targets.routes import Route


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
        cached = (kind, because, number)
        if cached not in self._influences:
            self._influences[cached] = self._find(plugin, number, asked, because)
        routes = self._influences[cached].get(at, ())
        if routes:
            yield Source(routes=tuple(routes), value=value, plugin=plugin)
        else:
            note = "its name" if because and value == because[-1] else ""
            yield Source(routes=(because,), layer=PLUGIN, value=value, plugin=plugin, note=note)

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
            (owner, answer.manifest)
            for owner, answer in said
            if answer.manifest["kind"] == kind and answer.because == because
        ]

    def _find(self, plugin: str, number: int, before: Mapping[str, Any], because: Route) -> Mapping[Route, list[Route]]:
        """Find which fields of an object follow which values of the spec."""
        found: dict[Route, list[Route]] = {}
        for route, others in self._experiments(plugin, because):
            for environment in others:
                said = self._said(environment, before["kind"], because, plugin)
                fields = followers(before, said[number][1]) if number < len(said) else set()
                if fields:
                    for field in sorted(fields, key=str):
                        found.setdefault(field, []).append(route)
                    break
        return found

    def _experiments(self, plugin: str, because: Route) -> Iterator[tuple[Route, Iterator[Environment]]]:
        """Yield the values below what asked, and the others that the hook reads, and the environment with each changed.

        An object that a job asked for is tried with that job alone.
        """
        environment = self._environment
        job = environment.by_name.get(str(because[1])) if because[:1] == ("jobs",) and because[1:] else None
        subject, reads = watched(alone(job, environment).environment if job else environment)
        self._said(subject, "", because, plugin)
        if job is None:
            block = reach(environment.data, because) if because else MISSING
            below = [(*because, *inner) for inner, _ in leaves(block)] if block is not MISSING else []
            for route in [*below, *reads.routes(lambda route: route[:1] == ("jobs",) or _is_below(route, because))]:
                yield route, environments(environment, route)
            return
        patches = JobPatches(job, self._plugins)
        for route in patches.candidates(patches.said(because), reads):
            yield route, (other.environment for other in patches.changed(route))


def _is_below(route: Route, because: Route) -> bool:
    return bool(because) and route[: len(because)] == because


def _namespace(at: Route, value: Any) -> Iterator[Source]:
    """Yield the sources of a field of the Namespace, the one object beside Jobs that the core writes."""
    if at == ("metadata", "name"):
        yield key("namespace", "name")
    elif at[:1] == ("metadata",):
        yield key("namespace", *at[1:])
    else:
        yield given(DEFAULT, value, ("namespace", "create"), note="what is written is a Namespace")
