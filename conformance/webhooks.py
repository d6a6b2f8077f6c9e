"""Asks our model in place of Volcano's webhooks, which are not in a Go module.

The model is tried on what the real ones said by `verdicts.py`. Here it reads what was written, in full: the compiler
asks it of what it plans, and takes a shorter way where it can.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crds import FILES

from tfgitops.targets.volcano.defaults import drift
from tfgitops.targets.volcano.job import judge_job

if TYPE_CHECKING:
    from collections.abc import Iterator

    Json = dict[str, Any]


def objections(manifest: Json) -> Iterator[tuple[str, str]]:
    """Yield (kind, message) for each fault of a Job, and for each place where the cluster would store another value."""
    if manifest["kind"] == "Job":
        queue = {"metadata": {"name": manifest["spec"]["queue"]}, "spec": {}}
        for fault in judge_job(manifest, [queue]):
            yield "refused", f"model: {_path(fault.at)}: {fault.rule}"
    for route in drift(manifest) if manifest["kind"] in FILES else ():
        yield "drifted", f"model: {_path(route)}"


def _path(route: tuple[str | int, ...]) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in route).removeprefix(".")
