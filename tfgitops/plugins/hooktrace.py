"""``TFGITOPS_TRACE=hooks``: each call of a plugin on standard error, with its answers, each on one short line."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from tfgitops.plugins.hookspecs import Accelerator, Object, SchemaFragment
from tfgitops.plugins.plain import brief, printable
from tfgitops.spec.diagnostics import Problem, counted
from tfgitops.spec.model import Patch

if TYPE_CHECKING:
    from tfgitops.plugins.door import Plugin
    from tfgitops.targets.routes import Route

WIDTH = 160
"""A longer line is cut."""

_SHOWN_AT_MOST = 50
_VALUE_MAX = 90


def show(
    hook: str, plugin: Plugin, asked: dict[str, Any], answers: list[Any], *, problems: list[Problem], seconds: float
) -> None:
    """Show what a plugin was asked, what it said, what is wrong with that, and how long it took."""
    number = counted(len(answers), "answer")
    say(" ".join(filter(None, (f"{hook}:", f"{plugin},", _of(asked), f"{number}, {seconds * 1000:.1f} ms"))))
    for answer in answers[:_SHOWN_AT_MOST]:
        say(f"  {_short(answer)}")
    if len(answers) > _SHOWN_AT_MOST:
        say(f"  … and {len(answers) - _SHOWN_AT_MOST} more")
    for problem in problems:
        say(f"  {problem.code}: {problem.message}")


def say(line: str) -> None:
    """Write one line to standard error: no longer than `WIDTH`, and with nothing in it that could drive a terminal."""
    text = printable(line)
    sys.stderr.write((text if len(text) <= WIDTH else text[: WIDTH - 1] + "…") + "\n")


def _of(asked: dict[str, Any]) -> str:
    """Say what a hook was asked of: a job, or an environment and how many manifests it has."""
    if job := asked.get("job"):
        return f"job {job.environment.name}/{job.name},"
    if environment := asked.get("environment"):
        manifests = f" with {len(asked['manifests'])} manifests" if "manifests" in asked else ""
        return f"environment {environment.name}{manifests},"
    return ""


def _short(answer: Any) -> str:
    match answer:
        case Patch():
            return f"{' '.join(map(str, answer.target))} {_value(answer.value)}  because of {_route(answer.because)}"
        case Object():
            kind, name = answer.manifest.get("kind"), answer.manifest.get("metadata", {}).get("name")
            return f"{answer.folder} {kind} {name}  because of {_route(answer.because)}"
        case Problem():
            return f"{answer.severity} {answer.code} at {_route(answer.at)}: {answer.message}"
        case SchemaFragment():
            return f"{answer.site}.{answer.key} {_value(answer.schema)}"
        case Accelerator():
            return f"{answer.resource}: {answer.title}, {answer.devices}"
    return _value(answer)


def _value(value: Any) -> str:
    text = brief(value, _VALUE_MAX + 1)
    return text if len(text) <= _VALUE_MAX else text[:_VALUE_MAX] + "…"


def _route(route: Route) -> str:
    return ".".join(map(str, route)) or "the spec"
