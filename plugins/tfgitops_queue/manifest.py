"""A Volcano Queue with every default written out (docs/volcano.md 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops import quantity

if TYPE_CHECKING:
    from collections.abc import Mapping


def queue_manifest(name: str, queue: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Queue of one block of `queues`."""
    metadata: dict[str, Any] = {"name": name}
    for key in ("labels", "annotations"):
        if values := queue.get(key):
            metadata[key] = {label: str(value) for label, value in values.items()}
    spec: dict[str, Any] = {
        "parent": queue.get("parent", "root"),
        "weight": queue.get("weight", 1),
        "reclaimable": queue.get("reclaimable", True),
        "dequeueStrategy": "traverse",
    }
    if "priority" in queue:
        spec["priority"] = queue["priority"]
    for key in ("capability", "deserved"):
        if amounts := queue.get(key):
            spec[key] = _canonical(amounts)
    if amounts := queue.get("guarantee"):
        spec["guarantee"] = {"resource": _canonical(amounts)}
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": metadata,
        "spec": spec,
    }


def _canonical(amounts: Mapping[str, Any]) -> dict[str, str]:
    return {name: quantity.canonical(amount) for name, amount in amounts.items()}
