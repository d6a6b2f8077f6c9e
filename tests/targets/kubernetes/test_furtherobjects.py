"""Objects beside Jobs: what Kubernetes accepts and refuses of them, by the objects that its own code judged."""

from __future__ import annotations

import json
from typing import Any

import furtherkinds
import pytest
from checkout import REPOSITORY, load_tool

from tfgitops.review.changes import compared
from tfgitops.targets.kubernetes.complete import complete
from tfgitops.targets.kubernetes.furtherobjects import judge_object, shape_faults
from tfgitops.targets.kubernetes.objectkinds import WRITTEN
from tfgitops.targets.kubernetes.shape import shape_of

KEPT = furtherkinds.kept_objects()
MONITOR = {"apiVersion": "monitoring.coreos.com/v1", "kind": "PodMonitor", "metadata": {"name": "a", "namespace": "ml"}}


def kind_of(manifest: dict[str, Any]) -> str:
    return str(manifest["kind"])


def named(kind: str, name: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": "ml"}, **fields}


@pytest.mark.parametrize("manifest", KEPT["accepted"], ids=kind_of)
def test_what_kubernetes_accepts_is_written_out_once(manifest: dict[str, Any]) -> None:
    given = json.dumps(manifest)
    written = complete(manifest)
    assert furtherkinds.faults(manifest) == []
    assert complete(written) == written
    assert json.dumps(manifest) == given


@pytest.mark.parametrize("manifest", KEPT["refused"], ids=kind_of)
def test_what_kubernetes_refuses_is_a_fault(manifest: dict[str, Any]) -> None:
    assert furtherkinds.faults(manifest)


@pytest.mark.parametrize(
    ("pair", "verdict"),
    [*((pair, "in place") for pair in KEPT["in-place"]), *((pair, "refused") for pair in KEPT["immutable"])],
)
def test_updates_are_in_place_or_refused(pair: list[dict[str, Any]], verdict: str) -> None:
    old, new = map(complete, pair)
    change = compared("", old, new)
    assert change.verdict == verdict
    replaces = verdict == "in place" and old.get("spec", {}).get("template") != new.get("spec", {}).get("template")
    assert ("replaced" in change.reason) == replaces


@pytest.mark.parametrize(
    ("manifest", "at", "rule"),
    [
        (named("Service", "1a", spec={"ports": [{"port": 1}]}), "name", "service-name-digit"),
        (
            named("Service", "a", spec={"type": "NodePort", "ports": [{"port": 1, "nodePort": 80}]}),
            "nodePort", "service-node-port-range",
        ),
        (named("ResourceQuota", "a", spec={"hard": {"amd.com/gpu": 4}}), "amd.com/gpu", "quota-counts-nothing"),
        (
            named("ResourceQuota", "a", spec={"hard": {"requests.amd.com/gpu": "500m"}}),
            "requests.amd.com/gpu", "quota-whole-number",
        ),
        (named("ConfigMap", "a", data={"a": "x" * (1 << 20), "b": "y"}), "data", "k8s-config-map-too-large"),
    ],
)  # fmt: skip
def test_faults_name_their_place(manifest: dict[str, Any], at: str, rule: str) -> None:
    [fault] = judge_object(complete(manifest))
    assert (fault.at[-1], fault.rule) == (at, rule)


def test_a_monitor_has_the_defaults_of_its_crd() -> None:
    endpoint = {"port": "metrics", "interval": "30s", "relabelings": [{"targetLabel": "a"}], "metricRelabelings": []}
    monitor = {**MONITOR, "spec": {"selector": {}, "podMetricsEndpoints": [endpoint]}}
    assert judge_object(complete(monitor)) == []
    [written] = complete(monitor)["spec"]["podMetricsEndpoints"]
    assert written == {**endpoint, "relabelings": [{"targetLabel": "a", "action": "replace"}]}
    endpoint["interval"] = "half a minute"
    assert [fault.at[-1] for fault in judge_object(monitor)] == ["interval"]
    assert shape_faults({**MONITOR, "spec": {"selector": {}, "port": 1}}) == ([], [("spec", "port")])


def test_kinds_of_other_groups_are_left_alone() -> None:
    service = {
        "apiVersion": "serving.knative.dev/v1",
        "kind": "Service",
        "metadata": {"name": "1"},
        "spec": {"a": None},
    }
    assert complete(service) is service
    assert (judge_object(service), shape_faults(service)) == ([], ([], []))


def test_the_committed_schema_is_fresh() -> None:
    tool = load_tool("pod_schema")
    committed = (REPOSITORY / "schemas" / "object.schema.json").read_text(encoding="utf-8")
    assert committed == tool.render(tool.object_schema())
    assert {kind for _, kind in WRITTEN} == {name.rsplit(".", 1)[-1] for name in tool.OBJECTS} | {"PodMonitor"}
    assert all(shape_of("object.schema.json", kind).fields for _, kind in WRITTEN)
