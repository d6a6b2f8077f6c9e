"""Experiments: change or remove one value of an environment, and see which fields of an answer move."""

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
"""The first step of a route into the settings of plugins; the name of a plugin and its keys follow."""

_UNRULED = Rule()
_TRIED_AT_MOST = 64


def _changed(data: Any, route: Route, choices: Iterable[Any]) -> Iterator[Any]:
    """Yield copies of a value with another value at a route: each other choice or a similar value, and at last none."""
    value = value_at(data, route)
    for other in choices or [_other(value)]:
        if other != value:
            yield replaced(data, route, other)
    if route:
        yield replaced(data, route, MISSING)


def _other(value: Any) -> Any:
    """Return a similar value: a name, label or quantity stays one with another digit in front, a path gets two."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, dict):
        return {key: _other(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_other(inner) for inner in value]
    if not isinstance(value, str):
        return value
    folder, slash, name = value.rpartition("/")
    return f"3{folder}/3{name}" if slash else f"3{value}"


def followed(asked: Job | Environment, ask: Callable[[Route], Iterable[Any]], said: Any) -> list[Route]:
    """Return the routes of the values that an answer depends on; a block of very many values counts as one.

    ``ask`` returns the answers with other values at a route. ``said`` is the answer to the spec as it is.
    """

    def search(routes: Iterable[Route]) -> Iterator[Route]:
        for route in routes:
            if any(answer != said for answer in ask(route)):
                inner = [(*route, step) for step, _ in steps(written(asked, route))]
                yield from search(inner) if 0 < len(inner) <= _TRIED_AT_MOST else [route]

    environment = _environment_of(asked)
    own = [home(asked, (*holder.route, key)) for holder in holders(asked) for key in said_by(holder)]
    tops = [*own, *((key,) for key in environment.data), *((SETTINGS, plugin) for plugin in environment.settings)]
    return list(dict.fromkeys(home(asked, route) for route in search(dict.fromkeys(tops))))


def moved(before: Any, after: Any, rule: Rule = _UNRULED, at: Route = ()) -> dict[Route, Any]:
    """Return the fields that differ, by their routes before, with their values after: `MISSING` for removed ones.

    An element of a list that changed only its place or its name counts as the same element.
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
    """Return the route of the same field in another answer; None where that has no such field."""
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
    """Return the place of each element in another list, by names and then by order.

    With ``strictly``, elements that are maps match by their names only.
    """
    names = [_name(element, rule) for element in before]
    others = [_name(element, rule) for element in after] if isinstance(after, list) else []
    if names == others:
        return {index: index for index in range(len(names))}
    free = dict(enumerate(others))
    found: dict[int, int] = {}
    for index, name in enumerate(names):
        place = next((place for place, other in free.items() if other == name), None)
        if place is not None:
            found[index] = place
            del free[place]
    left = [index for index in range(len(before)) if index not in found]
    left = [index for index in left if not (strictly and isinstance(before[index], dict))]
    return found | dict(zip(left, free, strict=False))


def _name(element: Any, rule: Rule) -> Any:
    return identity_of(element, rule) if rule.keys and isinstance(element, dict) else element


def _environment_of(asked: Job | Environment) -> Environment:
    return asked.environment if isinstance(asked, Job) else asked


def written(asked: Job | Environment, route: Route) -> Any:
    """Return the value at a route of the merged spec, or of the settings; `MISSING` where there is none."""
    if route[:1] == (SETTINGS,):
        return reach(_environment_of(asked).settings, route[1:])
    holder = holder_of(asked, route)
    return reach(said_by(holder), route[len(holder.route) :]) if holder else reach(_environment_of(asked).data, route)


def holders(asked: Job | Environment) -> tuple[Job | Role, ...]:
    """Return the roles of a job and the job itself; the keys of an environment have no holder."""
    return (*asked.roles, asked) if isinstance(asked, Job) else ()


def holder_of(asked: Job | Environment, route: Route) -> Job | Role | None:
    """Return the role or the job that a route leads into; None for a route of the environment."""
    return next((holder for holder in holders(asked) if route[: len(holder.route)] == holder.route), None)


def said_by(holder: Job | Role) -> Mapping[str, Any]:
    """Return the keys of a job or a role; a role keeps its replicas apart from its other keys."""
    return holder.data if isinstance(holder, Job) else {**holder.data, "replicas": holder.replicas}


def variants(job: Job, route: Route, choices: Iterable[Any] = ()) -> Iterator[Job]:
    """Yield the job with other values at a route, and at last without one; each is alone in its environment.

    ``choices`` are all values that the schema allows there, if they are few.
    """
    route = home(job, route)
    holder = holder_of(job, route)
    if holder is None:
        yield from (alone(job, environment) for environment in environments(job.environment, route))
        return
    for data in _changed(said_by(holder), route[len(holder.route) :], choices):
        yield saying(job, route, data)


def environments(asked: Job | Environment, route: Route) -> Iterator[Environment]:
    """Yield the environment with other values at a route; for a job, that job is alone in it."""
    if isinstance(asked, Job):
        yield from (one.environment for one in variants(asked, route))
    elif route[:1] == (SETTINGS,):
        yield from (replace(asked, settings=other) for other in _changed(asked.settings, route[1:], ()))
    else:
        for data in _changed(asked.data, route, ()):
            if reach(data, ("namespace", "name")) is not MISSING:
                bare = bare_environment(asked.name, asked.folder, data, asked.settings, asked.places)
                yield replace(bare, jobs=asked.jobs)


def home(asked: Job | Environment, route: Route) -> Route:
    """Return the route in the job if a role inherits the value at a route; else the route itself."""
    holder = holder_of(asked, route)
    if not isinstance(asked, Job) or holder is None or holder is asked:
        return route
    inner = route[len(holder.route) :]
    return (*asked.route, *inner) if _is_shared(asked, holder, inner) else route


def saying(job: Job, route: Route, data: Mapping[str, Any]) -> Job:
    """Return the job with other keys in the job or the role that a route leads into.

    Roles that inherit the value at the route from the job get the new one.
    """
    holder = holder_of(job, route)
    if holder is job:
        inner, strategy = route[len(job.route) :], data.get("strategy", job.strategy)
        roles = tuple(replace(role, data=_inheriting(job, role, role.data, data, inner)) for role in job.roles)
        return alone(job, job.environment, data=data, strategy=strategy, roles=roles)
    kept, replicas = {key: value for key, value in data.items() if key != "replicas"}, data.get("replicas", 1)
    roles = tuple(replace(one, replicas=replicas, data=kept) if one is holder else one for one in job.roles)
    return alone(job, job.environment, roles=roles)


def _inheriting(job: Job, role: Role, data: Any, said: Mapping[str, Any], at: Route) -> Any:
    """Return the keys of a role, with the new value of the job wherever the role inherits it."""
    if _is_shared(job, role, at):
        return replaced(data, at, reach(said, at))
    value = reach(role.data, at)
    for key in value if isinstance(value, dict) else ():
        data = _inheriting(job, role, data, said, (*at, key))
    return data


def _is_shared(job: Job, role: Job | Role, inner: Route) -> bool:
    """Tell whether a role inherits a value from its job, because no file sets it for the role."""
    return bool(inner) and reach(job.data, inner) is not MISSING and job.environment.places.from_job(role.route, inner)


def alone(job: Job, environment: Environment, **changes: Any) -> Job:
    """Return a job with some changes, as the only job of an environment."""
    other = replace(environment)
    one = replace(job, environment=other, **changes)
    object.__setattr__(other, "jobs", (one,))  # the two refer to each other, so one is set late
    return one
