"""What the plugins add to one job, and which values of the spec each field of it follows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tfgitops.provenance.experiment import changed, followers
from tfgitops.provenance.reads import SETTINGS, watched
from tfgitops.provenance.sources import PLUGIN, Source
from tfgitops.spec.model import Job
from tfgitops.targets.kubernetes.merge import RULES
from tfgitops.targets.routes import MISSING, leaves, reach

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfgitops.plugins.door import Plugins
    from tfgitops.provenance.reads import Reads
    from tfgitops.spec.diagnostics import Problem
    from tfgitops.spec.model import Environment, Patch, Role
    from tfgitops.targets.kubernetes.merge import SchemaName
    from tfgitops.targets.routes import Route

    Followed = Mapping[Route, list[Route]]

SCHEMAS: dict[str, SchemaName] = {"job": "Job", "pod": "PodTemplateSpec", "container": "Container"}


class JobPatches:
    """The patches of one job; the plugins are asked once, and again only for a field that came from them.

    A patch says because of which key it is. Hooks are pure, so the values that a field follows are found by asking the
    plugin again with one of them changed: those below that key, and whatever else the hook reads.
    """

    def __init__(self, job: Job, plugins: Plugins) -> None:
        self._job = job
        self._plugins = plugins
        self._trials: dict[str, _Trial] = {}
        self._followed: dict[tuple[str, int], Followed] = {}
        self.all = list(plugins.ask("tfgitops_contribute", job.route, [], job=job))

    def source(self, plugin: str, patch: Patch, at: Route) -> Source:
        """Return the source of a field of a patch: what it follows, those routes with its own value first.

        What a plugin adds to each job, or role, that is there, and that follows nothing, is the plugin's own.
        """
        value = reach(patch.value, at)
        asked = (plugin, id(patch))  # of `all`, which are kept
        if asked not in self._followed:
            self._followed[asked] = self._experiment(plugin, patch)
        found = self._followed[asked].get(at)
        if not found and self.is_unasked(patch.because):
            return Source(routes=(patch.because,), layer=PLUGIN, value=value, plugin=plugin)
        routes = sorted(found or [patch.because], key=lambda route: str(self.written(route)) != str(value))
        return Source(routes=tuple(routes), value=value, plugin=plugin)

    def is_unasked(self, because: Route) -> bool:
        """Tell whether something is there because of the job, or a role, and not of what one says."""
        return because in (self._job.route, *(role.route for role in self._job.roles))

    def without(self, plugin: str, patch: Patch, route: Route) -> bool | None:
        """Tell whether a patch would be there if nothing stood at a route; None where its plugin fails then."""
        trial = self._trials.setdefault(plugin, _Trial(self, self._job, self._plugins, plugin))
        *_, job = self.changed(route)
        answers = trial.ask(job)
        if answers is None:
            return None
        mine = [one for name, one in self.all if name == plugin and _alike(one, patch)]
        return sum(_alike(one, patch) for one in answers) >= len(mine)

    def _experiment(self, plugin: str, patch: Patch) -> Followed:
        """Find which fields of a patch follow which values of the spec."""
        trial = self._trials.setdefault(plugin, _Trial(self, self._job, self._plugins, plugin))
        mine = [one for name, one in self.all if name == plugin and _alike(one, patch)]
        number = next(index for index, one in enumerate(mine) if one is patch)
        if [one.value for one in trial.said if _alike(one, patch)] != [one.value for one in mine]:
            return {}  # it follows other jobs: alone, this one says nothing
        found: dict[Route, list[Route]] = {}
        because = self.said(patch.because)
        for route in self.candidates(because, trial.reads):
            for answers in trial.otherwise(route):
                same = [other.value for other in answers if _alike(other, patch)]
                value = _counterpart(patch.value, same, number, len(mine))
                fields = followers(patch.value, value, RULES[SCHEMAS[patch.target[0]]])
                if fields and (same or route[: len(because)] == because):
                    for field in sorted(fields, key=str):
                        found.setdefault(field, []).append(route)
                    break
        self._add_cause(found, plugin, patch)
        return found

    def _add_cause(self, found: dict[Route, list[Route]], plugin: str, patch: Patch) -> None:
        """Let fields follow the key that asked for them, too, where it must be there and no value in it was found."""
        because = self.said(patch.because)
        bare = [routes for routes in found.values() if not any(route[: len(because)] == because for route in routes)]
        if not bare or self.is_unasked(because) or self.written(because) is MISSING:
            return
        if not self.without(plugin, patch, because):
            for routes in bare:
                routes.append(because)

    def candidates(self, because: Route, reads: Reads) -> Iterator[Route]:
        """Yield the values below what asked, then all others that the hook reads."""
        block = MISSING if self.is_unasked(because) else self.written(because)
        if block is not MISSING:
            yield from ((*because, *inner) for inner, _ in leaves(block))
        for route in reads.routes(lambda route: block is not MISSING and route[: len(because)] == because):
            if self.written(route) is not MISSING:
                yield route

    def said(self, because: Route) -> Route:
        """Return the route of the job for a key that only jobs have, and that a plugin named of a role."""
        holder = self._holder(because)
        if holder is None or holder is self._job or self.written(because) is not MISSING:
            return because
        return (*self._job.route, *because[len(holder.route) :])

    def written(self, route: Route) -> Any:
        """Return what the merged spec says at a route of this job, or of the environment, or what a setting is."""
        if route[:1] == (SETTINGS,):
            return reach(self._job.environment.settings, route[1:])
        holder = self._holder(route)
        return reach(_data(holder), route[len(holder.route) :]) if holder else reach(self._job.environment.data, route)

    def _holder(self, route: Route) -> Job | Role | None:
        holders: tuple[Job | Role, ...] = (*self._job.roles, self._job)
        for holder in holders:
            if route[: len(holder.route)] == holder.route:
                return holder
        return None

    def changed(self, route: Route) -> Iterator[Job]:
        """Yield the job as it would be with another value at a route."""
        job, holder = self._job, self._holder(route)
        if holder is None:
            for environment in environments(job.environment, route):
                yield alone(job, environment)
            return
        for data in changed(_data(holder), route[len(holder.route) :]):
            if holder is job:
                yield alone(replace(job, data=data, strategy=data.get("strategy", job.strategy)), job.environment)
            else:
                other: Any = replace(holder, replicas=data.pop("replicas", 1), data=data)
                roles = tuple(other if role is holder else role for role in job.roles)
                yield alone(replace(job, roles=roles), job.environment)


class _Trial:
    """One plugin, asked again and again for its patches of one job; ``said`` is what it says of the job as it is."""

    def __init__(self, patches: JobPatches, job: Job, plugins: Plugins, plugin: str) -> None:
        self._patches = patches
        self._plugins = plugins
        self._plugin = plugin
        self._otherwise: dict[Route, list[Sequence[Patch]]] = {}
        environment, self.reads = watched(alone(job, job.environment).environment)
        self.said = self.ask(replace(job, environment=environment)) or ()

    def otherwise(self, route: Route) -> Iterator[Sequence[Patch]]:
        """Yield what the plugin says with other values at a route.

        A changed value may be one that the plugin's own checks refuse. If it fails there, that says nothing.
        """
        if route not in self._otherwise:
            answers = [self.ask(job) for job in self._patches.changed(route)]
            self._otherwise[route] = [answer for answer in answers if answer is not None]
        yield from self._otherwise[route]

    def ask(self, job: Job) -> Sequence[Patch] | None:
        """Return what the plugin says of a job; None where it fails."""
        crashes: list[Problem] = []  # those of the job as it is were reported when it was planned
        said = self._plugins.ask("tfgitops_contribute", job.route, crashes, only=self._plugin, job=job)
        answers = [patch for _, patch in said]
        return None if crashes else answers


def _data(holder: Any) -> Mapping[str, Any]:
    """Return the keys of a job, or of a role with its replicas, which are no key of it any more."""
    return holder.data if isinstance(holder, Job) else {**holder.data, "replicas": holder.replicas}


def _alike(one: Patch, other: Patch) -> bool:
    return (one.target, one.because) == (other.target, other.because)


def _counterpart(value: Any, others: Sequence[Any], number: int, count: int) -> Any:
    """Return what a patch has become, of several that are of one target and one cause."""
    if value in others and len(others) != count:
        return value
    return others[number] if number < len(others) else {}


def environments(environment: Environment, route: Route) -> Iterator[Environment]:
    """Yield an environment with another value at a route of its keys, or of the settings."""
    if route[:1] == (SETTINGS,):
        yield from (replace(environment, settings=other) for other in changed(environment.settings, route[1:]))
        return
    for data in changed(environment.data, route):
        namespace = reach(data, ("namespace", "name"))
        yield replace(
            environment, data=data, cluster=data.get("cluster", environment.name), gitops=data.get("gitops", "none"),
            namespace=environment.namespace if namespace is MISSING else namespace,
        )  # fmt: skip


def alone(job: Job, environment: Environment) -> Job:
    """Put a job into an environment that has no other."""
    other = replace(environment)
    moved = replace(job, environment=other)
    object.__setattr__(other, "jobs", (moved,))  # the one circle, closed here
    return moved
