"""The fields of a Job that differ between two manifests and cannot change in place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes.catalog import shape_of
from tfgitops.targets.kubernetes.quantity import parse
from tfgitops.targets.volcano.apply import difference
from tfgitops.targets.volcano.defaults import applied
from tfgitops.targets.volcano.identity import is_mutable
from tfgitops.targets.volcano.rewrite import rewritten

if TYPE_CHECKING:
    from tfgitops.targets.routes import Route

    Json = dict[str, Any]


def immutable_changes(old: Json, new: Json) -> list[Route]:
    """List the fields that differ between two manifests, both Jobs or both Queues, and cannot change in place."""
    live, after = applied(old, new)
    return immutable_fields(live, after.manifest)


def immutable_fields(live: Json, after: Json) -> list[Route]:
    """List what differs between two stored manifests and cannot change in place; as in Go, an empty field is none."""
    if live.get("kind") == "Queue":  # all of it may change
        return []
    shape = shape_of("volcano.schema.json", "Job")
    routes = difference(rewritten(shape, live, parse), rewritten(shape, after, parse))
    return [route for route in routes if not is_mutable(route)]
