"""What Volcano's webhook asks of the two annotations that place a queue in the older hierarchy of paths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.volcano.fault import Fault, show

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

HIERARCHY = "volcano.sh/hierarchy"
WEIGHTS = "volcano.sh/hierarchy-weights"
ROOT = "root"
_AT = ("metadata", "annotations")


def judge_hierarchy(name: str, annotations: Mapping[str, str], queues: Sequence[Mapping[str, Any]]) -> Iterator[Fault]:
    """Judge path and weights against each other, and the path against those of other queues."""
    path, weights = annotations.get(HIERARCHY, ""), annotations.get(WEIGHTS, "")
    if not path and not weights:
        return
    if path.count("/") != weights.count("/"):
        message = f"the path {show(path)} and the weights {show(weights)} differ in depth"
        yield Fault(rule="queue-hierarchy-length", at=_AT, message=message, hint="give one weight for each step of the path")
        return
    for weight in weights.split("/"):
        number = _number(weight)
        if number is None:
            message = f"the weight {show(weight)} is not a number"
            yield Fault(rule="queue-hierarchy-weight-number", at=_AT, message=message, hint="write a number", found=weight)
        elif not number > 0:
            message = f"the weight {show(weight)} is not above zero"
            yield Fault(rule="queue-hierarchy-weight-zero", at=_AT, message=message, hint="write 1 or more", found=weight)
    for queue in queues:
        metadata = queue.get("metadata", {})
        other = metadata.get("annotations", {}).get(HIERARCHY, "")
        if other and metadata.get("name") != name and _rooted(other).startswith(_rooted(path) + "/"):
            message = f"the path of the queue {metadata.get('name')} runs through this one"
            hint = "give this queue a path that ends where no other goes on"
            yield Fault(rule="queue-hierarchy-prefix", at=_AT, message=message, hint=hint, found=other)


def _number(text: str) -> float | None:
    try:
        return float(text) if text == text.strip() and "_" not in text else None
    except ValueError:
        return None


def rooted(annotations: Mapping[str, str]) -> dict[str, str]:
    """Give a new queue's annotations as the webhook writes them, with the path from the root."""
    path, weights = annotations.get(HIERARCHY), annotations.get(WEIGHTS)
    if not path or not weights or path.startswith(ROOT):
        return dict(annotations)
    return {**annotations, HIERARCHY: _rooted(path), WEIGHTS: f"1/{weights}"}


def _rooted(path: str) -> str:
    return path if path.startswith(ROOT) else f"{ROOT}/{path}"
