"""The origins of a field: its sources, each with the places of the spec where they are written, and which has won."""

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

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
"""The annotations of objects that outlive their removal from Git."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """One place that gave a field its value, or would have, had nothing stronger been there.

    ``layer`` is ``overlay``, ``role``, ``job``, ``from NAME``, ``defaults``, ``environment`` or ``base file`` for what
    a spec says; ``settings`` for what pyproject.toml sets a plugin to; ``plugin NAME VERSION`` for what a plugin adds
    unasked; ``strategy``, ``discovery``, ``gitops``, ``compiler`` or ``compiler default`` for what the compiler writes
    because of what the spec says; ``pin`` for all of a manifest that is kept as it was committed.

    ``route`` is where it is written, without what leads to the job or to `defaults`; empty for what the compiler or a
    plugin gives of itself. ``value`` is the value there, short forms widened, and ``text`` the same as it is written,
    where that is on one line. ``span`` is a place that exists, of the value or nearest to it, and ``at`` the whole
    route of what is written there. ``through`` names the plugin that made the field of what the spec says. Several
    origins of a field have ``won`` only where its value is made from several places, as TF_CONFIG is.
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


class Provenance:
    """The origins of all fields of one planned environment; of its jobs, it keeps what it knows of the last one."""

    def __init__(self, environment: Environment, plugins: Plugins) -> None:
        self._environment = environment
        self._plugins = plugins
        self._versions = {plugin.name: f"plugin {plugin.name} {plugin.version}" for plugin in plugins.plugins}
        self._jobs: dict[Route, JobSources] = {}
        self._settings: dict[Route, Origin] = {}
        self._objects = ObjectSources(environment, plugins)
        self._drafts = Drafts(environment, plugins)

    def winner(self, planned: Planned, at: Route) -> Origin:
        """Return the strongest place that gave a field its value; of a map or a list, its first field's."""
        return self.winners(planned, at)[0]

    def winners(self, planned: Planned, at: Route) -> tuple[Origin, ...]:
        """Return the places that gave a field its value, without what they overrode: that takes fewer experiments."""
        return tuple(origin for origin in self.origins(planned, at, briefly=True) if origin.won)

    def origins(self, planned: Planned, at: Route, *, briefly: bool = False) -> tuple[Origin, ...]:
        """Return where a field of a manifest comes from, the strongest first; of a map or a list, its first field."""
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
        """Return the route of the spec that leads to a field of a job's manifest, or to what is nearest to it."""
        return self._job(job).place(manifest, at)

    def _job(self, job: Job) -> JobSources:
        if job.route not in self._jobs:  # whoever asks of a thousand jobs asks of one after the other
            self._jobs = {job.route: JobSources(job, JobPatches(job, self._plugins), self._drafts)}
        return self._jobs[job.route]

    def _sources(self, planned: Planned, at: Route, *, briefly: bool) -> Iterator[Source]:
        if planned.text:  # pinned, or kept for a pinned job: whatever the spec says by now
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
        """Yield the places of a source: all that write its key, or those that led to what is given in any case."""
        through = self._versions.get(source.plugin, "")
        if settings := [route for route in source.routes if route[:1] == (SETTINGS,)]:
            yield from self._expanded_of_both(source, settings)
            return
        if not source.layer:
            said = [one for route in source.routes for one in writings(self._environment.places, route)]
            if any(one.won for one in said) or not through:
                origins = [_origin(one, OVERLAY if _is_overlay(one) else one.layer, source, through) for one in said]
                yield from sorted(origins, key=lambda origin: not origin.won)
                return
        for route, value in zip_longest(source.routes, source.parts, fillvalue=source.value):
            yield self._nearest(route, value, source, through)

    def _expanded_of_both(self, source: Source, settings: Sequence[Route]) -> Iterator[Origin]:
        """Yield the places of a source that settings of its plugin led to, beside what the spec says."""
        if rest := tuple(route for route in source.routes if route not in settings):
            yield from self._expanded(replace(source, routes=rest))
        for route in settings:
            if route not in self._settings:
                self._settings[route] = self._setting(route)
            yield replace(self._settings[route], through=self._versions[source.plugin], note=source.note)

    def _setting(self, route: Route) -> Origin:
        value = reach(self._environment.settings, route[1:])
        at = (*TABLE, *route[1:])
        span = find_setting(find_root(self._environment.folder), route[1:], str(value))
        text = "" if isinstance(value, Mapping) else str(value)
        there = span or self._environment.places.span(())
        return Origin(layer=SETTING, value=value, route=at, span=there, text=text, won=True, at=at)

    def _nearest(self, route: Route, value: Any, source: Source, through: str) -> Origin:
        """Return the place that led to a value which is given in any case: what is written there, or nearest to it."""
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
    """Tell whether somebody wrote raw Kubernetes fields, of a pod or its container."""
    inner = one.at[len(one.link) :]
    return bool(one.link and inner) and any(key in OVERLAYS for key in inner[role_depth(inner) :][:1])


def _origin(one: Writing, layer: str, source: Source, through: str) -> Origin:
    written = one.document.written(one.at)
    return Origin(
        layer=layer, value=one.value, route=written[len(one.link) :], text=one.document.literal(written),
        span=one.span, through=through, note=source.note, won=one.won and one.value is not None, at=written,
    )  # fmt: skip
