"""What the server would store otherwise than Git has it: such an object would never be as Git wants it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes.fault import Fault, Rules, show
from tfgitops.targets.routes import MISSING, reach
from tfgitops.targets.volcano.apply import difference

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SHOWN_MAX = 60
RULES = Rules(
    {
        "drift-added": ("{place} is left out, and the server would store {after}", "write {after} there"),
        "drift-dropped": ("{place} is {found}, and the server would drop it", "leave it out"),
        "drift-changed": ("{place} is {found}, and the server would store {after}", "write {after}"),
    }
)


def judge_drift(manifest: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Fault]:
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
