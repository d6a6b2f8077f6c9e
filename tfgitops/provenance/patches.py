"""What the plugins add to one job, and which values of the spec each field of it follows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tfgitops.kubernetes.merge import RULES
from tfgitops.provenance.experiment import changed, followers
from tfgitops.provenance.sources import PLUGIN, Source
from tfgitops.structure import MISSING, leaves, reach

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfgitops.diagnostics import Problem, Route
    from tfgitops.hookspecs import Patch
    from tfgitops.kubernetes.merge import SchemaName
    from tfgitops.model import Job, Role
    from tfgitops.plugins.door import Plugins

SCHEMAS: dict[str, SchemaName] = {"job": "Job", "pod": "PodTemplateSpec", "container": "Container"}
_TRIED_AT_MOST = 64


class JobPatches:
    """The patches of one job; the plugins are asked once, and again only for a field that came from them.

    A patch says because of which key it is. Hooks are pure, so the values that a field follows are found by asking the
    plugin again with one of them changed: those below that key, and those of the environment that these name.
    """

    def __init__(self, job: Job, plugins: Plugins) -> None:
        self._job = job
        self._plugins = plugins
        self._followed: dict[tuple[str, tuple[str, ...], Route], Mapping[Route, list[Route]]] = {}
        self.all, _ = self._ask(job)

    def source(self, plugin: str, patch: Patch, at: Route) -> Source:
        """Return the source of a field of a patch: what it follows, those routes with its own value first.

        What a plugin adds to each job, or role, that is there is the plugin's own.
        """
        value = reach(patch.value, at)
        if self.is_unasked(patch.because):
            return Source(routes=(patch.because,), layer=PLUGIN, value=value, plugin=plugin)
        asked = (plugin, patch.target, patch.because)
        if asked not in self._followed:
            self._followed[asked] = self._experiment(plugin, patch)
        found = self._followed[asked].get(at) or [patch.because]
        routes = sorted(found, key=lambda route: str(self._written(route)) != str(value))
        return Source(routes=tuple(routes), value=value, plugin=plugin)

    def is_unasked(self, because: Route) -> bool:
        """Tell whether something is there because of the job, or a role, and not of what one says."""
        return because in (self._job.route, *(role.route for role in self._job.roles))

    def _ask(self, job: Job) -> tuple[list[tuple[str, Patch]], bool]:
        """Return what the plugins add to a job, and whether one of them failed."""
        crashes: list[Problem] = []  # those of the job as it is were reported when it was planned
        return list(self._plugins.ask("tfgitops_contribute", job.route, crashes, job=job)), bool(crashes)

    def _experiment(self, plugin: str, patch: Patch) -> Mapping[Route, list[Route]]:
        """Find which fields of a patch follow which values of the spec.

        A changed value may be one that the plugin's own checks refuse. If it fails there, that says nothing.
        """
        found: dict[Route, list[Route]] = {}
        because = self.said(patch.because)
        for route in self.candidates(plugin, because):
            for job in self.changed(route):
                answers, failed = self._ask(job)
                if failed:
                    continue
                same = [
                    other.value
                    for name, other in answers
                    if (name, other.target, other.because) == (plugin, patch.target, patch.because)
                ]
                fields = followers(patch.value, same[0] if same else {}, RULES[SCHEMAS[patch.target[0]]])
                if fields and (same or route[: len(because)] == because):
                    for field in sorted(fields, key=str):
                        found.setdefault(field, []).append(route)
                    break
        return found

    def candidates(self, plugin: str, because: Route) -> Iterator[Route]:
        """Yield the values below what asked, then those of the environment's blocks that it names."""
        block = self._written(because)
        if block is MISSING:
            return
        named = set()
        for inner, value in leaves(block):
            named.add(str(value))
            yield (*because, *inner)
        owner = next(str(one) for one in self._plugins.plugins if one.name == plugin)
        for fragment in self._plugins.fragments:
            shared = self._job.environment.data.get(fragment.key)
            if fragment.site == "environment" and fragment.owner == owner and isinstance(shared, dict):
                entries = [name for name in shared if name in named]
                routes = [(name, *inner) for name in entries for inner, _ in leaves(shared[name])]
                yield from ((fragment.key, *inner) for inner in routes[:_TRIED_AT_MOST])

    def said(self, because: Route) -> Route:
        """Return the route of the job for a key that only jobs have, and that a plugin named of a role."""
        holder = self._holder(because)
        if holder is None or holder is self._job or self._written(because) is not MISSING:
            return because
        return (*self._job.route, *because[len(holder.route) :])

    def _written(self, route: Route) -> Any:
        """Return what the merged spec says at a route of this job, or of the environment."""
        holder = self._holder(route)
        data, depth = (holder.data, len(holder.route)) if holder else (self._job.environment.data, 0)
        return reach(data, route[depth:])

    def _holder(self, route: Route) -> Job | Role | None:
        holders: tuple[Job | Role, ...] = (*self._job.roles, self._job)
        for holder in holders:
            if route[: len(holder.route)] == holder.route:
                return holder
        return None

    def changed(self, route: Route) -> Iterator[Job]:
        """Yield the job as it would be with another value at a route."""
        job, holder = self._job, self._holder(route)
        environment = job.environment
        if holder is None:
            for data in changed(environment.data, route):
                yield _within(job, replace(environment, data=data))
            return
        for data in changed(holder.data, route[len(holder.route) :]):
            if holder is job:
                yield _within(replace(job, data=data), environment)
            else:
                roles = tuple(replace(role, data=data) if role is holder else role for role in job.roles)
                yield _within(replace(job, roles=roles), environment)


def _within(job: Job, environment: Any) -> Job:
    """Put a job into an environment that has no other."""
    alone = replace(environment)
    moved = replace(job, environment=alone)
    object.__setattr__(alone, "jobs", (moved,))  # the one circle, closed here
    return moved
