"""Move what all roles of a job have in common to the job, and what all jobs have in common to `defaults`."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from tfgitops.adoption.drafts import Draft
from tfgitops.targets.routes import MISSING, reach

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tfgitops.targets.routes import Route

_JOB_ONLY = {
    "workdir": ("container", "workingDir"),
    "serviceAccount": ("pod", "spec", "serviceAccountName"),
    "imagePullSecrets": ("pod", "spec", "imagePullSecrets"),
}
"""Keys that a role does not have, each with the overlay that says it for one role."""

_MAPS = ("env", "nodeSelector", "labels", "annotations", "plugins", "ports")
_DEPTHS = {**dict.fromkeys(_MAPS, 1), "container": 2, "pod": 3}
"""Keys of which parts may be common: how many levels merge key by key. All others are common as a whole."""

_STAY = frozenset({
    "replicas", "minAvailable", "maxRetry", "dependsOn", "policies", "from", "chief", "ps", "worker", "evaluator",
    "tasks", "strategy", "completes", "rerun", "port",
})  # fmt: skip
"""Keys that mean one role, or one job."""


def settle_job_keys(draft: Draft, roles: Sequence[Route]) -> Draft:
    """Return a draft in which no role has a key that only jobs have: it is the job's, or an overlay of the role."""
    settled = Draft(copy.deepcopy(draft.data), dict(draft.origins))
    for key, overlay in _JOB_ONLY.items():
        values = [settled.get((*role, key)) for role in roles]
        if MISSING not in values and all(value == values[0] for value in values):
            _lift(settled, roles, (), (key,))
            continue
        for role, value in zip(roles, values, strict=True):
            if value is not MISSING:
                named = [{"name": name} for name in value] if key == "imagePullSecrets" else value
                settled.put((*role, key), named)
                settled.move((*role, key), (*role, *overlay))
    return settled


def hoist_roles(draft: Draft, roles: Sequence[Route]) -> Draft:
    """Return a draft in which the job says what all its roles said."""
    hoisted = Draft(copy.deepcopy(draft.data), dict(draft.origins))
    for route in [*common([hoisted.get(role) for role in roles])]:
        _lift(hoisted, roles, (), route)
    return hoisted


def hoist_jobs(drafts: dict[str, Draft]) -> tuple[Draft, dict[str, Draft]]:
    """Return what all jobs have in common, and the jobs without it."""
    whole = Draft()
    for name, draft in drafts.items():
        whole.put((name,), copy.deepcopy(draft.data))
        whole.origins |= {(name, *route): ((name, *origin)) for route, origin in draft.origins.items()}
    tops: list[Route] = [(name,) for name in drafts]
    shared = Draft()
    for route in [*common([whole.get(top) for top in tops])] if len(drafts) > 1 else ():
        shared.put(route, whole.get((*tops[0], *route)))
        for at, origin in whole.origins.items():
            if at[: len(route) + 1] == (*tops[0], *route):
                shared.origins[at[1:]] = origin
        for top in tops:
            whole.drop((*top, *route))
    rest = {name: Draft(whole.data[name], drafts[name].origins) for name in drafts}
    return shared, rest


def common(blocks: Sequence[Any]) -> Iterator[Route]:
    """Yield the routes of what some blocks have alike, the outermost that may move."""
    if not blocks or not all(isinstance(block, dict) for block in blocks):
        return
    for key in blocks[0]:
        if key not in _STAY:
            yield from _common(blocks, (key,), _DEPTHS.get(key, 0))


def _common(blocks: Sequence[Any], route: Route, depth: int) -> Iterator[Route]:
    values = [reach(block, route) for block in blocks]
    if any(value is MISSING for value in values):
        return
    if all(_same(value, values[0]) for value in values):
        yield route
    elif depth and all(isinstance(value, dict) for value in values):
        for key in values[0]:
            yield from _common(blocks, (*route, key), depth - 1)


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def _lift(draft: Draft, holders: Iterable[Route], top: Route, route: Route) -> None:
    """Move a route from each of some holders to one above them."""
    for holder in holders:
        draft.move((*holder, *route), (*top, *route))
