"""Tasks of which nothing is to be said, found out once for all that differ in plain texts alone."""

from __future__ import annotations

import marshal
from functools import lru_cache
from typing import Any

from tfgitops.kubernetes.catalog import shape_of
from tfgitops.kubernetes.outline import outline
from tfgitops.kubernetes.shape import Notes, settle
from tfgitops.volcano import useless
from tfgitops.volcano.defaults import with_defaults
from tfgitops.volcano.job import judge_task


def is_clean(task: dict[str, Any]) -> bool:
    """Tell whether a task, taken by itself, is admitted, of use, and stored as it is."""
    try:
        packed = marshal.dumps({**task, "template": outline(task["template"])}, 2)
    except ValueError:  # not plain JSON
        return False
    return _is_clean(packed)


@lru_cache(maxsize=1 << 12)
def _is_clean(packed: bytes) -> bool:
    task = marshal.loads(packed)  # noqa: S302 - packed above
    notes = Notes()
    settled = settle(shape_of("volcano.schema.json", "TaskSpec"), task, (), notes)
    if settled is not task or with_defaults(task, 0) is not task or notes != Notes():
        return False
    return not any(judge_task(task)) and not any(useless.judge_task(task))
