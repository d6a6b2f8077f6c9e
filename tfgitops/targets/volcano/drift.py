"""How `kubectl apply` merges, how stored objects differ, and what the server would store otherwise than Git has it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes.fault import Fault, Rules, show
from tfgitops.targets.routes import MISSING, reach

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops.targets.routes import Json, Route

_SHOWN_MAX = 60
RULES = Rules.read("""
    drift-added: {place} is left out, and the server would store {after} | write {after} there
    drift-dropped: {place} is {found}, and the server would drop it | leave it out
    drift-changed: {place} is {found}, and the server would store {after} | write {after}
""")


def three_way(live: Json, old: Json, new: Json) -> dict[str, Any]:
    """Merge `new` into `live`, dropping what `old` had and `new` has no more; lists replace each other whole."""
    merged: dict[str, Any] = {**{key: live[key] for key in live if key in new or key not in old}, **new}
    for key in live.keys() & new.keys():
        if isinstance(live[key], dict) and isinstance(new[key], dict):
            before = old.get(key)
            merged[key] = three_way(live[key], before if isinstance(before, dict) else {}, new[key])
    return merged


def difference(before: Any, after: Any, at: Route = ()) -> list[Route]:
    """List the outermost places at which two JSON values differ."""
    if before is after:
        return []
    if isinstance(before, dict) and isinstance(after, dict):
        pairs = [(key, before.get(key, MISSING), after.get(key, MISSING)) for key in {**before, **after}]
        return [route for key, old, new in pairs for route in difference(old, new, (*at, key))]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [
            route for i, pair in enumerate(zip(before, after, strict=True)) for route in difference(*pair, (*at, i))
        ]
    return [] if type(before) is type(after) and before == after else [at]


def judge_drift(manifest: Json, after: Json) -> Iterator[Fault]:
    """Judge a manifest beside the object that the server would store."""
    for at in difference(manifest, after):
        given, kept = reach(manifest, at), reach(after, at)
        rule = "drift-added" if given is MISSING else "drift-dropped" if kept is MISSING else "drift-changed"
        place = ".".join(map(str, at))
        yield RULES.fault(rule, at, found=_show(given), expected=_show(kept), place=place, after=_show(kept))


def _show(value: Any) -> str:
    if value is MISSING:
        return ""
    text = json.dumps(value) if isinstance(value, dict | list) else show(value)
    return text if len(text) <= _SHOWN_MAX else show(value)
