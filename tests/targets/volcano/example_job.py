"""A Job and Queues that a cluster admits as they are, and a way to change one field of them."""

from __future__ import annotations

import copy
from typing import Any

JOB: dict[str, Any] = {
    "apiVersion": "batch.volcano.sh/v1alpha1",
    "kind": "Job",
    "metadata": {"name": "mnist", "namespace": "ml"},
    "spec": {
        "schedulerName": "volcano",
        "queue": "default",
        "minAvailable": 3,
        "maxRetry": 3,
        "plugins": {"svc": ["--publish-not-ready-addresses=true"]},
        "policies": [{"event": "PodEvicted", "action": "RestartJob"}],
        "tasks": [
            {
                "name": name,
                "replicas": replicas,
                "minAvailable": replicas,
                "maxRetry": 3,
                "template": {
                    "spec": {
                        "restartPolicy": "Never",
                        "containers": [
                            {
                                "name": "tensorflow",
                                "image": "tf:2.21",
                                "env": [{"name": "STEPS", "value": "10"}],
                                "ports": [{"name": "grpc", "containerPort": 2222, "protocol": "TCP"}],
                                "resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "2"}},
                                "volumeMounts": [{"name": "data", "mountPath": "/data"}],
                            }
                        ],
                        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "imagenet"}}],
                    }
                },
            }
            for name, replicas in (("ps", 1), ("worker", 2))
        ],
    },
}


def queue(name: str, **spec: Any) -> dict[str, Any]:
    """Make a Queue below the root, unless `parent` says otherwise."""
    full = {"weight": 1, "reclaimable": True, "dequeueStrategy": "traverse", "parent": "root", **spec}
    return {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": name}, "spec": full}


QUEUES = [queue("default"), queue("research"), queue("vision", parent="research")]


def changed(manifest: dict[str, Any], route: str, value: Any) -> dict[str, Any]:
    """Give a copy with one field changed, by its route like `spec.tasks.0.name`; `...` removes it."""
    result = copy.deepcopy(manifest)
    *path, last = [int(step) if step.isdigit() else step for step in route.split(".")]
    target: Any = result
    for step in path:
        target = target.setdefault(step, {}) if isinstance(target, dict) else target[step]
    if value is ...:
        del target[last]
    elif isinstance(target, list) and last == len(target):
        target.append(value)
    else:
        target[last] = value
    return result
