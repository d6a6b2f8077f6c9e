"""What a job says of itself, as a digest: who changes it has asked for a new run."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from tfgitops.targets.tensorflow import ROLE_NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfgitops.spec.document import Document
    from tfgitops.targets.routes import Route

_NO_NEW_RUN = frozenset({"annotations", "labels", "minAvailable", "pin", "priorityClassName"})
"""Keys of a job whose changes the cluster takes in place, whatever else the job says."""


def own_digest(document: Document | None, job: str) -> str:
    """Return the digest of what a file of the environment's own says of a job, but for what never makes a new run.

    Who changes no more than that has not asked for a restart; nor has who changes what several jobs share by an anchor
    that stands outside of them: of that, the alias is the job's own.
    """
    if document is None:
        return digest({})
    route: Route = ("jobs", job)
    block = document.value if document.prefix else document.value["jobs"][job]
    if document.has_aliases and not document.prefix:
        taken = dict(document.borrowed(route))
        for at in taken:
            block = _without(block, at)
        block = _restarting(block or {})
        if named := sorted((str(at), name) for at, name in taken.items() if name):
            block["*"] = named
        return digest(block)
    return digest(_restarting(block or {}))


def _restarting(block: Mapping[str, Any]) -> dict[str, Any]:
    """Return a job's block without what never makes a new run, in the job or in its roles."""
    kept = {key: value for key, value in block.items() if key not in _NO_NEW_RUN}
    for key in kept.keys() & ROLE_NAMES:
        kept[key] = _role(kept[key])
    if type(tasks := kept.get("tasks")) is dict:
        kept["tasks"] = {name: _role(task) for name, task in tasks.items()}
    return kept


def _role(block: Any) -> Any:
    if type(block) is not dict or "minAvailable" not in block:
        return block
    return {key: value for key, value in block.items() if key != "minAvailable"}


def _without(value: Any, at: Route) -> Any:
    """Copy a value without what stands at a route of it, as far as that leads somewhere."""
    if not at:
        return None
    first, rest = at[0], at[1:]
    if isinstance(value, dict) and first in value:
        if rest:
            return {**value, first: _without(value[first], rest)}
        return {key: inner for key, inner in value.items() if key != first}
    if isinstance(value, list) and isinstance(first, int) and first < len(value):
        return [_without(inner, rest) if index == first else inner for index, inner in enumerate(value)]
    return value


def digest(block: Any) -> str:
    """Return eight hex digits of a value in canonical form: the order of keys does not count."""
    return sha256(_canonical(block).encode()).hexdigest()[:8]


_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode
