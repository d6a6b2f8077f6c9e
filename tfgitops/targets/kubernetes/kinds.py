"""Which kinds of objects belong to the whole cluster, and how their files are named."""

from __future__ import annotations

CLUSTER_SCOPED = frozenset({
    "APIService", "CSIDriver", "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition", "DeviceClass",
    "IngressClass", "Namespace", "PersistentVolume", "PriorityClass", "Queue", "ResourceFlavor", "RuntimeClass",
    "StorageClass", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "VolumeAttributesClass",
})  # fmt: skip
"""Kinds without a namespace, of Kubernetes 1.36 and Volcano."""

_SHORT = {"PersistentVolumeClaim": "pvc"}


def file_name(kind: str, name: str) -> str:
    """Return the name of the file of one object: ``queue-vision.yaml``, ``pvc-logs.yaml``."""
    return f"{_SHORT.get(kind, kind.lower())}-{name}.yaml"
