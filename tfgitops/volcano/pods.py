"""Pod templates of which nothing is to be said, found out once for all that have one outline."""

from __future__ import annotations

import marshal
from functools import lru_cache
from typing import Any

from tfgitops.kubernetes.catalog import shape_of
from tfgitops.kubernetes.outline import outline
from tfgitops.kubernetes.pod import judge_settled
from tfgitops.kubernetes.shape import Notes, settle
from tfgitops.volcano.uselesspods import judge_pod


def is_clean(template: dict[str, Any]) -> bool:
    """Tell whether a pod template is admitted, of use, and stored as it is."""
    try:
        packed = marshal.dumps(outline(template), 2)
    except ValueError:  # not plain JSON
        return False
    return _is_clean(packed)


@lru_cache(maxsize=1 << 12)
def _is_clean(packed: bytes) -> bool:
    template = marshal.loads(packed)  # noqa: S302 - packed above
    notes = Notes()
    settled = settle(shape_of("pod.schema.json", "PodTemplateSpec"), template, (), notes)
    if settled is not template or notes != Notes():
        return False
    return not judge_settled(template) and not any(judge_pod(template["spec"]))
