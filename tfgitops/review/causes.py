"""Which lines of a spec made a job's manifest differ from an earlier one."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfgitops.provenance.origins import Provenance
from tfgitops.schema.formats import RESERVED_ENV

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfgitops.diagnostics import Route, Span
    from tfgitops.model import Environment, Job
    from tfgitops.plan import Planned
    from tfgitops.plugins.door import Plugins
    from tfgitops.review.changes import Change
    from tfgitops.review.fieldchanges import FieldChange

_TASKS = ("spec", "tasks")


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Cause:
    """A place in a spec: its line, and its route as it is written there.

    ``own`` is whether it stands in a file of the environment's own, and not in one that it extends; ``gone`` is whether
    it stood there, and the line is the nearest that is left; ``made_of`` are the routes of all values of
    which a plugin made what it is the cause of.
    """

    span: Span
    route: Route
    own: bool
    gone: bool = False
    made_of: tuple[Route, ...] = dataclasses.field(default=(), compare=False)

    @property
    def label(self) -> str:
        """The route for people, such as ``defaults.image``."""
        return (".".join(map(str, self.route)) or "the spec") + (" (removed)" if self.gone else "")


class Causes:
    """Finds causes in one environment: the origins that have won of the fields that differ."""

    def __init__(
        self, environment: Environment, plugins: Plugins, differs: Callable[[str, Route], bool] = lambda *_: False
    ) -> None:
        """Look into an environment; ``differs`` tells whether a file says something else at a route than it did."""
        self._environment = environment
        self._differs = differs
        self._provenance = Provenance(environment, plugins)
        self._own = {
            document.name
            for document in environment.places.documents
            if document.prefix or document.path.parent == environment.folder
        }

    def of(self, job: Job, planned: Planned, change: Change) -> list[tuple[Cause, tuple[FieldChange, ...]]]:
        """Return each cause of a job's new run with the fields that it changed, sorted by place."""
        found: dict[Cause, list[FieldChange]] = {}
        for field in change.hard:
            for other in _asked_by(field, change):
                found.setdefault(self._cause(job, planned, other), []).append(field)
        return [(cause, tuple(found[cause])) for cause in sorted(found)]

    def _cause(self, job: Job, planned: Planned, field: FieldChange) -> Cause:
        if field.gone and not planned.text:
            return self._at(_holder(job, field.at))
        origins = self._provenance.origins(planned, field.at[:-1] if field.gone else field.at)
        won = [origin for origin in origins if origin.won]  # several, where a plugin made the field of several values
        origin = next((one for one in won if self._differs(one.span.file, one.at)), won[0])
        return Cause(
            span=origin.span, route=origin.at or job.route, own=origin.span.file in self._own,
            made_of=tuple(one.at for one in won if one.through),
        )  # fmt: skip

    def _at(self, route: Route) -> Cause:
        """Return the place where a route of the merged spec is written, or the nearest to it."""
        places = self._environment.places
        document, written = places.find(route)
        depth = max(document.depth(written), len(document.prefix))
        return Cause(span=document.span(written), route=written[:depth], own=document.name in self._own)


def _asked_by(field: FieldChange, change: Change) -> list[FieldChange]:
    """Return the fields that a field follows from: addresses follow from how many pods there are of each role."""
    sizes = [other for other in change.fields if _is_size(other)] if is_discovery(field) else []
    return sizes or [field]


def _holder(job: Job, at: Route) -> Route:
    """Return the route of what had a field that is gone: of a role, or of the job."""
    index = at[len(_TASKS)] if at[: len(_TASKS)] == _TASKS and len(at) > len(_TASKS) + 1 else None
    return job.roles[index].route if isinstance(index, int) and index < len(job.roles) else job.route


def is_discovery(field: FieldChange) -> bool:
    """Tell whether a field is a variable that tells pods each other's addresses, or their own."""
    name = field.path.rpartition(".env[")[2].partition("]")[0]
    return bool(RESERVED_ENV.fullmatch(name))


def _is_size(field: FieldChange) -> bool:
    inner = field.at[len(_TASKS) + 1 :]
    return field.at[: len(_TASKS)] == _TASKS and (inner == ("replicas",) or not inner)
