"""The objects of a server that a plugin runs beside the jobs: a Deployment of one pod, and a Service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.plugins.hookspecs import Object
from tfgitops.targets.kubernetes import quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfgitops.targets.routes import Route


def server_labels(program: str, name: str) -> dict[str, str]:
    """Return the labels of a server's pod and objects, which also select the pod."""
    return {"app.kubernetes.io/name": program, "app.kubernetes.io/instance": name}


def server_objects(
    program: str, name: str, block: Mapping[str, Any], pod: Mapping[str, Any], because: Route, *, port: int,
    annotations: Mapping[str, str] | None = None, job: str = "",
) -> Iterator[Object]:  # fmt: skip
    """Yield the Deployment and the Service of a server, both called ``PROGRAM-NAME``.

    ``block`` is what the spec says. Its keys are image, cpu, memory, nodeSelector, imagePullSecrets and service, as the
    `$defs` of core.schema.json describe them. ``pod`` is the rest of the pod, with one container. The pod serves at
    ``port``, and the Service at port 80. ``annotations`` are the pod's, and ``job`` is that of `Object`.

    The strategy is Recreate: two pods of one server would write the same files, need its GPUs twice, and could not both
    mount a claim for one node.
    """
    labels, asked = server_labels(program, name), block.get("service") or {}
    metadata: dict[str, Any] = {"name": f"{program}-{name}", "labels": labels}
    template = {"metadata": {"labels": labels, "annotations": annotations or {}}, "spec": _pod(block, pod, port)}
    spec: dict[str, Any] = {
        "replicas": 1, "strategy": {"type": "Recreate"}, "selector": {"matchLabels": labels}, "template": template,
    }  # fmt: skip
    yield Object({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}, because, job=job)
    node_port = {"nodePort": asked["nodePort"]} if "nodePort" in asked else {}
    ports = [{"name": "http", "port": 80, "targetPort": "http", **node_port}]
    spec = {"type": asked.get("type", "ClusterIP"), "selector": labels, "ports": ports}
    place = (*because, "service", "nodePort") if node_port else because
    yield Object({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}, place)


def _pod(block: Mapping[str, Any], pod: Mapping[str, Any], port: int) -> dict[str, Any]:
    """Return a pod without the token of a ServiceAccount, and without the variables of other Services."""
    (container,) = pod["containers"]
    resources: dict[str, dict[str, str]] = {key: {**value} for key, value in container.get("resources", {}).items()}
    for resource in ("cpu", "memory"):
        for bound, amount in (block.get(resource) or {}).items():
            resources.setdefault(f"{bound}s", {})[resource] = quantity.canonical(amount)
    served = {"ports": [{"name": "http", "containerPort": port}], "readinessProbe": {"tcpSocket": {"port": "http"}}}
    full = {**pod, "automountServiceAccountToken": False, "enableServiceLinks": False}
    full["containers"] = [{"image": block["image"], **container, **served, "resources": resources}]
    if selector := block.get("nodeSelector"):
        full["nodeSelector"] = {label: str(value) for label, value in selector.items()}
    if secrets := block.get("imagePullSecrets"):
        full["imagePullSecrets"] = [{"name": secret} for secret in secrets]
    return full
