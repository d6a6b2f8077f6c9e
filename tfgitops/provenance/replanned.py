"""A Job that is planned again with a key of the spec changed, or with other patches of plugins."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tfgitops.planning.plan import Planner
from tfgitops.provenance.experiment import alone, followed, holder_of, holders, home, moved, said_by, variants, written
from tfgitops.targets.kubernetes.merge import RULES, Rule
from tfgitops.targets.routes import MISSING, leaves, value_at

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from tfgitops.plugins.door import Plugins
    from tfgitops.spec.diagnostics import Problem
    from tfgitops.spec.model import Environment, Job, Patch
    from tfgitops.targets.routes import Route

    Patches = Sequence[tuple[str, Patch]]
    Moved = Mapping[Route, Any]

_TASKS = Rule(keys=("name",), fields={"template": RULES["PodTemplateSpec"]})
_SPEC = RULES["Job"].of("spec")
JOB = Rule(fields={"spec": replace(_SPEC, fields={**_SPEC.fields, "tasks": _TASKS})})
"""The keys that identify the elements of each list in a Job."""
_NO_FIELD = frozenset({"allow", "from", "pin"})


class Drafts:
    """Plans changed jobs of one environment; ``foreign`` are the keys that the planner does not read."""

    def __init__(self, environment: Environment, plugins: Plugins) -> None:
        self._planner = Planner(environment, plugins, {})
        self._schema = plugins.schema
        self.foreign = {*_NO_FIELD, *(one.key for one in plugins.fragments)}

    def draft(self, job: Job, patches: Patches) -> Mapping[str, Any] | None:
        """Return the manifest of a job under a placeholder name; None where the planner cannot take a changed value."""
        try:
            return self._planner.draft(job, patches)[0]
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            return None

    def choices(self, job: Job, route: Route) -> Collection[Any]:
        """Return the values that the schema lists for a key of a job; none where it takes any value of a type."""
        holder = holder_of(job, route)
        schema: Any = self._schema.job if holder is job else self._schema.role if holder else {}
        for step in route[len(holder.route) :] if holder else ():
            schema = schema.get("properties", {}).get(step) or schema.get("items" if type(step) is int else "") or {}
        found: Collection[Any] = schema.get("enum", ())
        return found


class Trial:
    """A job without some top-level keys and with some patches, and the manifest that the planner makes of it."""

    def __init__(self, drafts: Drafts, job: Job, patches: Patches, removed: frozenset[Route] = frozenset()) -> None:
        self.job = job
        self.patches = patches
        self.manifest: Any = drafts.draft(job, patches)
        self._removed = removed
        self._drafts = drafts
        self._moved: dict[Any, list[Moved]] = {}
        self._first: dict[Route, tuple[str, Moved]] = {}
        self._fewer: dict[Route, Trial | None] = {}

    def without(self, *blocks: Route) -> Trial | None:
        """Return the job without some top-level keys; None where it cannot be planned."""
        if not blocks:
            return self
        first, *rest = blocks
        if first not in self._fewer:
            there = written(self.job, home(self.job, first)) is not MISSING
            *_, job = variants(self.job, first) if there else [self.job]
            trial = Trial(self._drafts, job, self.patches, self._removed | {first})
            needed = holder_of(job, first) is None and written(job, first) is not MISSING
            self._fewer[first] = trial if trial.manifest and not needed else None
        fewer = self._fewer[first]
        return fewer and fewer.without(*rest)

    @cached_property
    def unpatched(self) -> Trial:
        """The same job without the patches."""
        return Trial(self._drafts, self.job, (), self._removed)

    def moved_in(self, job: Job, patches: Patches) -> Moved:
        """Return the fields that move with another job or other patches; none where that cannot be planned."""
        draft = self._drafts.draft(job, patches)
        return moved(self.manifest, draft, JOB) if draft else {}

    def moved_with(self, patches: Patches, key: Any) -> Moved:
        """Return the fields that move with other patches; ``key`` identifies these."""
        if key not in self._moved:
            self._moved[key] = [self.moved_in(self.job, patches)]
        return self._moved[key][0]

    def moved_by(self, route: Route) -> list[Moved]:
        """Return the fields that move with each other value at a route, and last those that move without one."""
        if route not in self._moved:
            self._moved[route] = [self.moved_in(other, self.patches) for other in self._variants(route)]
        return self._moved[route]

    def _variants(self, route: Route) -> Iterator[Job]:
        return variants(self.job, route, self._drafts.choices(self.job, route))

    def exact(self, at: Route) -> Route | None:
        """Return the first key that sets a field directly."""
        alike = self._by_text.get(str(value_at(self.manifest, at)), ())
        there = (home(self.job, route) for route in alike)
        return next((one for one in there if self.block(one) not in self._removed and self.is_exact(one, at)), None)

    @cached_property
    def _by_text(self) -> Mapping[str, list[Route]]:
        """The routes of the values by their text, so that few are tried for each field."""
        found: dict[str, list[Route]] = {}
        for route, value in self._values:
            found.setdefault(str(value), []).append(route)
        return found

    def is_exact(self, route: Route, at: Route) -> bool:
        """Tell whether a key sets a field directly: the field has the value of the key, and follows its change."""
        if str(written(self.job, route)) != str(value_at(self.manifest, at)):
            return False
        if route not in self._first:
            other = next(self._variants(route), self.job)
            self._first[route] = (str(written(other, route)), self.moved_in(other, self.patches))
        text, effect = self._first[route]
        return str(effect.get(at, MISSING)) == text

    @cached_property
    def movers(self) -> Mapping[Route, Iterable[Route]]:
        """The keys that move each field, by the route of the field."""
        found: dict[Route, dict[Route, None]] = {}
        for route in self.candidates:
            for effect in self.moved_by(route):
                for at in effect:
                    found.setdefault(at, {})[route] = None
        return found

    @cached_property
    def candidates(self) -> list[Route]:
        """The routes of all values that the planner reads: of the roles, of the job and of the environment."""
        found = ((home(self.job, route), value) for route, value in self._values)
        routes = (route if value is not None else self._emptied(route) for route, value in found)
        return [route for route in dict.fromkeys(routes) if route and self.block(route) not in self._removed]

    @property
    def _values(self) -> Iterator[tuple[Route, Any]]:
        """The innermost values that the planner reads, by the routes at which their holders have them."""
        job = self.job
        for base, block in (*((one.route, said_by(one)) for one in holders(job)), ((), job.environment.data)):
            for inner, value in leaves(block):
                if inner and inner[0] not in self._drafts.foreign:
                    yield (*base, *inner), value

    def _emptied(self, route: Route) -> Route:
        """Return the route of the overlay map that a ``null`` leaves empty; an empty route if the map holds more."""
        holder = written(self.job, route[:-1])
        return route[:-1] if isinstance(holder, dict) and not any(holder.values()) else ()

    @property
    def blocks(self) -> Iterator[Route]:
        """The routes of the top-level keys that the planner reads, of the job and of its roles."""
        for holder in reversed(holders(self.job)):
            for key in holder.data:
                if key not in self._drafts.foreign and (*holder.route, key) not in self._removed:
                    yield (*holder.route, key)

    def block(self, route: Route) -> Route:
        """Return the route of the top-level key that a route leads into."""
        holder = holder_of(self.job, route)
        return route[: len(holder.route) + 1] if holder else route[:1]


class JobPatches:
    """The patches of one job; a plugin is asked again only for a field that it gave."""

    def __init__(self, job: Job, plugins: Plugins) -> None:
        self._job = job
        self._plugins = plugins
        self._influences: dict[str, list[Route]] = {}
        self._otherwise: dict[tuple[str, Route], list[Patches | None]] = {}
        self.all = list(plugins.ask("tfgitops_contribute", job.route, [], job=job))

    def said(self, because: Route) -> Route:
        """Return the route in the job for a route into a role, if only the job has the key."""
        holder = holder_of(self._job, because)
        if holder is None or holder is self._job or self.written(because) is not MISSING:
            return because
        return (*self._job.route, *because[len(holder.route) :])

    def written(self, route: Route) -> Any:
        """Return the value at a route of the merged spec, or of the settings; `MISSING` where there is none."""
        return written(self._job, route)

    def is_unasked(self, because: Route) -> bool:
        """Tell whether a patch is there for every job or role, and not because of a key."""
        return because in (self._job.route, *(role.route for role in self._job.roles))

    def without(self, plugin: str, patch: Patch, route: Route) -> bool | None:
        """Tell whether a patch stays when the value at a route goes; None where the plugin fails then."""
        answers = self.otherwise(plugin, route)[-1]
        if answers is None:
            return None
        mine = [one for name, one in self.all if name == plugin and _alike(one, patch)]
        return sum(_alike(one, patch) for _, one in answers) >= len(mine)

    def influences(self, plugin: str) -> list[Route]:
        """Return the routes of the values that a plugin reads; none where it also reads other jobs."""
        if plugin not in self._influences:
            said = [one for one in self.all if one[0] == plugin]
            alike = self.ask(alone(self._job, self._job.environment), plugin) == said
            found = followed(self._job, lambda route: self.otherwise(plugin, route), said) if alike else []
            self._influences[plugin] = found
        return self._influences[plugin]

    def otherwise(self, plugin: str, route: Route) -> list[Patches | None]:
        """Return the answers of a plugin to each other value at a route, and last to none.

        An answer is None where the plugin fails: its own checks may refuse a changed value.
        """
        if (plugin, route) not in self._otherwise:
            self._otherwise[plugin, route] = [self.ask(job, plugin) for job in variants(self._job, route)]
        return self._otherwise[plugin, route]

    def ask(self, job: Job, plugin: str = "") -> Patches | None:
        """Return the patches of one plugin, or of all, for a changed job; None where a plugin fails."""
        crashes: list[Problem] = []  # the planner has reported those of the job as it is
        found = list(self._plugins.ask("tfgitops_contribute", job.route, crashes, only=plugin, job=job))
        return None if crashes else found


def _alike(one: Patch, other: Patch) -> bool:
    return (one.target, one.because) == (other.target, other.because)
