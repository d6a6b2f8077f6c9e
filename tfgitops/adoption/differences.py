"""Tell what differs between a Job of a source and the one that its spec compiles to, in a few lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tfgitops.adoption.likeness import compare
from tfgitops.adoption.remarks import Remark
from tfgitops.targets.tensorflow import TRAINING_CONTAINER
from tfgitops.targets.volcano.defaults import MAX_RETRY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops.adoption.likeness import Difference
    from tfgitops.adoption.taking import Taken

_LONG = 70  # characters of a value


def told_differences(taken: Taken, compiled: dict[str, Any]) -> Iterator[Remark]:
    """Yield a remark for each kind of difference; what several tasks have alike is told once."""
    found: dict[tuple[str, str], list[str]] = {}
    for one in compare(taken.manifest, compiled):
        task = str(one.route[2]) if one.route[1:2] == ("tasks",) and len(one.route) > 3 else ""  # noqa: PLR2004
        found.setdefault((one.sort, _text(one)), []).append(task)
    for (sort, text), tasks in found.items():
        where = ", ".join(task for task in tasks if task)
        yield Remark(sort, f"{text} ({where})" if where else text)  # type: ignore[arg-type]
    names = {str(one.get("name")) for one in _trainings(taken)} - {TRAINING_CONTAINER}
    if names:
        text = f"the training container is called {TRAINING_CONTAINER}, and no longer {', '.join(sorted(names))}"
        yield Remark("changed", text)


def _trainings(taken: Taken) -> Iterator[dict[str, Any]]:
    for task in taken.spec["tasks"]:
        yield from ((task.get("template") or {}).get("spec") or {}).get("containers", [])[:1]


def _text(one: Difference) -> str:
    route = one.route[3:] if one.route[1:2] == ("tasks",) and len(one.route) > 3 else one.route[1:]  # noqa: PLR2004
    at = ".".join(_step(step) for step in route if step not in ("template", "spec", "containers", TRAINING_CONTAINER))
    if one.route[-2:-1] == ("env",) or one.route[-1:] == ("env",):
        names = [str(one.route[-1])] if one.route[-1] != "env" else sorted(one.after or one.before)
        return f"the variable{'s' if len(names) > 1 else ''} {', '.join(names)}"
    if one.route[-2:-1] == ("policies",):
        return f"the policy {one.route[-1]} → {(one.after or one.before).get('action')}"
    if one.route[-1:] == ("policies",):
        both = one.after or one.before
        return "the policies " + ", ".join(f"{event} → {policy.get('action')}" for event, policy in both.items())
    if one.sort == "added":
        known = f", where Volcano's own default is {MAX_RETRY}" if one.route[-1] == "maxRetry" else ""
        return f"{at}: {_shown(one.after)}{known}"
    return f"{at}: {_shown(one.before)}" + (f", now {_shown(one.after)}" if one.sort == "changed" else "")


def _step(step: str | int) -> str:
    return str(step)


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = " ".join(text.split())
    return text if len(text) <= _LONG else f"{text[:_LONG]}…"


