"""Lets Kubernetes's own code judge objects beside Jobs, those of `objects.yaml`, and compares our verdicts with its.

What the compiler writes for an accepted object must be stored as it is. A refused object, and an update of an immutable
field, must be refused. The tests hold our rules against the same file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tfgitops.targets.kubernetes.complete import complete
from tfgitops.targets.kubernetes.furtherobjects import judge_object, shape_faults

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from oracle import Judge

    Json = dict[str, Any]

OBJECTS = Path(__file__).resolve().parent / "objects.yaml"


def kept_objects() -> dict[str, list[Any]]:
    """Read the kept objects: accepted and refused ones, and pairs of updates."""
    found: dict[str, list[Any]] = yaml.load(OBJECTS.read_text(encoding="utf-8"), yaml.CSafeLoader)
    return found


def faults(manifest: Json) -> list[str]:
    """Return what we would refuse of an object as a plugin gives it."""
    wrong, unknown = shape_faults(manifest)
    return [*(fault.rule for fault in wrong), *map(str, unknown)] or [
        fault.rule for fault in judge_object(complete(manifest))
    ]


def judge_objects(judge: Judge, counts: Counter[str]) -> Iterator[str]:
    """Judge and count the kept objects, and yield the disagreements."""
    for name, message in _disagreements(judge, kept_objects(), counts):
        counts["disagreements"] += 1
        yield f"objects.yaml: {name}: {message}"


def _disagreements(judge: Judge, kept: dict[str, list[Any]], counts: Counter[str]) -> Iterator[tuple[str, str]]:
    for manifest in kept["accepted"]:
        counts["objects"] += 1
        written = complete(manifest)
        for said in (*(f"we refuse {rule}" for rule in faults(manifest)), *map(str, judge.objections(written))):
            yield str(manifest), said
    for manifest in kept["refused"]:
        counts["objects"] += 1
        if judge.ask({"op": "create", "object": manifest})["allowed"]:
            yield str(manifest), "Kubernetes accepts it"
    for pair in (*kept["in-place"], *kept["immutable"]):
        counts["updates"] += 1
        old, new = map(complete, pair)
        refusal = judge.refusal(old, new)
        if bool(refusal) != (pair in kept["immutable"]):
            yield str(pair), refusal or "Kubernetes takes the update"
