"""What an outline leaves out of a pod template, no rule asks about."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfgitops.targets.kubernetes.pod import judge_template
from tfgitops.targets.volcano.lookalikes import outline

CONTAINER: dict[str, Any] = {
    "name": "tensorflow",
    "image": "tf:2.21",
    "command": ["python", "train.py"],
    "env": [{"name": "STEPS", "value": "10"}],
}


def template(labels: Any = None, **fields: Any) -> dict[str, Any]:
    return {"metadata": {"labels": labels or {"a": "b"}}, "spec": {"containers": [{**CONTAINER, **fields}]}}


@given(st.text(min_size=1), st.lists(st.text(), min_size=1), st.text(min_size=1))
def test_plain_texts_are_left_out_and_no_rule_asks_about_them(image: str, words: list[str], value: str) -> None:
    changed = template(image=image, command=words, env=[{"name": "STEPS", "value": value}])
    assert outline(changed) == outline(template())
    assert judge_template(changed) == judge_template(template()) == []


@pytest.mark.parametrize(
    "changed",
    [
        template(image=""),
        template(image=3),
        template(command=["python", 3]),
        template(command=["python", None]),
        template(command="python"),
        template(env=[{"name": "STEPS", "value": 10}]),
        template(env=[{"name": "1STEPS", "value": "10"}]),
        template(env=["STEPS"]),
        template(env=[{"name": "STEPS", "value": "10", "valueFrom": {}}]),
        template({"a": "no label"}),
        template({"a": 3}),
        template({"a b": "c"}),
        {"spec": {"containers": ["tensorflow"]}},
        {"metadata": [], "spec": []},
    ],
    ids=str,
)
def test_what_a_rule_asks_about_stays(changed: dict[str, Any]) -> None:
    assert outline(changed) != outline(template())
    assert judge_template(changed) == judge_template(outline(changed)) or judge_template(outline(changed))


def test_the_template_itself_stays_as_it_is() -> None:
    given = template()
    outline(given)
    assert given == template()
