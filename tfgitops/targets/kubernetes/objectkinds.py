"""Kinds of objects: which belong to the whole cluster, how their files are named, which others they refer to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CLUSTER_SCOPED = frozenset({
    "APIService", "CSIDriver", "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition", "DeviceClass",
    "IngressClass", "Namespace", "PersistentVolume", "PriorityClass", "Queue", "ResourceFlavor", "RuntimeClass",
    "StorageClass", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "VolumeAttributesClass",
})  # fmt: skip
"""Kinds without a namespace, of Kubernetes 1.36 and Volcano."""

_SHORT = {"PersistentVolumeClaim": "pvc"}
Reference = tuple[str, str]
"""A kind and a name; the namespace is that of the object which refers to it."""

_CONTAINER = {
    "env.*.valueFrom.configMapKeyRef.name": "ConfigMap",
    "env.*.valueFrom.secretKeyRef.name": "Secret",
    "envFrom.*.configMapRef.name": "ConfigMap",
    "envFrom.*.secretRef.name": "Secret",
}
_POD = {
    "volumes.*.persistentVolumeClaim.claimName": "PersistentVolumeClaim",
    "volumes.*.configMap.name": "ConfigMap",
    "volumes.*.secret.secretName": "Secret",
    "volumes.*.projected.sources.*.configMap.name": "ConfigMap",
    "volumes.*.projected.sources.*.secret.name": "Secret",
    "volumes.*.csi.nodePublishSecretRef.name": "Secret",
    "volumes.*.ephemeral.volumeClaimTemplate.spec.storageClassName": "StorageClass",
    "serviceAccountName": "ServiceAccount",
    "imagePullSecrets.*.name": "Secret",
    "priorityClassName": "PriorityClass",
    "runtimeClassName": "RuntimeClass",
    "resourceClaims.*.resourceClaimName": "ResourceClaim",
    "resourceClaims.*.resourceClaimTemplateName": "ResourceClaimTemplate",
    **{
        f"{containers}.*.{path}": kind
        for containers in ("containers", "initContainers")
        for path, kind in _CONTAINER.items()
    },
}
_PATHS: dict[str, dict[str, str]] = {
    "Job": {
        "metadata.namespace": "Namespace",
        "spec.queue": "Queue",
        "spec.priorityClassName": "PriorityClass",
        "spec.volumes.*.volumeClaimName": "PersistentVolumeClaim",
        **{f"spec.tasks.*.template.spec.{path}": kind for path, kind in _POD.items()},
    },
    "Queue": {"spec.parent": "Queue"},
    "PersistentVolumeClaim": {"spec.storageClassName": "StorageClass", "spec.volumeName": "PersistentVolume"},
    "PersistentVolume": {"spec.storageClassName": "StorageClass"},
    "ServiceAccount": {"secrets.*.name": "Secret", "imagePullSecrets.*.name": "Secret"},
    "ResourceClaim": {"spec.devices.requests.*.exactly.deviceClassName": "DeviceClass"},
    "ResourceClaimTemplate": {"spec.spec.devices.requests.*.exactly.deviceClassName": "DeviceClass"},
}


def file_name(kind: str, name: str) -> str:
    """Return the name of the file of one object: ``queue-vision.yaml``, ``pvc-logs.yaml``."""
    return f"{_SHORT.get(kind, kind.lower())}-{name}.yaml"


def references(manifest: Mapping[str, Any]) -> list[Reference]:
    """List what an object needs, each once, sorted; of kinds that are not known here, nothing."""
    paths = _PATHS.get(manifest["kind"], {})
    return sorted({(kind, name) for path, kind in paths.items() for name in _texts(manifest, path.split("."))})


def _texts(value: Any, path: list[str]) -> Iterator[str]:
    """Yield the texts at the end of a path, in which ``*`` stands for each element of a list."""
    if not path:
        if isinstance(value, str) and value:
            yield value
    elif path[0] == "*":
        for item in value if isinstance(value, list) else ():
            yield from _texts(item, path[1:])
    elif isinstance(value, dict):
        yield from _texts(value.get(path[0]), path[1:])
