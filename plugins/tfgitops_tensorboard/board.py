"""The objects of one TensorBoard: a Deployment that may run in the strictest namespaces, and a Service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops import quantity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfgitops import View

IMAGE = "tensorflow/tensorflow:2.19.0"
PORT = 6006
_PATH = "/logs"
_NOBODY = 65534
_RESOURCES = {"cpu": {"request": "100m", "limit": "1"}, "memory": {"request": "512Mi", "limit": "2Gi"}}


def metadata_of(name: str) -> dict[str, Any]:
    """Return the name and the labels of the objects; the labels also select the pod."""
    labels = {"app.kubernetes.io/name": "tensorboard", "app.kubernetes.io/instance": name}
    return {"name": f"tensorboard-{name}", "labels": labels}


def board_deployment(metadata: Mapping[str, Any], board: View, volume: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Deployment. Its strategy is Recreate, since a second pod may not reach the claim of the first."""
    labels = metadata["labels"]
    spec = {
        "replicas": 1, "strategy": {"type": "Recreate"}, "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": _pod(board, volume)},
    }  # fmt: skip
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def _pod(board: View, volume: Mapping[str, Any]) -> dict[str, Any]:
    """Return the pod as Pod Security's level `restricted` wants it.

    Only the mount is read-only, not the claim: some storage cannot attach a claim for reading that others write.
    """
    name, path, folder = board["volume"], volume.get("path") or _PATH, board.get("logdir", "")
    logdir = f"{path.rstrip('/')}/{folder}" if folder else path
    mount = {"name": name, "mountPath": path, "readOnly": True}
    own = volume.get("subPath", "")
    if own and "$(" not in own:  # a folder of each run is left out: the board shows the runs beside each other
        mount["subPath"] = own
    words = ("tensorboard", f"--logdir={logdir}", "--bind_all", f"--port={PORT}", *map(str, board.get("args") or ()))
    resources: dict[str, dict[str, str]] = {}
    for resource, otherwise in _RESOURCES.items():
        for bound, amount in (board.get(resource) or otherwise).items():
            resources.setdefault(f"{bound}s", {})[resource] = quantity.canonical(amount)
    container = {
        "name": "tensorboard", "image": board.get("image", IMAGE), "command": [*words],
        "ports": [{"name": "http", "containerPort": PORT}],
        "env": [{"name": "HOME", "value": "/tmp"}],  # noqa: S108 - the pod's own; the user has no other folder
        "resources": resources, "readinessProbe": {"tcpSocket": {"port": "http"}}, "volumeMounts": [mount],
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }  # fmt: skip
    pod: dict[str, Any] = {
        "automountServiceAccountToken": False, "enableServiceLinks": False, "containers": [container],
        "securityContext": {
            "runAsNonRoot": True, "runAsUser": board.get("user", _NOBODY), "seccompProfile": {"type": "RuntimeDefault"},
        },
        "volumes": [{"name": name, "persistentVolumeClaim": {"claimName": volume.get("claim", name)}}],
    }  # fmt: skip
    if selector := board.get("nodeSelector"):
        pod["nodeSelector"] = {label: str(value) for label, value in selector.items()}
    if secrets := board.get("imagePullSecrets"):
        pod["imagePullSecrets"] = [{"name": secret} for secret in secrets]
    return pod


def board_service(metadata: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Service, with a port of the nodes only if the spec asks for one."""
    port = {"name": "http", "port": 80, "targetPort": "http"}
    if "nodePort" in asked:
        port["nodePort"] = asked["nodePort"]
    spec = {"type": asked.get("type", "ClusterIP"), "selector": metadata["labels"], "ports": [port]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}
