"""Write an object out as the API server stores it: with the defaults of Kubernetes 1.36, and nothing that is empty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes.goform import rewritten
from tfgitops.targets.kubernetes.image import parse_image
from tfgitops.targets.kubernetes.objectkinds import CUSTOM, is_judged
from tfgitops.targets.kubernetes.shape import Notes, Shape, settle, shape_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfgitops.targets.routes import Json

    Fields = dict[str, Any]

_MODE = {"defaultMode": 0o644}
_DEFAULTS: dict[str, Fields] = {
    "ConfigMapVolumeSource": _MODE,
    "Container": {
        "resources": {}, "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
    },
    "ContainerPort": {"protocol": "TCP"},
    "Deployment": {"spec": {}},
    "DeploymentSpec": {"progressDeadlineSeconds": 600, "replicas": 1, "revisionHistoryLimit": 10, "strategy": {}},
    "DeploymentStrategy": {"type": "RollingUpdate"},
    "DownwardAPIVolumeSource": _MODE,
    "GRPCAction": {"service": ""},
    "HTTPGetAction": {"path": "/", "scheme": "HTTP"},
    "HostPathVolumeSource": {"type": ""},
    "NetworkPolicyPort": {"protocol": "TCP"},
    "NetworkPolicySpec": {"podSelector": {}},
    "ObjectFieldSelector": {"apiVersion": "v1"},
    "PersistentVolumeClaimSpec": {"volumeMode": "Filesystem"},
    "PodTemplateSpec": {"spec": {}},
    "PodSpec": {
        "dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "default-scheduler",
        "securityContext": {}, "terminationGracePeriodSeconds": 30,
    },
    "Probe": {"failureThreshold": 3, "periodSeconds": 10, "successThreshold": 1, "timeoutSeconds": 1},
    "ProjectedVolumeSource": _MODE,
    "ResourceFieldSelector": {"divisor": "0"},
    "RollingUpdateDeployment": {"maxSurge": "25%", "maxUnavailable": "25%"},
    "SecretVolumeSource": _MODE,
    "Service": {"spec": {}},
    "ServiceAccountTokenProjection": {"expirationSeconds": 3600},
    "ServicePort": {"protocol": "TCP"},
    "ServiceSpec": {"sessionAffinity": "None", "type": "ClusterIP"},
}  # fmt: skip
"""The defaults of a type that no other field decides."""


def complete(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest as the API server would store it; as it is, where its kind is not judged or its shape wrong.

    Not written: what each cluster decides itself, such as the addresses of a Service.
    """
    if not is_judged(manifest):
        return manifest
    notes, shape = Notes(), object_shape(manifest)
    settled = settle(shape, manifest, (), notes)
    if notes.faults or manifest["apiVersion"] in CUSTOM:
        return manifest if notes.faults else dict(settled)
    return dict(rewritten(shape, _filled(shape, settled)))


def complete_template(template: dict[str, Any], *, defaults: bool = True) -> dict[str, Any]:
    """Return a pod template in Kubernetes's own form, with defaults or without; as it is if its shape is wrong."""
    notes, shape = Notes(), shape_of("pod.schema.json", "PodTemplateSpec")
    settled = settle(shape, template, (), notes)
    if notes.faults:
        return template
    return dict(rewritten(shape, _filled(shape, settled) if defaults else settled))


def object_shape(manifest: Json) -> Shape:
    """Return the shape of an object of a judged kind."""
    return shape_of("object.schema.json", str(manifest["kind"]))


def _filled(shape: Shape, value: Any) -> Any:
    """Fill in the defaults, the inner ones last: a structure that is a default has defaults itself."""
    if isinstance(value, list) and shape.every:
        return [_filled(shape.every, item) for item in value]
    if not isinstance(value, dict):
        return value
    if shape.fields is None:
        return value if shape.every is None else {key: _filled(shape.every, item) for key, item in value.items()}
    full = {**_DEFAULTS.get(shape.name, {}), **{key: item for key, item in value.items() if item != ""}}
    if decide := _DECIDED.get(shape.name):
        full = {**dict(decide(full)), **full}
    return {key: _filled(shape.fields[key], item) for key, item in full.items()}


def _of_a_container(container: Fields) -> Iterator[tuple[str, Any]]:
    yield "imagePullPolicy", _pull_policy(container.get("image", ""))


def _of_an_image(volume: Fields) -> Iterator[tuple[str, Any]]:
    yield "pullPolicy", _pull_policy(volume.get("reference", ""))


def _pull_policy(reference: str) -> str:
    image = parse_image(reference)
    return "Always" if image.tag == "latest" or image.by == "none" else "IfNotPresent"


def _of_a_volume(volume: Fields) -> Iterator[tuple[str, Any]]:
    if volume.keys() <= {"name"}:
        yield "emptyDir", {}


def _of_a_pod(pod: Fields) -> Iterator[tuple[str, Any]]:
    if "serviceAccountName" in pod:
        yield "serviceAccount", pod["serviceAccountName"]
    elif "serviceAccount" in pod:
        yield "serviceAccountName", pod["serviceAccount"]


def _of_a_strategy(strategy: Fields) -> Iterator[tuple[str, Any]]:
    if strategy["type"] == "RollingUpdate":
        yield "rollingUpdate", {}


def _of_a_policy(policy: Fields) -> Iterator[tuple[str, Any]]:
    yield "policyTypes", ["Ingress", *(["Egress"] if policy.get("egress") else [])]


def _of_a_service(service: Fields) -> Iterator[tuple[str, Any]]:
    if service["type"] != "ExternalName":
        yield "internalTrafficPolicy", "Cluster"
    if service["type"] in ("NodePort", "LoadBalancer") or (service["type"] == "ClusterIP" and "externalIPs" in service):
        yield "externalTrafficPolicy", "Cluster"
    if service["type"] == "LoadBalancer":
        yield "allocateLoadBalancerNodePorts", True
    if service["sessionAffinity"] == "ClientIP":
        yield "sessionAffinityConfig", {"clientIP": {"timeoutSeconds": 10800}}


def _of_a_port(port: Fields) -> Iterator[tuple[str, Any]]:
    if "port" in port:
        yield "targetPort", port["port"]


_DECIDED: dict[str, Callable[[Fields], Iterator[tuple[str, Any]]]] = {
    "Container": _of_a_container, "DeploymentStrategy": _of_a_strategy, "ImageVolumeSource": _of_an_image,
    "NetworkPolicySpec": _of_a_policy, "PodSpec": _of_a_pod, "ServicePort": _of_a_port, "ServiceSpec": _of_a_service,
    "Volume": _of_a_volume,
}  # fmt: skip
"""The defaults of a type that its other fields decide."""
