"""What a hook reads: an environment whose views note each key of the spec, and each setting, that is looked at."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from tfgitops.spec.model import Environment, Job, Role, View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tfgitops.targets.routes import Route

SETTINGS = "[tool.tfgitops.settings]"
"""How a route begins that leads not into the spec but into the settings of plugins: then come a plugin and its keys."""

_TRIED_AT_MOST = 64


class Reads:
    """Routes that were looked at, in the order in which this was done first."""

    def __init__(self) -> None:
        self._seen: dict[Route, None] = {}

    def note(self, route: Route) -> None:
        """Note that what stands at a route was looked at."""
        self._seen[route] = None

    def routes(self, beside: Callable[[Route], bool]) -> list[Route]:
        """Return the innermost routes, but for those that are left out; where they are very many, what these are in."""
        passed = {route[:end] for route in self._seen for end in range(len(route))}
        found = [route for route in self._seen if route not in passed and not beside(route)]
        while len(found) > _TRIED_AT_MOST and (longest := max(map(len, found))) > 1:
            found = list(dict.fromkeys(route[:-1] if len(route) == longest else route for route in found))
        return found[:_TRIED_AT_MOST]


def watched(environment: Environment) -> tuple[Environment, Reads]:
    """Return the same environment, and what plugins that are asked of it will have read."""
    reads = Reads()
    twin = environment.twin
    seen = _noting(_Environment, twin, reads, (), data=_Watched(environment.data, (), reads))
    object.__setattr__(seen, "settings", _Watched(environment.settings, (SETTINGS,), reads))
    jobs = tuple(_watched_job(job, one, seen, reads) for job, one in zip(environment.jobs, twin.jobs, strict=True))
    object.__setattr__(seen, "jobs", jobs)
    copy = replace(environment)
    vars(copy)["twin"] = seen
    return copy, reads


def _watched_job(job: Job, twin: Job, environment: Environment, reads: Reads) -> Job:
    roles = tuple(
        _noting(_Role, one, reads, role.route, data=_Watched(role.data, role.route, reads))
        for role, one in zip(job.roles, twin.roles, strict=True)
    )
    data = _Watched(job.data, job.route, reads)
    copy: Job = _noting(_Job, twin, reads, job.route, data=data, roles=roles, environment=environment)
    return copy


class _Watched(View):
    """A view that notes what is looked at in it."""

    __slots__ = ("_at", "_reads")

    def __init__(self, data: Mapping[str, Any], at: Route, reads: Reads) -> None:
        super().__init__(data)
        self._at = at
        self._reads = reads

    def __getitem__(self, key: str) -> Any:
        return _seen(self._data[key], (*self._at, key), self._reads)

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self._data else default

    def __contains__(self, key: object) -> bool:
        if key in self._data:
            self._reads.note((*self._at, str(key)))
        return key in self._data

    def __iter__(self) -> Iterator[str]:
        for key in self._data:
            self._reads.note((*self._at, key))
            yield key

    def __len__(self) -> int:
        self._reads.note(self._at)
        return len(self._data)

    def __repr__(self) -> str:
        _seen_whole(self._data, self._at, self._reads)
        return super().__repr__()


def _seen(value: Any, at: Route, reads: Reads) -> Any:
    """Return a value as a view has it, and note that it was looked at, as far as that cannot be noted later."""
    if isinstance(value, dict | View) and value:
        return _Watched(value, at, reads)
    reads.note(at)
    if isinstance(value, list):
        return tuple(_seen(item, (*at, index), reads) for index, item in enumerate(value))
    return value


def _seen_whole(value: Any, at: Route, reads: Reads) -> None:
    reads.note(at)
    for key in value if isinstance(value, dict | View) else ():
        _seen_whole(value[key], (*at, key), reads)


class _Noting:
    """Notes keys of the spec that are looked at as attributes."""

    _keys: Mapping[str, Route]

    def __getattribute__(self, name: str) -> Any:
        get = super().__getattribute__
        route = type(self)._keys.get(name)  # noqa: SLF001 - of the classes below
        if route and (noted := get("__dict__").get("_noted")):  # a copy that a plugin made has none
            at, reads = noted
            reads.note((*at, *route))
        return get(name)


class _Environment(_Noting, Environment):
    _keys = {"cluster": ("cluster",), "namespace": ("namespace", "name"), "gitops": ("gitops",)}  # noqa: RUF012 - fixed


class _Job(_Noting, Job):
    _keys = {"strategy": ("strategy",)}  # noqa: RUF012 - likewise


class _Role(_Noting, Role):
    _keys = {"replicas": ("replicas",)}  # noqa: RUF012 - likewise


def _noting(kind: Any, value: Any, reads: Reads, at: Route, **other: Any) -> Any:
    """Copy a twin into a class that notes what is looked at."""
    given = {one.name: getattr(value, one.name) for one in fields(value)}
    copy = kind(**{**given, **other})
    object.__setattr__(copy, "_noted", (at, reads))
    return copy
