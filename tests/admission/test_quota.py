"""The quota of a namespace against its jobs, and the objects that core and plugins yield, through all gates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tfgitops import Plugins, discover, hookimpl
from tfgitops.plugins.door import Plugin
from tfgitops.plugins.hookspecs import Object

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfgitops.testing import Result

    Compile = Callable[..., Result]

HEAD = "apiVersion: tfgitops/v1alpha1\nkind: Environment\n"
SMALL = "{image: 'tf:2.21', worker: {replicas: 2, cpu: 8, memory: 16Gi}}"


def spec(quota: str, *jobs: str, top: str = "") -> str:
    named = "".join(f"  job-{number}: {job}\n" for number, job in enumerate(jobs))
    return f"{HEAD}namespace: {{name: ml, quota: {{{quota}}}}}\n{top}jobs:\n{named}"


@pytest.mark.parametrize(
    ("quota", "jobs", "said"),
    [
        ("requests.cpu: 16", [SMALL], []),
        ("cpu: 15", [SMALL], ["the gang of 'job-0' needs 16 cpu, and the quota of the namespace is 15"]),
        ("memory: 31Gi", [SMALL], ["the gang of 'job-0' needs 32Gi memory, and the quota of the namespace is 31Gi"]),
        (
            "limits.memory: 31Gi",
            [SMALL],
            ["the gang of 'job-0' needs 32Gi limits.memory, and the quota of the namespace is 31Gi"],
        ),
        ("pods: 1", [SMALL], ["the gang of 'job-0' needs 2 pods, and the quota of the namespace is 1"]),
        (
            "requests.cpu: 16",
            [SMALL, SMALL],
            ["all pods together ask for 32 requests.cpu, more than the quota: job-0, job-1"],
        ),
        ("requests.cpu: 32", [SMALL, SMALL], []),
        (
            "requests.nvidia.com/gpu: 3",
            ["{image: 'tf:2.21', worker: {replicas: 4, gpu: 1}}"],
            ["the gang of 'job-0' needs 4 requests.nvidia.com/gpu, and the quota of the namespace is 3"],
        ),
        (
            "requests.cpu: 9, requests.memory: 9Gi",
            ["{image: 'tf:2.21', worker: {cpu: 8}}"],
            ["the quota counts requests.memory, and containers of 'job-0' do not say how much"],
        ),
        (
            "limits.cpu: 9",
            ["{image: 'tf:2.21', worker: {cpu: {request: 8}}}"],
            ["the quota counts limits.cpu, and containers of 'job-0' do not say how much"],
        ),
        ("count/jobs.batch.volcano.sh: 1, secrets: 3", [SMALL, SMALL], []),
    ],
)  # fmt: skip
def test_jobs_are_held_against_the_quota(quota: str, jobs: list[str], said: list[str], compile_spec: Compile) -> None:
    assert [one.message for one in compile_spec(spec(quota, *jobs)).compiled.diagnostics] == said


def test_a_gang_may_start_with_fewer_pods_than_the_job_has(compile_spec: Compile) -> None:
    job = "{image: 'tf:2.21', strategy: none, tasks: {a: {replicas: 4, minAvailable: 2, cpu: 4, memory: 1Gi}}}"
    assert compile_spec(spec("requests.cpu: 8", job)).codes == []
    assert compile_spec(spec("requests.cpu: 7", job)).codes == ["TF309"]


@pytest.mark.parametrize(
    ("quota", "code", "hint"),
    [
        ("gpu: 4", "TF203", "write requests.cpu, limits.memory, pods or requests.DEVICE"),
        ("nvidia.com/gpu: 4", "TF203", "write requests.nvidia.com/gpu"),
        ("limits.nvidia.com/gpu: 4", "TF203", "write requests.nvidia.com/gpu"),
        ("pods: 1500m", "TF501", "write a whole number"),
        ("requests.memory: 64", "TF502", "did you mean 64Gi or 64Mi?"),
        ("requests.cpu: -1", "TF203", ""),
    ],
)
def test_amounts_and_names_of_a_quota_are_checked(quota: str, code: str, hint: str, compile_spec: Compile) -> None:
    result = compile_spec(spec(quota, SMALL))
    assert code in result.codes
    assert result.found(code).hint == hint or not hint
    assert result.line(code) == 3


def test_a_policy_requires_what_a_quota_counts(compile_spec: Compile) -> None:
    policy = "policy: {requiredResources: {level: deny, resources: [requests.memory, limits.cpu]}}\n"
    result = compile_spec(spec("pods: 9", "{image: 'tf:2.21', worker: {cpu: {request: 4}}}", SMALL, top=policy))
    assert [one.message for one in result.compiled.diagnostics if one.code == "POLICY06"] == [
        "the container 'tensorflow' of 'worker' has no requests.memory, limits.cpu",
    ]


class Board:
    """Writes a Deployment, a Service and a NetworkPolicy as a plugin author would."""

    tfgitops_api = 1

    def __init__(self, **service: Any) -> None:
        self.service = service

    @hookimpl
    def tfgitops_objects(self) -> Iterator[Object]:
        labels = {"app": "board"}
        web = {"name": "web", "image": "registry.example.com/board:1", "resources": {"limits": {"cpu": 2}}}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [web]}}
        policy = {"podSelector": {"matchLabels": labels}, "ingress": [{"ports": [{"port": 80}]}]}
        for version, kind, fields in (
            ("apps/v1", "Deployment", {"selector": {"matchLabels": labels}, "template": template}),
            ("v1", "Service", {"selector": labels, "ports": [{"port": 80}], **self.service}),
            ("networking.k8s.io/v1", "NetworkPolicy", policy),
        ):
            manifest = {"apiVersion": version, "kind": kind, "metadata": {"name": "board"}, "spec": fields}
            yield Object(manifest, ("jobs",))


def with_board(**service: Any) -> Plugins:
    return Plugins((*discover().plugins, Plugin("board", Board(**service), "1", "here")))


def test_objects_of_plugins_are_written_out(compile_spec: Compile) -> None:
    result = compile_spec(spec("pods: 9", SMALL), plugins=with_board())
    assert result.codes == []
    assert result.object("Service", "board")["spec"] == {
        "type": "ClusterIP", "internalTrafficPolicy": "Cluster", "selector": {"app": "board"},
        "sessionAffinity": "None", "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}],
    }  # fmt: skip
    [container] = result.object("Deployment", "board")["spec"]["template"]["spec"]["containers"]
    assert (container["imagePullPolicy"], container["resources"]) == ("IfNotPresent", {"limits": {"cpu": "2"}})
    assert result.object("NetworkPolicy", "board")["spec"]["policyTypes"] == ["Ingress"]
    assert "what Kubernetes would add" in result.explain("service/board", "spec.sessionAffinity")
    assert "plugin board" in result.explain("service/board", "spec.ports[0].port")


@pytest.mark.parametrize(
    ("service", "code", "words"),
    [
        ({"prots": []}, "TF902", "`manifest.spec.prots` is no field that Kubernetes knows"),
        ({"ports": [{"port": "http"}]}, "TF902", "`manifest.spec.ports.0.port`: 'http' is not a whole number"),
        ({"ports": [{"port": 80}, {"port": 81}]}, "TF501", "a Service with several ports names each"),
        ({"type": "NodePort", "ports": [{"port": 80, "nodePort": 99}]}, "TF502", "30000 to 32767"),
    ],
)
def test_objects_of_plugins_are_judged(service: dict[str, Any], code: str, words: str, compile_spec: Compile) -> None:
    result = compile_spec(spec("pods: 9", SMALL), plugins=with_board(**service))
    assert code in result.codes
    assert words in result.text


def test_the_quota_is_explained_by_its_keys(compile_spec: Compile) -> None:
    result = compile_spec(spec("pods: 9", SMALL))
    assert "namespace.quota.pods: 9" in result.explain("resourcequota/ml", "spec.hard.pods")
    assert "namespace.name: ml" in result.explain("resourcequota/ml", "metadata.namespace")
