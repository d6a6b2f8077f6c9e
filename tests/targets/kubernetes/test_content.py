"""Objects named by content: one name for one content, whatever the order in which it is written."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Any

import pytest

from tfgitops import named_by_content


def config_map(**data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "team"}, "data": data}


def name(manifest: Any) -> str:
    return str(named_by_content(manifest)["metadata"]["name"])


def test_a_digest_stands_behind_the_name() -> None:
    assert re.fullmatch("team-[0-9a-f]{8}", name(config_map(a="1")))
    assert named_by_content(config_map(a="1"))["data"] == {"a": "1"}


def test_it_is_the_same_everywhere_and_for_ever() -> None:
    """A digest that changed with a release would restart every training that refers to such an object."""
    assert name(config_map(a="1", b="\u00e4")) == "team-445659bf"


def test_the_order_of_keys_means_nothing() -> None:
    assert name(config_map(a="1", b="2")) == name(config_map(b="2", a="1"))


@pytest.mark.parametrize(
    "other", [config_map(a="2"), config_map(b="1"), {**config_map(a="1"), "immutable": True}, config_map()]
)
def test_other_content_is_another_name(other: dict[str, Any]) -> None:
    assert name(other) != name(config_map(a="1"))


def test_what_is_given_stays_as_it_is_and_may_be_read_only() -> None:
    given = config_map(a="1")
    assert name(MappingProxyType(given)) == name(given)
    assert given == config_map(a="1")
