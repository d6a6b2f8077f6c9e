"""The same job as it would be if the resolved spec said something else at one of its routes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tfgitops.provenance.experiment import changed
from tfgitops.spec.model import Job
from tfgitops.spec.resolve import bare_environment
from tfgitops.targets.routes import MISSING, reach, replaced

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tfgitops.spec.model import Environment, Role
    from tfgitops.targets.routes import Route


SETTINGS = "[tool.tfgitops.settings]"
"""How a route begins that leads not into the spec but into the settings of plugins: then come a plugin and its keys."""


def tops_of(job: Job) -> list[Route]:
    """Return the routes of all that a plugin may go by when it is asked of a job."""
    own = [home(job, (*holder.route, key)) for holder in holders(job) for key in said_by(holder)]
    return [*dict.fromkeys(own), *tops_of_environment(job.environment)]


def tops_of_environment(environment: Environment) -> list[Route]:
    """Return the routes of the keys at the top of an environment, and of what is set for each plugin."""
    return [*((key,) for key in environment.data), *((SETTINGS, plugin) for plugin in environment.settings)]


def written(job: Job, route: Route) -> Any:
    """Return what the merged spec says at a route of a job, or of its environment, or what a setting is."""
    if route[:1] == (SETTINGS,):
        return reach(job.environment.settings, route[1:])
    holder = holder_of(job, route)
    return reach(said_by(holder), route[len(holder.route) :]) if holder else reach(job.environment.data, route)


def holders(job: Job) -> tuple[Job | Role, ...]:
    """Return all that have keys of a job: its roles, and itself."""
    return (*job.roles, job)


def holder_of(job: Job, route: Route) -> Job | Role | None:
    """Return the job, or the role of it, that a route is of; None where it is of the environment."""
    return next((holder for holder in holders(job) if route[: len(holder.route)] == holder.route), None)


def said_by(holder: Job | Role) -> Mapping[str, Any]:
    """Return the keys of a job, or of a role with its replicas, which are no key of it any more."""
    return holder.data if isinstance(holder, Job) else {**holder.data, "replicas": holder.replicas}


def variants(job: Job, route: Route, choices: Iterable[Any] = ()) -> Iterator[Job]:
    """Yield a job as it would be with another value at a route, then with none; it is alone in its environment.

    ``choices`` are all values that may stand there, where they are few.
    """
    route = home(job, route)
    holder = holder_of(job, route)
    if holder is None:
        yield from (alone(job, environment) for environment in environments(job.environment, route))
        return
    inner = route[len(holder.route) :]
    for data in changed(said_by(holder), inner, choices):
        yield saying(job, holder, data, inner if holder is job else ())


def home(job: Job, route: Route) -> Route:
    """Return the route of the job for what a role has from its job, and any other route as it is."""
    holder = holder_of(job, route)
    if holder is None or holder is job or not _is_shared(job, holder, route[len(holder.route) :]):
        return route
    return (*job.route, *route[len(holder.route) :])


def saying(job: Job, holder: Job | Role, data: Mapping[str, Any], shared: Route = ()) -> Job:
    """Return a job that says other keys, itself or in a role; what it says at ``shared`` its roles have from it."""
    environment = replace(job.environment)
    if holder is job:
        roles = tuple(_with_shared(job, role, data, shared) for role in job.roles) if shared else job.roles
        strategy = data.get("strategy", job.strategy)
        other = replace(job, data=data, strategy=strategy, roles=roles, environment=environment)
    else:
        kept = {key: value for key, value in data.items() if key != "replicas"}
        changed_role: Any = replace(holder, replicas=data.get("replicas", 1), data=kept)
        roles = tuple(changed_role if one is holder else one for one in job.roles)
        other = replace(job, roles=roles, environment=environment)
    object.__setattr__(environment, "jobs", (other,))  # the one circle, closed here
    return other


def _with_shared(job: Job, role: Role, said: Mapping[str, Any], inner: Route) -> Role:
    """Let a role have, too, what its job says otherwise."""
    data = role.data
    for at in _shared_parts(job, role, inner):
        data = replaced(data, at, reach(said, at))
    return role if data is role.data else replace(role, data=data)


def _shared_parts(job: Job, role: Role, at: Route) -> Iterator[Route]:
    """Yield what of a value a role has from its job: all, or some keys of a map in which it has others of its own."""
    value = reach(role.data, at)
    if value is MISSING:
        return
    if _is_shared(job, role, at):
        yield at
    elif isinstance(value, dict):
        for key in value:
            yield from _shared_parts(job, role, (*at, key))


def _is_shared(job: Job, role: Job | Role, inner: Route) -> bool:
    """Tell whether a role has a value from its job: then no file says it of the role."""
    return bool(inner) and reach(job.data, inner) is not MISSING and job.environment.places.from_job(role.route, inner)


def environments(environment: Environment, route: Route) -> Iterator[Environment]:
    """Yield an environment with another value at a route of its keys, or of the settings."""
    name, folder, places = environment.name, environment.folder, environment.places
    if route[:1] == (SETTINGS,):
        yield from (replace(environment, settings=other) for other in changed(environment.settings, route[1:]))
        return
    for data in changed(environment.data, route):
        if reach(data, ("namespace", "name")) is not MISSING:
            yield replace(bare_environment(name, folder, data, environment.settings, places), jobs=environment.jobs)


def alone(job: Job, environment: Environment) -> Job:
    """Put a job into an environment that has no other."""
    other = replace(environment)
    moved = replace(job, environment=other)
    object.__setattr__(other, "jobs", (moved,))  # the one circle, closed here
    return moved
