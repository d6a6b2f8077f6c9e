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


@pytest.mark.parametrize("changed", [{"owner": "ben"}, {"centre": "cc-2"}])
def test_a_label_of_running_pods_cannot_be_changed_so_that_it_is_another_run(
    compile_spec: Bench, changed: dict[str, str]
) -> None:
    said = {"owner": "ana", "centre": "cc-1"}
    before = compile_spec(SPEC.format(**said)).job("train")
    after = compile_spec(SPEC.format(**said | changed)).job("train")
    wanted = said | changed
    for labels in (after.labels, after.tasks["worker"].pod.labels):
        assert labels["example.com/owner"] == wanted["owner"]
        assert labels["example.com/cost-centre"] == wanted["centre"]
    assert after.name != before.name


def test_explain_names_the_line_that_a_label_comes_from(compile_spec: Bench) -> None:
    told = compile_spec(SPEC.format(owner="ana", centre="cc-1")).explain("train", "metadata.labels[example.com/owner]")
    assert "owner: ana" in told
    assert "plugin cost" in told
