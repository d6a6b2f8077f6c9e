"""The origins of a field: the places of the spec that write each of its sources, and which of them won."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from tfgitops.plugins.settingsfile import TABLE, find_setting
from tfgitops.provenance.experiment import SETTINGS
from tfgitops.provenance.jobs import JobSources
from tfgitops.provenance.objects import ObjectSources
from tfgitops.provenance.replanned import Drafts, JobPatches
from tfgitops.provenance.sources import CONTROLLER, DEFAULT, OVERLAY, OVERLAYS, PIN, PLUGIN, SETTING, given, writings
from tfgitops.spec.places import role_depth
from tfgitops.spec.project import find_root
from tfgitops.targets.gitops import argocd_annotations, flux_annotations
from tfgitops.targets.routes import MISSING, leaves, reach, value_at
from tfgitops.targets.secrets import masked_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops.planning.plan import Planned
    from tfgitops.plugins.door import Plugins
    from tfgitops.provenance.sources import Source, Writing
    from tfgitops.spec.diagnostics import Span
    from tfgitops.spec.model import Environment, Job
    from tfgitops.targets.routes import Route

_ARGOCD, _FLUX = argocd_annotations(wave=0, keep=True), flux_annotations(keep=True, holds_variables=True)
_CONTROLLERS = {"argocd": _ARGOCD, "flux": _FLUX}
_OF_ALL = argocd_annotations(wave=0, keep=False) | flux_annotations(keep=False, holds_variables=True)
_KEEPING = (_ARGOCD | _FLUX).keys() - _OF_ALL.keys()
"""The annotations that let an object outlive its removal from Git."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """One place that gives a field its value, or would do so without a stronger place.

    - ``layer``: ``overlay``, ``role``, ``job``, ``from NAME``, ``defaults``, ``environment`` or ``base file`` for a key
      of a spec; ``settings`` for pyproject.toml; ``plugin NAME VERSION`` for a field that a plugin adds to every job;
      ``pin`` for a manifest that is kept as it was committed; ``strategy``, ``discovery``, ``gitops``, ``compiler`` or
      ``compiler default`` for a field that the compiler makes.
    - ``value``: the value there, with short forms widened; ``text`` is the same as it is written, if on one line.
    - ``route``: the route within the job or `defaults`; empty if the compiler or a plugin gives the value by itself.
    - ``at``, ``span``: the whole route of the nearest place that is written, and its line and columns. For the text of
      another file, the span is there, and ``spec`` is the file that names it.
    - ``through``: the plugin that made the field out of a key.
    - ``won``: whether the field has its value from here. Several origins of a field win if each gives a part of it, as
      for TF_CONFIG.
    """

    layer: str
    value: Any
    route: Route
    span: Span
    text: str = ""
    through: str = ""
    note: str = ""
    won: bool = False
    at: Route = ()
    spec: str = ""

    @property
    def shown(self) -> Any:
        """The value without secrets."""
        return masked_value(self.value, str(self.route[-1]) if self.route else "")

    @property
    def file(self) -> str:
        """The file of the spec, or the settings, that has the place."""
        return self.spec or self.span.file


class Provenance:
    """Finds the origins of all fields of one planned environment; it remembers the experiments with the last job."""

    def __init__(self, environment: Environment, plugins: Plugins) -> None:
        self._environment = environment
        self._plugins = plugins
        self._versions = {plugin.name: f"plugin {plugin.name} {plugin.version}" for plugin in plugins.plugins}
        self._jobs: dict[Route, JobSources] = {}
        self._settings: dict[Route, Span] = {}
        self._winners: dict[tuple[str, str, Route], tuple[Origin, ...]] = {}  # a review asks again for some fields
        self._objects = ObjectSources(environment, plugins)
        self._drafts = Drafts(environment, plugins)

    def winners(self, planned: Planned, at: Route) -> tuple[Origin, ...]:
        """Return the origins of a field that won; without those that they override, fewer experiments are needed."""
        asked = (planned.manifest["kind"], planned.manifest["metadata"]["name"], at)
        if asked not in self._winners:
            self._winners[asked] = tuple(origin for origin in self.origins(planned, at, briefly=True) if origin.won)
        return self._winners[asked]

    def origins(self, planned: Planned, at: Route, *, briefly: bool = False) -> tuple[Origin, ...]:
        """Return the origins of a field, the strongest first; for a map or a list, those of its first field."""
        at = (*at, *next(leaves(value_at(planned.manifest, at)))[0])
        found: list[Origin] = []
        settled = False
        for source in self._sources(planned, at, briefly=briefly):
            group = list(self._expanded(source))
            found += [replace(origin, won=False) for origin in group] if settled else group
            settled = settled or any(origin.won for origin in group)
            if settled and briefly:
                return tuple(found)
        if not settled:
            found += self._expanded(given(DEFAULT, value_at(planned.manifest, at), planned.because))
        return tuple(found)

    def place(self, job: Job, manifest: Mapping[str, Any], at: Route) -> Route:
        """Return the route of the spec that leads to a field of a job's manifest, or to the nearest field."""
        return self._job(job).place(manifest, at)

    def _job(self, job: Job) -> JobSources:
        if job.route not in self._jobs:  # callers ask about a thousand jobs one after the other
            self._jobs = {job.route: JobSources(job, JobPatches(job, self._plugins), self._drafts)}
        return self._jobs[job.route]

    def _sources(self, planned: Planned, at: Route, *, briefly: bool) -> Iterator[Source]:
        if planned.text:  # pinned, or kept for a pinned job
            note = "as it was committed" if planned.own else "kept as it was committed, for a pinned job"
            yield given(PIN, value_at(planned.manifest, at), (*planned.because[:2], "pin"), note=note)
            return
        if at[:2] == ("metadata", "annotations") and at[2:3]:
            gitops = self._environment.gitops
            if at[2] in _CONTROLLERS.get(gitops, ()):
                keeps = not planned.own and at[2] in _KEEPING
                routes = [("gitops",), *(self._objects.kept_by(planned) if keeps else ())]
                yield given(CONTROLLER, value_at(planned.manifest, at), *routes, note=f"an annotation for {gitops}")
                return
        job = self._environment.by_name.get(str(planned.because[1])) if planned.own else None
        if job is None:
            yield from self._objects.of(planned, at)
            return
        yield from self._job(job).of(planned.manifest, at, briefly=briefly)

    def _expanded(self, source: Source) -> Iterator[Origin]:
        """Yield the places of a source: all that write its keys, or the nearest to the routes of a given value."""
        if settings := [route for route in source.routes if route[:1] == (SETTINGS,)]:
            if rest := tuple(route for route in source.routes if route not in settings):
                yield from self._expanded(replace(source, routes=rest))
            yield from (self._setting(route, source) for route in settings)
            return
        through = self._versions.get(source.plugin, "")
        if not source.layer:
            said = [one for route in source.routes for one in writings(self._environment.places, route)]
            if any(one.won for one in said) or not through:
                origins = [_origin(one, OVERLAY if _is_overlay(one) else one.layer, source, through) for one in said]
                yield from sorted(origins, key=lambda origin: not origin.won)
                return
        for route, value in zip_longest(source.routes, source.parts, fillvalue=source.value):
            yield self._nearest(route, value, source, through)

    def _setting(self, route: Route, source: Source) -> Origin:
        value, at = reach(self._environment.settings, route[1:]), (*TABLE, *route[1:])
        if route not in self._settings:  # this reads a file
            span = find_setting(find_root(self._environment.folder), route[1:], str(value))
            self._settings[route] = span or self._environment.places.span(())
        return Origin(
            layer=SETTING, value=value, route=at, span=self._settings[route], won=True, at=at, note=source.note,
            text="" if isinstance(value, Mapping) else str(value), through=self._versions[source.plugin],
        )  # fmt: skip

    def _nearest(self, route: Route, value: Any, source: Source, through: str) -> Origin:
        """Return the place that writes a route of a given value, or the nearest place that is written."""
        layer = through if source.layer in ("", PLUGIN) else source.layer
        part = bool(source.parts) and value is not MISSING
        value = source.value if value is MISSING else value
        places, depth = self._environment.places, len(route)
        nearest = Origin(
            layer=layer, value=value, route=(), span=places.span(route), through=through, note=source.note, won=True
        )
        for end in range(depth, 0, -1):
            one = next((one for one in writings(places, route[:end]) if one.won and one.value is not None), None)
            if one is None:
                continue
            if end == depth and (part or not isinstance(one.value, Mapping)) and layer != DEFAULT:
                return _origin(one, layer, source, through)
            if part:
                nearest = replace(nearest, route=route[2:], text=f"{value}, by default")
            return replace(nearest, span=one.span, at=one.document.written(one.at))
        return nearest


def _is_overlay(one: Writing) -> bool:
    """Tell whether a place writes raw fields of a pod or a container."""
    inner = one.at[len(one.link) :]
    return bool(one.link and inner) and any(key in OVERLAYS for key in inner[role_depth(inner) :][:1])


def _origin(one: Writing, layer: str, source: Source, through: str) -> Origin:
    of_file = one.at in one.document.texts
    written = one.document.written(one.at)
    return Origin(
        layer=layer, value=one.value, route=written[len(one.link) :], text=one.document.literal(written),
        span=one.span, through=through, note=source.note, won=one.won and one.value is not None,
        at=one.at if of_file else written, spec=one.document.name if of_file else "",
    )  # fmt: skip
