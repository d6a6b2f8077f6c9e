"""Values by their routes of keys and indices, and the customary order of the keys of a manifest."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# One table for all mappings: what identifies first, then what is looked for most, and last what is long.
_FIRST: Final = (
    ("apiVersion", "kind", "metadata", "name", "namespace", "labels", "annotations", "spec"),
    # a Job, and its tasks
    ("schedulerName", "queue", "replicas", "minAvailable", "maxRetry", "priorityClassName", "dependsOn"),
    # a Queue
    ("parent", "weight", "reclaimable", "dequeueStrategy", "priority", "capability", "deserved", "guarantee"),
    # a claim
    ("accessModes", "storageClassName", "volumeMode"),
    # a policy
    ("event", "events", "exitCode", "action", "timeout"),
    # a pod, and its containers
    ("restartPolicy", "image", "command", "args", "workingDir", "ports", "env", "envFrom", "resources"),
    ("volumeMounts", "containerPort", "protocol", "claimName", "mountPath", "subPath", "subPathExpr", "readOnly"),
    # amounts, an environment variable, a toleration, a requirement
    ("requests", "limits", "key", "operator", "value", "valueFrom", "values", "effect"),
)
_LAST: Final = (
    ("initContainers", "containers", "volumes", "plugins", "policies", "template", "tasks"),
    ("data", "stringData", "binaryData"),
)
_OTHERS: Final = 1000
_RANK: Final = {
    **{key: rank for rank, key in enumerate(key for group in _FIRST for key in group)},
    **{key: _OTHERS + 1 + rank for rank, key in enumerate(key for group in _LAST for key in group)},
}


@lru_cache(maxsize=4096)
def ordered(keys: tuple[str, ...]) -> tuple[str, ...]:
    """Put the keys of one mapping in the customary order; in the alphabet's where there is no custom."""
    return tuple(sorted(keys, key=lambda key: (_RANK.get(key, _OTHERS), key)))


Route = tuple[str | int, ...]
"""Keys and indices from the top of a spec or a manifest, such as ``("jobs", "resnet", "worker", "gpu")``."""

Json = Mapping[str, Any]
"""An object as it is in JSON, or a part of one."""


def value_at(value: Any, route: Route) -> Any:
    """Return what stands at a route of a value."""
    for step in route:
        value = value[step]
    return value


MISSING = object()
"""What is not there."""


def reach(value: Any, route: Iterable[Any]) -> Any:
    """Return what stands at a route of a value, or `MISSING`."""
    for step in route:
        if not isinstance(value, Mapping | list):
            return MISSING
        try:
            value = value[step]
        except (LookupError, TypeError):
            return MISSING
    return value


def replaced(value: Any, route: Route, new: Any) -> Any:
    """Copy a value with another one at a route, or nothing for `MISSING`; a route to nowhere gives the value itself."""
    if not route:
        return new
    first, rest = route[0], route[1:]
    if reach(value, (first,)) is MISSING:
        return value
    copy: Any = dict(value) if isinstance(value, Mapping) else list(value)
    if rest or new is not MISSING:
        copy[first] = replaced(value[first], rest, new)
    else:
        del copy[first]
    return copy


def steps(value: Any) -> Iterator[tuple[str | int, Any]]:
    """Yield what is directly in a map or a list, in the order in which it is written."""
    if isinstance(value, dict):
        yield from ((key, value[key]) for key in ordered(tuple(value)))
    elif isinstance(value, list):
        yield from enumerate(value)


def leaves(value: Any, at: Route = ()) -> Iterator[tuple[Route, Any]]:
    """Yield each field that has nothing in it, with its value: a scalar, or an empty map or list."""
    if isinstance(value, dict | list) and value:
        for step, inner in steps(value):
            yield from leaves(inner, (*at, step))
    else:
        yield at, value


def nodes(value: Any, at: Route = ()) -> Iterator[Route]:
    """Yield the route of each field, those that have others in them before these."""
    for step, inner in steps(value):
        yield (*at, step)
        yield from nodes(inner, (*at, step))
