"""Tell what differs between a Job of a source and the one that its spec compiles to, in a few lines."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from tfgitops.adoption.containerkeys import SHELL_TEXT
from tfgitops.adoption.likeness import compare
from tfgitops.adoption.remarks import Remark
from tfgitops.adoption.shelldiscovery import TF_CONFIG
from tfgitops.targets.shell.command import SHELL, shell_command
from tfgitops.targets.tensorflow import TRAINING_CONTAINER
from tfgitops.targets.volcano.defaults import MAX_RETRY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops.adoption.likeness import FieldDifference
    from tfgitops.adoption.remarks import Sort
    from tfgitops.adoption.shelf import Shelf
    from tfgitops.adoption.taking import Taken
    from tfgitops.targets.routes import Route

_LONG = 70  # characters of a value
_TASK = 3
"""How long the route of a task is in the likeness of a Job."""
_WRAPPERS = frozenset({"template", "spec", "containers", TRAINING_CONTAINER})
_NAMED = {
    "env": "the variable",
    "ports": "the port",
    "policies": "the policy",
    "tolerations": "the toleration",
    "plugins": "Volcano's plugin",
    "svc": "the argument of Volcano's plugin svc:",
}
"""Fields whose entries are told by their names."""


def told_differences(taken: Taken, compiled: dict[str, Any], shelf: Shelf) -> Iterator[Remark]:
    """Yield a remark for each kind of difference; what several tasks have alike is told once."""
    found: dict[tuple[Sort, str], list[str]] = {}
    shells = any(one.text.startswith(SHELL_TEXT) for one in taken.remarks)
    fields = {
        re.split("[ :]", one.text)[0].rpartition(".")[2] for one in taken.remarks if one.sort in ("lost", "changed")
    }
    for one in compare(taken.manifest, compiled, shelf.configs):
        if TF_CONFIG in one.route and one.sort == "changed":
            continue  # it is told where the command or `env` is read
        if one.sort != "added" and str(one.route[-1]) in fields:
            continue
        in_task = one.route[1:2] == ("tasks",) and len(one.route) > _TASK
        sort, text = _told(one, one.route[_TASK:] if in_task else one.route[1:])
        if not (shells and text.startswith(("command:", "args:"))):
            found.setdefault((sort, text), []).append(str(one.route[_TASK - 1]) if in_task else "")
    for (sort, text), tasks in found.items():
        where = ", ".join(filter(None, tasks)) if len(taken.spec["tasks"]) > 1 else ""
        yield Remark(sort, f"{text} ({where})" if where else text)
    names = {str(one.get("name")) for one in _trainings(taken)} - {TRAINING_CONTAINER}
    if names:
        text = f"the training container is called {TRAINING_CONTAINER}, and no longer {', '.join(sorted(names))}"
        yield Remark("changed", text)


def _trainings(taken: Taken) -> Iterator[dict[str, Any]]:
    for task in taken.spec["tasks"]:
        yield from ((task.get("template") or {}).get("spec") or {}).get("containers", [])[:1]


def _told(one: FieldDifference, route: Route) -> tuple[Sort, str]:
    """Return how a difference is told, at a route within its task or the Job."""
    both, last = one.before if one.after is None else one.after, str(route[-1])
    if last == "command" and one.sort == "changed" and _only_exec(one.before, one.after):
        return "mended", "the shell text has `exec` before its last program, so that SIGTERM reaches it"
    if len(route) > 1 and "ports" in route[-3:-2] and last == "name" and one.sort == "changed":
        return one.sort, f"the port {route[-2]} is called {one.after}, and no longer {one.before}"
    for field, what in _NAMED.items():
        if field in route[-2:-1]:
            return one.sort, f"{what} {last}{_action(both)}"
        if last == field and isinstance(both, dict):
            many = f"{what.removesuffix('y')}{'ies' if what[-1] == 'y' else 's'}" if len(both) > 1 else what
            return one.sort, f"{many} {', '.join(f'{name}{_action(both[name])}' for name in both)}"
    at = ".".join(str(step) for step in route if step not in _WRAPPERS)
    if one.sort == "added":
        known = f", where Volcano's own default is {MAX_RETRY}" if route == ("maxRetry",) else ""
        return one.sort, f"{at}: {_shown(both)}{known}"
    return one.sort, f"{at}: {_shown(one.before)}" + (f", now {_shown(one.after)}" if one.sort == "changed" else "")


def _action(value: Any) -> str:
    return f" → {value['action']}" if isinstance(value, dict) and "action" in value else ""


def _only_exec(before: Any, after: Any) -> bool:
    """Tell whether two commands are one text in a shell, but for `exec`."""
    shells = all(isinstance(one, tuple) and len(one) == len(SHELL) + 1 for one in (before, after))
    return shells and shell_command(str(before[-1]).rstrip("\n")) == [*after]


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = " ".join(text.split())
    return text if len(text) <= _LONG else f"{text[:_LONG]}…"
