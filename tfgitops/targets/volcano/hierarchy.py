"""What Volcano's webhook asks of the two annotations that place a queue in the older hierarchy of paths."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes.fault import Fault, Rules, show

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

HIERARCHY = "volcano.sh/hierarchy"
WEIGHTS = "volcano.sh/hierarchy-weights"
RULES = Rules(
    {
        "queue-hierarchy-length": (
            "the path {path} and the weights {weights} differ in depth",
            "give one weight for each step of the path",
        ),
        "queue-hierarchy-weight-number": ("the weight {found} is not a number", "write a number"),
        "queue-hierarchy-weight-zero": ("the weight {found} is not above zero", "write 1 or more"),
        "queue-hierarchy-prefix": (
            "the path of the queue {queue} runs through this one",
            "give this queue a path that ends where no other goes on",
        ),
    }
)
_ROOT = "root"
_AT = ("metadata", "annotations")


def judge_hierarchy(name: str, annotations: Mapping[str, str], queues: Sequence[Mapping[str, Any]]) -> Iterator[Fault]:
    """Judge path and weights against each other, and the path against those of other queues."""
    path, weights = annotations.get(HIERARCHY, ""), annotations.get(WEIGHTS, "")
    if not path and not weights:
        return
    if path.count("/") != weights.count("/"):
        yield RULES.fault("queue-hierarchy-length", _AT, path=show(path), weights=show(weights))
        return
    for weight in weights.split("/"):
        number = _number(weight)
        if number is None:
            yield RULES.fault("queue-hierarchy-weight-number", _AT, found=show(weight))
        elif not number > 0:
            yield RULES.fault("queue-hierarchy-weight-zero", _AT, found=show(weight))
    for queue in queues:
        metadata = queue.get("metadata", {})
        other = metadata.get("annotations", {}).get(HIERARCHY, "")
        if other and metadata.get("name") != name and _rooted(other).startswith(_rooted(path) + "/"):
            yield RULES.fault("queue-hierarchy-prefix", _AT, found=other, queue=metadata.get("name"))


def rooted(annotations: Mapping[str, str]) -> dict[str, str]:
    """Give a new queue's annotations as the webhook writes them, with the path from the root."""
    path, weights = annotations.get(HIERARCHY), annotations.get(WEIGHTS)
    if not path or not weights or path.startswith(_ROOT):
        return dict(annotations)
    return {**annotations, HIERARCHY: _rooted(path), WEIGHTS: f"1/{weights}"}


def _rooted(path: str) -> str:
    return path if path.startswith(_ROOT) else f"{_ROOT}/{path}"


def _number(text: str) -> float | None:
    """Return what Go's ParseFloat reads: no digits but ASCII's, and nothing beyond the largest float."""
    if not text.isascii() or text != text.strip() or "_" in text:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return None if math.isinf(number) and text.strip("+-0123456789.eE") == "" else number
