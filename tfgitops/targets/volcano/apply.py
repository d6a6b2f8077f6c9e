"""How `kubectl apply` merges into a custom resource, and how two stored objects are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfgitops.targets.routes import Route

    Json = dict[str, Any]


def three_way(live: Json, old: Json, new: Json) -> Json:
    """Merge `new` into `live`, dropping what `old` had and `new` has no more; lists replace each other whole."""
    merged = {}
    for key, value in live.items():
        if key not in new:
            if key not in old:
                merged[key] = value
        elif isinstance(value, dict) and isinstance(new[key], dict):
            before = old.get(key)
            merged[key] = three_way(value, before if isinstance(before, dict) else {}, new[key])
        else:
            merged[key] = new[key]
    merged.update({key: value for key, value in new.items() if key not in live})
    return merged


def difference(before: Any, after: Any, at: Route = ()) -> list[Route]:
    """List the outermost places at which two JSON values differ."""
    if before is after:
        return []
    if isinstance(before, dict) and isinstance(after, dict):
        routes = []
        for key in {**before, **after}:
            if key in before and key in after:
                routes += difference(before[key], after[key], (*at, key))
            else:
                routes.append((*at, key))
        return routes
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [
            route for i, pair in enumerate(zip(before, after, strict=True)) for route in difference(*pair, (*at, i))
        ]
    return [] if type(before) is type(after) and before == after else [at]
