"""Experiments: an environment with one value changed or taken out, and what of an answer that moves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tfgitops.spec.model import Job
from tfgitops.spec.resolve import bare_environment
from tfgitops.targets.kubernetes.merge import Rule, identity_of
from tfgitops.targets.routes import MISSING, leaves, reach, replaced, steps, value_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from tfgitops.spec.model import Environment, Role
    from tfgitops.targets.routes import Route

SETTINGS = "[tool.tfgitops.settings]"
"""How a route begins that leads not into the spec but into the settings of plugins: then come a plugin and its keys."""

_UNRULED = Rule()
_TRIED_AT_MOST = 64


def changed(data: Any, route: Route, choices: Iterable[Any] = ()) -> Iterator[Any]:
    """Yield copies of a value with another one at a route: another choice, or something of its kind, then nothing."""
    value = value_at(data, route)
    for other in choices or [_other(value)]:
        if other != value:
            yield replaced(data, route, other)
    if route:
        yield replaced(data, route, MISSING)


def _other(value: Any) -> Any:
    """Change a value and all that is in it: a digit before a text leaves names, labels and quantities what they are."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, dict):
        return {key: _other(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_other(inner) for inner in value]
    return f"3{value}" if isinstance(value, str) else value


def influences(
    routes: Iterable[Route], value_of: Callable[[Route], Any], ask: Callable[[Route], Iterable[Any]], said: Any
) -> Iterator[Route]:
    """Yield the values, of those below some routes, without which an answer would be another one.

    Where these would be very many, it is the block that holds them. ``ask`` yields the answers with a route changed.
    """
    for route in routes:
        if any(answer != said for answer in ask(route)):
            inner = [(*route, step) for step, _ in steps(value_of(route))]
            yield from influences(inner, value_of, ask, said) if 0 < len(inner) <= _TRIED_AT_MOST else [route]


def moved(before: Any, after: Any, rule: Rule = _UNRULED, at: Route = ()) -> dict[Route, Any]:
    """Return the fields that differ, by their routes before, with what they are after: `MISSING` for those that went.

    An element of a list that only changed its place, or its name, is the same element still.
    """
    if before == after:
        return {}
    found: dict[Route, Any] = {}
    if isinstance(before, dict) and before:
        for key, inner in before.items():
            other = after.get(key, MISSING) if isinstance(after, dict) else MISSING
            found |= moved(inner, other, rule.of(key), (*at, key))
    elif isinstance(before, list) and before:
        places = _places(before, after, rule)
        for index, inner in enumerate(before):
            other = after[places[index]] if index in places else MISSING
            found |= moved(inner, other, rule, (*at, index))
    else:
        found[at] = after
    return found


def counterpart(before: Any, after: Any, rule: Rule, at: Route) -> Route | None:
    """Return the route of a field in an answer after a change; None where it went."""
    found: Route = ()
    for step in at:
        other: Any = step
        if isinstance(before, list):
            other = _places(before, after, rule, strictly=True).get(int(step))
        elif isinstance(after, dict) and step in after:
            rule = rule.of(str(step))
        else:
            return None
        if other is None:
            return None
        before, after, found = before[step], after[other], (*found, other)
    return (*found, *next(leaves(after))[0])


def _places(before: list[Any], after: Any, rule: Rule, *, strictly: bool = False) -> dict[int, int]:
    """Match the elements of two lists: those alike first, then, in their order, those that are left.

    With ``strictly``, one that has names is not matched with one of other names.
    """
    free = {index: _name(element, rule) for index, element in enumerate(after if isinstance(after, list) else ())}
    found: dict[int, int] = {}
    for index, element in enumerate(before):
        name = _name(element, rule)
        place = next((place for place, other in free.items() if other == name), None)
        if place is not None:
            found[index] = place
            del free[place]
    left = [index for index in range(len(before)) if index not in found]
    left = [index for index in left if not (strictly and isinstance(before[index], dict))]
    return found | dict(zip(left, free, strict=False))


def _name(element: Any, rule: Rule) -> Any:
    return identity_of(element, rule) if rule.keys and isinstance(element, dict) else element


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
    if holder is job:
        roles = tuple(_with_shared(job, role, data, shared) for role in job.roles) if shared else job.roles
        strategy = data.get("strategy", job.strategy)
        other = replace(job, data=data, strategy=strategy, roles=roles)
    else:
        kept = {key: value for key, value in data.items() if key != "replicas"}
        changed_role: Any = replace(holder, replicas=data.get("replicas", 1), data=kept)
        roles = tuple(changed_role if one is holder else one for one in job.roles)
        other = replace(job, roles=roles)
    return alone(other, job.environment)


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
