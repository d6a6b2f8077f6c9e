"""The sources of each field of an object that is no Job, found by asking its plugin again with one key changed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from tfgitops.provenance.experiment import environments, followed, moved
from tfgitops.provenance.sources import DEFAULT, PLUGIN, Source, given
from tfgitops.targets.kubernetes.objectkinds import CLUSTER_SCOPED
from tfgitops.targets.routes import leaves, value_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tfgitops.planning.plan import Planned
    from tfgitops.plugins.door import Plugins
    from tfgitops.spec.model import Environment
    from tfgitops.targets.routes import Route

_KEEP = "keep"
"""The key under which the `keep` of an object stands beside its manifest."""


class ObjectSources:
    """Finds the sources of the further objects of one environment.

    Hooks are pure. So a field that changes with one key of the spec, or with one setting, comes from there.
    """

    def __init__(self, environment: Environment, plugins: Plugins) -> None:
        self._environment = environment
        self._plugins = plugins
        self._found: dict[tuple[str, Route, int], Mapping[Route, list[Route]]] = {}

    def of(self, planned: Planned, at: Route) -> Iterator[Source]:
        """Yield the sources of one field of a planned object, the strongest first."""
        kind, because = planned.manifest["kind"], planned.because
        value = value_at(planned.manifest, at)
        plugin, number, asked = self._planned(planned)
        if asked is None:
            yield from _namespace(planned.manifest["kind"], at, value)
        elif at == ("metadata", "namespace") and at[1] not in asked["metadata"] and kind not in CLUSTER_SCOPED:
            yield Source(routes=(("namespace", "name"),))
        elif at in dict(leaves(asked)):
            routes = self._followed(plugin, number, asked, because).get(at)
            note = "its name" if not routes and because and value == because[-1] else ""
            layer = "" if routes else PLUGIN
            yield Source(routes=tuple(routes or [because]), layer=layer, value=value, plugin=plugin, note=note)
        elif at[:1] != ("metadata",):  # where it is an annotation for the controller
            yield given(DEFAULT, value, because, note="what Kubernetes would add")

    def kept_by(self, planned: Planned) -> Iterable[Route]:
        """Return the keys that decide whether an object outlives its removal from Git."""
        plugin, number, asked = self._planned(planned)
        return () if asked is None else self._followed(plugin, number, asked, planned.because).get((_KEEP,), ())

    def _planned(self, planned: Planned) -> tuple[str, int, Mapping[str, Any] | None]:
        """Return the plugin of an object, the number of the object among its answers, and that answer."""
        name, count = planned.manifest["metadata"]["name"], Counter[str]()
        for plugin, manifest in self._said(self._environment, planned.manifest["kind"], planned.because):
            if manifest["metadata"]["name"] == name:
                return plugin, count[plugin], manifest
            count[plugin] += 1
        return "", 0, None

    def _said(
        self, environment: Environment, kind: str, because: Route, plugin: str = ""
    ) -> list[tuple[str, Mapping[str, Any]]]:
        """Return the objects of one kind that one route asked for, each with its plugin."""
        said = self._plugins.ask("tfgitops_objects", (), [], only=plugin, environment=environment)
        return [
            (owner, {**answer.manifest, _KEEP: answer.keep})
            for owner, answer in said
            if answer.manifest["kind"] == kind and answer.because == because
        ]

    def _followed(
        self, plugin: str, number: int, before: Mapping[str, Any], because: Route
    ) -> Mapping[Route, list[Route]]:
        """Return the routes of the spec that each field of an object follows; for a job's object, the job is alone."""
        cached = (before["kind"], because, number)
        if cached in self._found:
            return self._found[cached]
        job = self._environment.by_name.get(str(because[1])) if because[:1] == ("jobs",) and because[1:] else None
        changed = job or self._environment

        def ask(route: Route) -> list[Any]:
            answers = [self._said(one, before["kind"], because, plugin) for one in environments(changed, route)]
            return [answer[number][1] if number < len(answer) else None for answer in answers]

        found: dict[Route, list[Route]] = {}
        for route in followed(changed, ask, before):
            effects = (moved(before, answer) for answer in ask(route) if answer is not None)
            for field in next(filter(None, effects), {}):
                found.setdefault(field, []).append(route)
        self._found[cached] = found
        return found


def _namespace(kind: str, at: Route, value: Any) -> Iterator[Source]:
    """Yield the sources of a field of the Namespace or its quota, the objects beside Jobs that the core writes."""
    if at in (("metadata", "name"), ("metadata", "namespace")):
        yield Source(routes=(("namespace", "name"),))
    elif at[:2] == ("spec", "hard"):
        yield Source(routes=(("namespace", "quota", *at[2:]),))
    elif at[:1] == ("metadata",) and kind == "Namespace":
        yield Source(routes=(("namespace", *at[1:]),))
    elif at[:1] != ("metadata",):
        key = "create" if kind == "Namespace" else "quota"
        yield given(DEFAULT, value, ("namespace", key), note=f"what is written is a {kind}")
