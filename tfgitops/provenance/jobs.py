"""The sources of each field of a planned Job, found by planning the job again with one key changed.

This module does not describe how a Job is planned. A key gives a field its value if the field changes with the key.
When the strongest key is removed, the next weaker one gives the field its value, until only the compiler is left. A key
that only a plugin reads is found the same way: the plugin is asked again, and the job is planned with its new patches.

The alternative is to note sources while planning. Each line of the planner would have to do so, results remembered by
content would lose the notes, and a key that only decides something would not be seen.
"""

from __future__ import annotations

from bisect import bisect
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from tfgitops.provenance.experiment import counterpart, holder_of, holders, home, said_by, saying, written
from tfgitops.provenance.replanned import JOB, Trial
from tfgitops.provenance.sources import DEFAULT, OVERLAYS, PLUGIN, Source, given, made, removed
from tfgitops.spec.model import JOB_LABEL
from tfgitops.targets.routes import MISSING, leaves, reach, steps, value_at
from tfgitops.targets.volcano.identity import PLACEHOLDER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tfgitops.provenance.replanned import Drafts, JobPatches, Moved
    from tfgitops.spec.model import Job, Patch, Role
    from tfgitops.targets.routes import Route

    Manifest = Mapping[str, Any]

_TASK: Route = ("spec", "tasks")
_MANY = 12
"""With more fields than these, a part of a manifest belongs to its role or its job and not to one key."""


class _Followed(NamedTuple):
    """The keys that a field follows: some give it its value, others only decide whether it is there."""

    giving: list[Route]
    leading: list[Route]

    def note(self, route: Route, at: Route, effects: Iterable[Moved]) -> None:
        """Note a key if a field follows it; the first change that moves the field or a neighbour decides how."""
        for effect in effects:
            if at in effect:
                (self.leading if effect[at] is MISSING else self.giving).append(route)
                return
            if any(one[:-1] == at[:-1] for one in effect):
                return


