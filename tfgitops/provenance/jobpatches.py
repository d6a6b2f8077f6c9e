"""What the plugins add to one job, and what each of them answers when something in the spec is changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.provenance.experiment import influences
from tfgitops.provenance.variants import alone, holder_of, home, tops_of, variants, written
from tfgitops.targets.routes import MISSING

if TYPE_CHECKING:
    from tfgitops.plugins.door import Plugins
    from tfgitops.spec.diagnostics import Problem
    from tfgitops.spec.model import Job, Patch
    from tfgitops.targets.routes import Route

    Patches = list[tuple[str, Patch]]


class JobPatches:
    """The patches of one job; the plugins are asked once, and again only for a field that came from them."""

    def __init__(self, job: Job, plugins: Plugins) -> None:
        self._job = job
        self._plugins = plugins
        self._influences: dict[str, list[Route]] = {}
        self._otherwise: dict[tuple[str, Route], list[Patches | None]] = {}
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

    def otherwise(self, plugin: str, route: Route) -> list[Patches]:
        """Return what a plugin says with other values at a route.

        A changed value may be one that the plugin's own checks refuse. If it fails there, that says nothing.
        """
        return [answer for answer in self._asked(plugin, route) if answer is not None]

    def _asked(self, plugin: str, route: Route) -> list[Patches | None]:
        if (plugin, route) not in self._otherwise:
            self._otherwise[plugin, route] = [self.ask(job, plugin) for job in variants(self._job, route)]
        return self._otherwise[plugin, route]

    def ask(self, job: Job, plugin: str = "") -> Patches | None:
        """Return what one plugin, or all, say of a job; None where one fails."""
        crashes: list[Problem] = []  # those of the job as it is were reported when it was planned
        found = list(self._plugins.ask("tfgitops_contribute", job.route, crashes, only=plugin, job=job))
        return None if crashes else found


def _alike(one: Patch, other: Patch) -> bool:
    return (one.target, one.because) == (other.target, other.because)
