"""A Job that is planned again and again, with a key of the spec changed or with other patches of its plugins."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tfgitops.planning.plan import Planner
from tfgitops.provenance.experiment import (
    alone,
    holder_of,
    holders,
    home,
    influences,
    moved,
    said_by,
    tops_of,
    variants,
    written,
)
from tfgitops.targets.kubernetes.merge import RULES, Rule
from tfgitops.targets.routes import MISSING, leaves, value_at

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from tfgitops.plugins.door import Plugins
    from tfgitops.spec.diagnostics import Problem
    from tfgitops.spec.model import Environment, Job, Patch
    from tfgitops.targets.routes import Route

    Patches = Sequence[tuple[str, Patch]]
    Asked = list[tuple[str, Patch]]
    Moved = Mapping[Route, Any]

_TASKS = Rule(keys=("name",), fields={"template": RULES["PodTemplateSpec"]})
_SPEC = RULES["Job"].of("spec")
JOB = Rule(fields={"spec": replace(_SPEC, fields={**_SPEC.fields, "tasks": _TASKS})})
"""How the elements of the lists in a Job are known."""
_NO_FIELD = frozenset({"allow", "from", "pin"})


class Drafts:
    """Plans the jobs of an environment for those who ask what would be; ``foreign`` are the keys of plugins."""

    def __init__(self, environment: Environment, plugins: Plugins) -> None:
        self._planner = Planner(environment, plugins, {})
        self._schema = plugins.schema
        self.foreign = {*_NO_FIELD, *(one.key for one in plugins.fragments)}

    def draft(self, job: Job, patches: Patches) -> Mapping[str, Any] | None:
        """Plan a job under a placeholder for its name; None where it says what the planner cannot take."""
        try:
            return self._planner.draft(job, patches)[0]
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            return None

    def choices(self, job: Job, route: Route) -> Collection[Any]:
        """Return the values that the schema allows at a route of a job, where these are few."""
        holder = holder_of(job, route)
        schema: Any = self._schema.job if holder is job else self._schema.role if holder else {}
        for step in route[len(holder.route) :] if holder else ():
            schema = schema.get("properties", {}).get(step) or schema.get("items" if type(step) is int else "") or {}
        found: Collection[Any] = schema.get("enum", ())
        return found


class Trial:
    """A job without some blocks of its keys, with some patches of plugins, and the manifest that this makes."""

    def __init__(self, drafts: Drafts, job: Job, patches: Patches, removed: frozenset[Route] = frozenset()) -> None:
        self.job = job
        self.patches = patches
        self.removed = removed
        self.manifest: Any = drafts.draft(job, patches)
        self._drafts = drafts
        self._moved: dict[Any, list[Moved]] = {}
        self._fewer: dict[Route, Trial | None] = {}

    def without(self, blocks: Iterable[Route]) -> Trial | None:
        """Return the job without some blocks; None where it cannot be planned."""
        trial: Trial | None = self
        for block in blocks:
            trial = trial and trial._without(block)  # noqa: SLF001 - of this class
        return trial

    def _without(self, block: Route) -> Trial | None:
        if block not in self._fewer:
            there = written(self.job, home(self.job, block)) is not MISSING
            *_, job = variants(self.job, block) if there else [self.job]
            trial = Trial(self._drafts, job, self.patches, self.removed | {block})
            needed = holder_of(job, block) is None and written(job, block) is not MISSING
            self._fewer[block] = trial if trial.manifest and not needed else None
        return self._fewer[block]

    @cached_property
    def unpatched(self) -> Trial:
        """The same job without what plugins add."""
        return Trial(self._drafts, self.job, (), self.removed)

    def moved_in(self, job: Job, patches: Patches) -> Moved:
        """Return what moves where the job, or the patches, are others."""
        draft = self._drafts.draft(job, patches)
        return moved(self.manifest, draft, JOB) if draft else {}

    def moved_with(self, patches: Patches, key: Any) -> Moved:
        """Return what moves with other patches; ``key`` tells those apart."""
        if key not in self._moved:
            self._moved[key] = [self.moved_in(self.job, patches)]
        return self._moved[key][0]

    def moved_by(self, route: Route) -> list[Moved]:
        """Return what moves with other values at a route, each time, and with none there at last."""
        if route not in self._moved:
            others = variants(self.job, route, self._drafts.choices(self.job, route))
            self._moved[route] = [self.moved_in(other, self.patches) for other in others]
        return self._moved[route]

    def is_exact(self, route: Route, at: Route) -> bool:
        """Tell whether a key has the value of a field, and gives it another one."""
        if str(written(self.job, route)) != str(value_at(self.manifest, at)):
            return False
        other = next(variants(self.job, route, self._drafts.choices(self.job, route)), self.job)
        return str(self.moved_in(other, self.patches).get(at, MISSING)) == str(written(other, route))

    @cached_property
    def movers(self) -> Mapping[Route, Iterable[Route]]:
        """For each field that some key moves, the routes of all that do."""
        found: dict[Route, dict[Route, None]] = {}
        for route in self.candidates:
            for effect in self.moved_by(route):
                for at in effect:
                    found.setdefault(at, {})[route] = None
        return found

    @cached_property
    def candidates(self) -> list[Route]:
        """The routes of all values in the keys of the core: of the roles, of the job, and of the environment."""
        job = self.job
        blocks = [*((holder.route, said_by(holder)) for holder in holders(job)), ((), job.environment.data)]
        found = [
            (home(job, (*base, *inner)), value)
            for base, block in blocks
            for inner, value in leaves(block)
            if inner and inner[0] not in self._drafts.foreign
        ]
        routes = (route if value is not None else self._emptied(route) for route, value in found)
        return [route for route in dict.fromkeys(routes) if route and self.block(route) not in self.removed]

    def _emptied(self, route: Route) -> Route:
        """Return the map that a ``null`` of an overlay leaves empty; nothing where it holds more."""
        holder = written(self.job, route[:-1])
        return route[:-1] if isinstance(holder, dict) and not any(holder.values()) else ()

    @property
    def blocks(self) -> Iterator[Route]:
        """The keys of the core at the top of the job and of its roles."""
        for holder in reversed(holders(self.job)):
            for key in holder.data:
                if key not in self._drafts.foreign and (*holder.route, key) not in self.removed:
                    yield (*holder.route, key)

    def block(self, route: Route) -> Route:
        """Return the key at the top of the job, a role or the environment that a route leads into."""
        holder = holder_of(self.job, route)
        return route[: len(holder.route) + 1] if holder else route[:1]


class JobPatches:
    """The patches of one job; the plugins are asked once, and again only for a field that came from them."""

    def __init__(self, job: Job, plugins: Plugins) -> None:
        self._job = job
        self._plugins = plugins
        self._influences: dict[str, list[Route]] = {}
        self._otherwise: dict[tuple[str, Route], list[Asked | None]] = {}
        self.all = list(plugins.ask("tfgitops_contribute", job.route, [], job=job))

    def said(self, because: Route) -> Route:
        """Return the route of the job for a key that only jobs have, and that a plugin named of a role."""
        holder = holder_of(self._job, because)
        if holder is None or holder is self._job or self.written(because) is not MISSING:
            return because
        return (*self._job.route, *because[len(holder.route) :])

    def written(self, route: Route) -> Any:
        """Return what the merged spec says at a route of this job, or of the environment, or what a setting is."""
        return written(self._job, route)

    def is_unasked(self, because: Route) -> bool:
        """Tell whether something is there because of the job, or a role, and not of what one says."""
        return because in (self._job.route, *(role.route for role in self._job.roles))

    def without(self, plugin: str, patch: Patch, route: Route) -> bool | None:
        """Tell whether a patch would be there if nothing stood at a route; None where its plugin fails then."""
        *_, job = variants(self._job, route)
        answers = self.ask(job, plugin)
        if answers is None:
            return None
        mine = [one for name, one in self.all if name == plugin and _alike(one, patch)]
        return sum(_alike(one, patch) for _, one in answers) >= len(mine)

    def influences(self, plugin: str) -> list[Route]:
        """Return the values that a plugin goes by; none where it says something else of the job without the others."""
        if plugin not in self._influences:
            job, said = self._job, [one for one in self.all if one[0] == plugin]
            alike = self.ask(alone(job, job.environment), plugin) == said
            found = influences(
                tops_of(job) if alike else [], self.written, lambda route: self._asked(plugin, route), said
            )
            self._influences[plugin] = list(dict.fromkeys(home(job, route) for route in found))
        return self._influences[plugin]

    def otherwise(self, plugin: str, route: Route) -> list[Asked]:
        """Return what a plugin says with other values at a route.

        A changed value may be one that the plugin's own checks refuse. If it fails there, that says nothing.
        """
        return [answer for answer in self._asked(plugin, route) if answer is not None]

    def _asked(self, plugin: str, route: Route) -> list[Asked | None]:
        if (plugin, route) not in self._otherwise:
            self._otherwise[plugin, route] = [self.ask(job, plugin) for job in variants(self._job, route)]
        return self._otherwise[plugin, route]

    def ask(self, job: Job, plugin: str = "") -> Asked | None:
        """Return what one plugin, or all, say of a job; None where one fails."""
        crashes: list[Problem] = []  # those of the job as it is were reported when it was planned
        found = list(self._plugins.ask("tfgitops_contribute", job.route, crashes, only=plugin, job=job))
        return None if crashes else found


def _alike(one: Patch, other: Patch) -> bool:
    return (one.target, one.because) == (other.target, other.because)
