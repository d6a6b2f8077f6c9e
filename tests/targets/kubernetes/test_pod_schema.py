"""The pod schema is what Kubernetes publishes, and judges the overlays that our reader of YAML gives."""

import json
from typing import Any

import pytest
from checkout import REPOSITORY, load_tool
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from tfgitops.targets.kubernetes.schemafile import schema_file


def errors(name: str, overlay: Any) -> list[str]:
    schema = schema_file("pod.schema.json")
    registry: Registry[Any] = Registry().with_resource(schema["$id"], Resource.from_contents(schema))
    validator = Draft202012Validator({"$ref": f"{schema['$id']}#/$defs/{name}"}, registry=registry)
    return ["/".join(map(str, error.absolute_path)) for error in validator.iter_errors(overlay)]


def test_the_committed_schema_is_fresh() -> None:
    tool = load_tool("pod_schema")
    committed = (REPOSITORY / "schemas" / "pod.schema.json").read_text(encoding="utf-8")
    assert committed == tool.render(tool.pod_schema())
    assert len(committed) < 80_000


def test_the_schema_is_a_schema_without_loose_ends() -> None:
    Draft202012Validator.check_schema(schema_file("pod.schema.json"))
    references = {part.split('"', 1)[0] for part in json.dumps(schema_file("pod.schema.json")).split("#/$defs/")[1:]}
    assert references == set(schema_file("pod.schema.json")["$defs"]) - {"PodTemplateSpec"}


def test_only_what_we_wrote_ourselves_is_described() -> None:
    described = {name for name, schema in schema_file("pod.schema.json")["$defs"].items() if "description" in schema}
    assert described == {"FileMode", "Quantity"}


@pytest.mark.parametrize(
    ("name", "overlay"),
    [
        ("PodTemplateSpec", {}),
        ("PodTemplateSpec", {"metadata": {"labels": {"team": "vision", "old": None}}}),
        ("PodTemplateSpec", {"spec": {"priority": None, "hostNetwork": True}}),
        ("PodTemplateSpec", {"spec": {"containers": [{"name": "sidecar"}], "nodeSelector": None}}),
        ("PodTemplateSpec", {"spec": {"volumes": [{"name": "keys", "secret": {"defaultMode": "0400"}}]}}),
        ("PodTemplateSpec", {"spec": {"volumes": [{"name": "keys", "secret": {"defaultMode": "0o400"}}]}}),
        ("PodTemplateSpec", {"spec": {"volumes": [{"name": "keys", "secret": {"defaultMode": 0}}]}}),
        ("PodTemplateSpec", {"spec": {"volumes": [{"name": "keys", "secret": {"secretName": "keys"}}]}}),
        ("Container", {"resources": {"limits": {"cpu": 4, "memory": "16Gi", "nvidia.com/gpu": None}}}),
        ("Container", {"ports": [{"containerPort": 2222}]}),
        ("Container", {"livenessProbe": {"httpGet": {"port": "http"}, "periodSeconds": 5}}),
        ("Container", {"livenessProbe": {"httpGet": {"port": 80}}}),
        ("Container", {"env": [{"name": "A", "value": None, "valueFrom": {"fieldRef": {"fieldPath": "x"}}}]}),
        ("Container", {"securityContext": {"runAsUser": 2**63 - 1}}),
        ("Container", {"image": None}),
    ],
)
def test_legal_overlays(name: str, overlay: Any) -> None:
    assert errors(name, overlay) == []


@pytest.mark.parametrize(
    ("name", "overlay", "at"),
    [
        ("PodTemplateSpec", {"meta": {}}, ""),
        ("PodTemplateSpec", {"metadata": {"name": "x"}}, "metadata"),
        ("PodTemplateSpec", {"metadata": {"creationTimestamp": None}}, "metadata"),
        ("PodTemplateSpec", {"metadata": {"labels": {"a": 1}}}, "metadata/labels/a"),
        ("PodTemplateSpec", {"spec": {"containers": [{"image": "x"}]}}, "spec/containers/0"),
        ("PodTemplateSpec", {"spec": {"containers": [None]}}, "spec/containers/0"),
        ("PodTemplateSpec", {"spec": {"containers": [{"name": None}]}}, "spec/containers/0/name"),
        ("PodTemplateSpec", {"spec": {"hostNetwork": "yes"}}, "spec/hostNetwork"),
        ("Container", {"env": [{"value": "x"}]}, "env/0"),
        ("Container", {"env": [{"name": "A", "value": 1}]}, "env/0/value"),
        ("Container", {"env": {"A": "x"}}, "env"),
        ("Container", {"args": [None]}, "args/0"),
        ("Container", {"args": [1]}, "args/0"),
        ("Container", {"ports": [{"containerPort": "http"}]}, "ports/0/containerPort"),
        ("Container", {"ports": [{"containerPort": 2**31}]}, "ports/0/containerPort"),
        ("Container", {"securityContext": {"runAsUser": 2**63}}, "securityContext/runAsUser"),
        ("Container", {"resources": {"limits": {"cpu": True}}}, "resources/limits/cpu"),
    ],
)
def test_illegal_overlays_are_refused_where_the_fault_is(name: str, overlay: Any, at: str) -> None:
    assert errors(name, overlay) == [at]
