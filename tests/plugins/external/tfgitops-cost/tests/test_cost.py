"""The plugin's cases, a test each, the contract, and what a change of a key does to a running training."""

import pytest

import tfgitops_cost
from tfgitops import Plugins
from tfgitops.testing import Bench, PluginTests, find_plugins

SPEC = """
    owner: {owner}
    costCentre: {centre}
    jobs:
      train: {{image: tf, worker: 2}}
"""


class TestCost(PluginTests):
    plugin = tfgitops_cost


@pytest.fixture
def tfgitops_plugins() -> Plugins:
    return find_plugins(tfgitops_cost)


def test_another_owner_is_written_in_place(compile_spec: Bench) -> None:
    before = compile_spec(SPEC.format(owner="ana", centre="cc-1")).job("train")
    after = compile_spec(SPEC.format(owner="ben", centre="cc-1")).job("train")
    assert (before.labels["example.com/owner"], after.labels["example.com/owner"]) == ("ana", "ben")
    assert after.name == before.name
    assert after["spec"] == before["spec"]


def test_another_cost_centre_is_another_run(compile_spec: Bench) -> None:
    before = compile_spec(SPEC.format(owner="ana", centre="cc-1")).job("train")
    after = compile_spec(SPEC.format(owner="ana", centre="cc-2")).job("train")
    assert after.tasks["worker"].pod.labels["example.com/cost-centre"] == "cc-2"
    assert after.name != before.name


def test_explain_names_the_line_that_a_label_comes_from(compile_spec: Bench) -> None:
    told = compile_spec(SPEC.format(owner="ana", centre="cc-1")).explain("train", "metadata.labels[example.com/owner]")
    assert "owner: ana" in told
    assert "plugin cost" in told
