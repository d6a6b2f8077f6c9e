"""What objects need, by kind and name."""

from __future__ import annotations

from typing import Any

import pytest

from tfgitops.targets.kubernetes.objectkinds import references

POD: dict[str, Any] = {
    "serviceAccountName": "trainer",
    "imagePullSecrets": [{"name": "registry"}],
    "priorityClassName": "high",
    "runtimeClassName": "nvidia",
    "resourceClaims": [{"name": "a", "resourceClaimName": "gpu"}, {"name": "b", "resourceClaimTemplateName": "gpus"}],
    "volumes": [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
        {"name": "conf", "configMap": {"name": "conf"}},
        {"name": "cert", "secret": {"secretName": "cert"}},
        {"name": "all", "projected": {"sources": [{"configMap": {"name": "one"}}, {"secret": {"name": "two"}}]}},
        {"name": "fast", "ephemeral": {"volumeClaimTemplate": {"spec": {"storageClassName": "nvme"}}}},
        {"name": "vault", "csi": {"driver": "x", "nodePublishSecretRef": {"name": "vault"}}},
        {"name": "tmp", "emptyDir": {}},
    ],
    "initContainers": [{"name": "init", "envFrom": [{"configMapRef": {"name": "env"}}]}],
    "containers": [
        {
            "name": "tensorflow",
            "envFrom": [{"secretRef": {"name": "env-secret"}}],
            "env": [
                {"name": "A", "value": "b"},
                {"name": "B", "valueFrom": {"configMapKeyRef": {"name": "keys", "key": "b"}}},
                {"name": "C", "valueFrom": {"secretKeyRef": {"name": "token", "key": "c"}}},
            ],
        }
    ],
}
OF_POD = [
    ("ConfigMap", "conf"), ("ConfigMap", "env"), ("ConfigMap", "keys"), ("ConfigMap", "one"),
    ("PersistentVolumeClaim", "data"), ("PriorityClass", "high"), ("ResourceClaim", "gpu"),
    ("ResourceClaimTemplate", "gpus"), ("RuntimeClass", "nvidia"), ("Secret", "cert"), ("Secret", "env-secret"),
    ("Secret", "registry"), ("Secret", "token"), ("Secret", "two"), ("Secret", "vault"), ("ServiceAccount", "trainer"),
    ("StorageClass", "nvme"),
]  # fmt: skip


def test_what_a_job_needs_is_what_its_pods_need_its_queue_and_its_namespace() -> None:
    task = {"name": "worker", "template": {"spec": POD}}
    spec = {
        "queue": "vision",
        "priorityClassName": "low",
        "volumes": [{"volumeClaimName": "logs"}],
        "tasks": [task, task],
    }
    found = references({"kind": "Job", "metadata": {"name": "a", "namespace": "ml"}, "spec": spec})
    further = [
        ("Namespace", "ml"), ("Queue", "vision"), ("PriorityClass", "low"), ("PersistentVolumeClaim", "logs"),
    ]  # fmt: skip
    assert found == sorted([*OF_POD, *further])


@pytest.mark.parametrize(
    ("manifest", "needed"),
    [
        ({"kind": "Queue", "spec": {"parent": "research"}}, [("Queue", "research")]),
        ({"kind": "ServiceAccount", "secrets": [{"name": "a"}]}, [("Secret", "a")]),
        ({"kind": "PersistentVolumeClaim", "spec": {"storageClassName": ""}}, []),
        ({"kind": "PersistentVolumeClaim", "spec": {"storageClassName": "x"}}, [("StorageClass", "x")]),
        ({"kind": "ConfigMap", "data": {"a": "b"}}, []),
        ({"kind": "Job", "spec": {"tasks": {"template": 5}, "queue": ["a"]}}, []),
        ({"kind": "Job", "spec": {"tasks": [5, {"template": {"spec": {"volumes": [None, {"secret": "x"}]}}}]}}, []),
    ],
)
def test_other_kinds_and_values_of_any_kind(manifest: dict[str, Any], needed: list[tuple[str, str]]) -> None:
    assert references(manifest) == needed
