"""The kinds of Kubernetes: their scope, files and references, and which of their fields are immutable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes import quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfgitops.targets.routes import Json, Route

CLUSTER_SCOPED = frozenset({
    "APIService", "CSIDriver", "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition", "DeviceClass",
    "IngressClass", "Namespace", "PersistentVolume", "PriorityClass", "Queue", "ResourceFlavor", "RuntimeClass",
    "StorageClass", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "VolumeAttributesClass",
})  # fmt: skip
"""Kinds without a namespace, of Kubernetes 1.36 and Volcano."""

WRITTEN = frozenset({
    ("apps/v1", "Deployment"), ("monitoring.coreos.com/v1", "PodMonitor"), ("networking.k8s.io/v1", "NetworkPolicy"),
    ("v1", "ConfigMap"), ("v1", "ResourceQuota"), ("v1", "Service"),
})  # fmt: skip
"""Kinds beside Volcano's that are judged and written out with their defaults; each has a type in object.schema.json.

A further kind is a row here, a root in `tools/pod_schema.py`, its limits in `object.rules.schema.json`, its defaults in
`complete.py`, and below what it refers to and what is immutable.
"""
CUSTOM = frozenset({"monitoring.coreos.com/v1"})
"""Versions of kinds of a CRD: the server keeps what is empty, and fills in the defaults of the schema alone."""

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
    "Deployment": {f"spec.template.spec.{path}": kind for path, kind in _POD.items()},
    "PersistentVolumeClaim": {"spec.storageClassName": "StorageClass", "spec.volumeName": "PersistentVolume"},
    "PersistentVolume": {"spec.storageClassName": "StorageClass"},
    "ServiceAccount": {"secrets.*.name": "Secret", "imagePullSecrets.*.name": "Secret"},
    "ResourceClaim": {"spec.devices.requests.*.exactly.deviceClassName": "DeviceClass"},
    "ResourceClaimTemplate": {"spec.spec.devices.requests.*.exactly.deviceClassName": "DeviceClass"},
}


def is_judged(manifest: Mapping[str, Any]) -> bool:
    """Tell whether the compiler knows all that the API server knows of the kind of an object."""
    return (manifest["apiVersion"], manifest["kind"]) in WRITTEN


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


# By kind, as Kubernetes 1.36 validates an update; a route stands for all below it.
_IMMUTABLE: dict[str, tuple[Route, ...]] = {
    "ClusterRoleBinding": (("roleRef",),),
    "DaemonSet": (("spec", "selector"),),
    "Deployment": (("spec", "selector"),),
    "Job": (("spec", "completionMode"), ("spec", "podFailurePolicy"), ("spec", "selector"), ("spec", "template")),
    "PriorityClass": (("preemptionPolicy",), ("value",)),
    "ResourceQuota": (("spec", "scopes"),),
    "RoleBinding": (("roleRef",),),
    "RuntimeClass": (("handler",),),
    "Secret": (("type",),),
    "Service": (("spec", "clusterIP"), ("spec", "clusterIPs"), ("spec", "ipFamilies")),
    "StatefulSet": (
        ("spec", "podManagementPolicy"), ("spec", "selector"), ("spec", "serviceName"),
        ("spec", "volumeClaimTemplates"),
    ),
    "StorageClass": (("parameters",), ("provisioner",), ("reclaimPolicy",), ("volumeBindingMode",)),
}  # fmt: skip
_CLAIM_MUTABLE: tuple[Route, ...] = (("spec", "resources"), ("spec", "volumeAttributesClassName"))
_REQUESTED: Route = ("spec", "resources", "requests", "storage")
_FROZEN_DATA: tuple[Route, ...] = (("binaryData",), ("data",), ("immutable",), ("stringData",))


def is_immutable(old: Json, new: Json, at: Route) -> bool:
    """Tell whether Kubernetes would refuse that two manifests of one object differ at a route.

    Volcano's Jobs and Queues have rules of their own (`targets.volcano.defaults`). A claim may grow, where its storage
    class allows it, and never shrink.
    """
    kind = str(new.get("kind"))
    if kind == "PersistentVolumeClaim":
        return at[:1] == ("spec",) and (not _starts(at, _CLAIM_MUTABLE) or _shrinks(old, new))
    if kind in ("ConfigMap", "Secret") and old.get("immutable") and _starts(at, _FROZEN_DATA):
        return True
    return _starts(at, _IMMUTABLE.get(kind, ()))


def grows(old: Json, new: Json) -> bool:
    """Tell whether a claim asks for more than it did, which its storage class must allow."""
    before, after = (_size(manifest) for manifest in (old, new))
    return before is not None and after is not None and after > before


def _shrinks(old: Json, new: Json) -> bool:
    before, after = (_size(manifest) for manifest in (old, new))
    return before is not None and (after is None or after < before)


def _size(manifest: Json) -> int | None:
    value: Any = manifest
    for key in _REQUESTED:
        value = value.get(key) if hasattr(value, "get") else None
    try:
        return quantity.parse(value) if isinstance(value, str | int) else None
    except ValueError:
        return None


def _starts(at: Route, routes: tuple[Route, ...]) -> bool:
    return any(at[: len(route)] == route for route in routes)