class JobSources:
    """Finds the sources of the fields of one planned Job."""

    def __init__(self, job: Job, patches: JobPatches, drafts: Drafts) -> None:
        self._job = job
        self._patches = patches
        self._whole = Trial(drafts, job, patches.all)

    def of(self, manifest: Manifest, at: Route, *, briefly: bool = False) -> Iterator[Source]:
        """Yield the sources of one field of the planned manifest, the strongest first.

        With ``briefly``, the first key that sets the field directly stands for all keys. Raises LookupError if the spec
        gives no such field.
        """
        name, weaker = manifest["metadata"]["name"], False
        trial: Trial | None = self._whole
        while trial and (found := counterpart(manifest, trial.manifest, JOB, at)) is not None:
            manifest, at = trial.manifest, found
            value = value_at(manifest, at)
            value = value.replace(PLACEHOLDER, name) if isinstance(value, str) else value
            followed, patch = self._givers(trial, at, briefly=briefly)
            if any(followed):
                source = self._of_keys(trial, at, value, followed)
                yield source
                blocks = dict.fromkeys(map(trial.block, (*followed.giving, *followed.leading)))
                trial = None if source.layer else trial.without(*blocks)
                continue
            if not weaker and not briefly:
                yield from self._removed(trial, at)
            weaker = True
            if not patch:
                yield self._made(trial, at, value)
                return
            yield self._of_patch(trial, at, value, *patch)
            trial = trial.unpatched
        if trial is self._whole:
            raise LookupError(at)

    def place(self, manifest: Manifest, at: Route) -> Route:
        """Return the route of the spec that leads to a field, or to the nearest field that is there."""
        while reach(manifest, at) is MISSING:
            at = at[:-1]
        inner = [end for end, _ in leaves(value_at(manifest, at))]
        if len(inner) > _MANY:
            return self._holder(at).route
        places = [next(self.of(manifest, (*at, *end), briefly=True)).routes[0] for end in inner]
        alike = takewhile(lambda same: len(set(same)) == 1, zip(*places, strict=False))
        place, end = tuple(same[0] for same in alike), inner[0]
        while end and place[-1:] == end[-1:]:
            place, end = place[:-1], end[:-1]
        return place

    def _holder(self, at: Route) -> Job | Role:
        """Return the role whose task has a field, or the job."""
        return self._job.roles[int(at[2])] if at[:2] == _TASK and at[2:] else self._job

    def _givers(self, trial: Trial, at: Route, *, briefly: bool) -> tuple[_Followed, tuple[str, Patch] | None]:
        """Return the keys that a field follows without a plugin, else the patch that gives it, with its plugin."""
        if briefly and (exact := trial.exact(at)):
            return _Followed([exact], []), None
        patch = self._patch(trial, at) if briefly else None
        followed = _Followed([], []) if patch else self._followed(trial, at)
        if not patch and not any(followed):
            patch = self._patch(trial, at)
            followed = followed if patch else self._strongest(trial, at)
        return followed, patch

    def _followed(self, trial: Trial, at: Route) -> _Followed:
        """Return the keys that a field follows without a plugin."""
        found = _Followed([], [])
        for route in trial.movers.get(at, ()):
            found.note(route, at, trial.moved_by(route))
        if not any(found):
            return _Followed([], list(dict.fromkeys(self._blocks(trial, at))))
        exactly = {trial.block(one): one for one in found.giving if trial.is_exact(one, at)}
        return _Followed(*([one for one in routes if exactly.get(trial.block(one), one) == one] for routes in found))

    def _blocks(self, trial: Trial, at: Route) -> Iterator[Route]:
        """Yield the innermost blocks without which a field goes, for a field that follows no single value."""

        def leads(route: Route) -> bool:
            return at in trial.moved_by(route)[-1]

        for block in filter(leads, trial.blocks):
            route = home(trial.job, block)
            while True:
                inner = sorted(steps(written(trial.job, route)), key=lambda one: not isinstance(one[1], dict | list))
                below = next(filter(leads, ((*route, step) for step, _ in inner)), None)
                if below is None:
                    break
                route = home(trial.job, below)
            yield route

    def _strongest(self, trial: Trial, at: Route) -> _Followed:
        """Return the keys that a field follows once all weaker keys with the same value are removed."""
        for block in sorted(trial.blocks, key=lambda block: block[-1] in OVERLAYS):
            fewer = trial.without(block)
            if fewer is None:
                continue
            there = counterpart(trial.manifest, fewer.manifest, JOB, at)
            if there is None or value_at(fewer.manifest, there) != value_at(trial.manifest, at):
                return self._followed(trial, at)
            trial, at = fewer, there
        return _Followed([], [])

    def _of_keys(self, trial: Trial, at: Route, value: Any, followed: _Followed) -> Source:
        """Return some keys as a source; the compiler is the source where it makes the field out of the keys."""
        routes, known = (*followed.giving, *followed.leading), made(self._job, trial.manifest, at)
        if known is None or known.alone or any(self._is_called(route, at) for route in routes):
            return Source(routes=routes)
        parts = (*(written(self._job, route) for route in followed.giving), *(MISSING for _ in followed.leading))
        return Source(
            routes=routes, layer=known.layer, value=value, note=known.note, parts=parts if known.parts else ()
        )

    def _is_called(self, route: Route, at: Route) -> bool:
        """Tell whether a key has the name of a field; for a field outside of the tasks, it must be a key of the job."""
        return route[-1] == at[-1] and (at[:2] == _TASK or holder_of(self._job, route) is self._job)

    def _removed(self, trial: Trial, at: Route) -> Iterator[Source]:
        """Yield the keys that ``null`` removes and that would give a field another value."""
        for holder in holders(trial.job):
            for route, value in removed(trial.job.environment.places, holder.route):
                other = saying(trial.job, route, {**said_by(holder), str(route[-1]): value})
                patches = self._patches.ask(other)
                if patches is not None and at in trial.moved_in(other, patches):
                    yield Source(routes=(route,))

    def _patch(self, trial: Trial, at: Route) -> tuple[str, Patch] | None:
        """Return the patch that gives a field its value, with its plugin: the first without which the field moves."""

        def moves(count: int) -> bool:
            return at in trial.moved_with(trial.patches[count:], count)

        count = len(trial.patches)
        if not count or not moves(count):
            return None
        return trial.patches[bisect(range(1, count + 1), x=False, key=moves)]

    def _of_patch(self, trial: Trial, at: Route, value: Any, plugin: str, patch: Patch) -> Source:
        """Return a patch as a source, with the keys that the field follows through it; one with its value is first.

        The plugin itself is the source of a field that follows no key and that every job or role gets.
        """
        patches, because = self._patches, home(self._job, self._patches.said(patch.because))
        others = [one for one in patches.all if one[0] != plugin]
        found = _Followed([], [])
        for route in patches.influences(plugin):
            for index, answers in enumerate(patches.otherwise(plugin, route)):
                if answers is not None and (plugin, patch) not in answers:
                    found.note(route, at, [trial.moved_with([*others, *answers], (plugin, route, index))])
                    break
        routes = [*found.giving, *found.leading]
        unasked = patches.is_unasked(because)
        if unasked and not routes:
            return Source(routes=(patch.because,), layer=PLUGIN, value=value, plugin=plugin)
        if not unasked and patches.written(because) is not MISSING:
            inside = any(route[: len(because)] == because for route in routes)
            routes += [because] if not inside and not patches.without(plugin, patch, because) else []
        routes = sorted(
            routes or [patch.because],
            key=lambda route: (str(patches.written(route)) != str(value), route[: len(because)] != because),
        )
        known = made(self._job, trial.manifest, at)
        if known and not any(inner[-1:] == at[-1:] and one == value for inner, one in leaves(patch.value)):
            return given(known.layer, value, *routes, note=known.note)
        return Source(routes=tuple(routes), value=value, plugin=plugin)

    def _made(self, trial: Trial, at: Route, value: Any) -> Source:
        """Return the compiler itself as a source."""
        known = made(self._job, trial.manifest, at)
        route = (self._job if at[-1] == JOB_LABEL else self._holder(at)).route
        return given(known.layer if known else DEFAULT, value, route, note=known.note if known else "")
