"""Whatever stands in a manifest is judged, and never raises."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from example_job import JOB, QUEUES
from fuzzed import fuzz
from hypothesis import given
from hypothesis import strategies as st
from jobupdates import judge_update

from tfgitops.targets.kubernetes.pod import judge_template
from tfgitops.targets.volcano.defaults import drift, immutable_changes, noop
from tfgitops.targets.volcano.job import judge_job
from tfgitops.targets.volcano.queue import judge_queue

if TYPE_CHECKING:
    from collections.abc import Iterator

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
)


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield from places(inner, (*at, key))


def with_value(manifest: Any, at: tuple[Any, ...], value: Any) -> Any:
    if not at:
        return value
    result = copy.deepcopy(manifest)
    target = result
    for key in at[:-1]:
        target = target[key]
    target[at[-1]] = value
    return result


@fuzz(300)
@given(st.data(), st.sampled_from([JOB, *QUEUES]))
def test_nothing_raises(data: st.DataObject, base: dict[str, Any]) -> None:
    broken: Any = base
    for _ in range(data.draw(st.integers(1, 2))):
        at = data.draw(st.sampled_from(list(places(broken))))
        broken = with_value(broken, at, data.draw(VALUES))
    judge_job(broken, QUEUES)
    judge_queue(broken, QUEUES)
    judge_template(broken)
    judge_update(base, broken)
    if isinstance(broken, dict):
        drift(broken)
        noop(base, broken)
        immutable_changes(base, broken)
