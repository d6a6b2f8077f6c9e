"""The order in which people who write Kubernetes manifests put the keys of a mapping."""

from functools import lru_cache
from typing import Final

# One table for all mappings: what identifies first, then what is looked for most, and last what is long.
_FIRST: Final = (
    ("apiVersion", "kind", "metadata", "name", "namespace", "labels", "annotations", "spec"),
    # a Job, and its tasks
    ("schedulerName", "queue", "replicas", "minAvailable", "maxRetry", "priorityClassName", "dependsOn"),
    # a Queue
    ("parent", "weight", "reclaimable", "dequeueStrategy", "priority", "capability", "deserved", "guarantee"),
    # a claim
    ("accessModes", "storageClassName", "volumeMode"),
    # a policy
    ("event", "events", "exitCode", "action", "timeout"),
    # a pod, and its containers
    ("restartPolicy", "image", "command", "args", "workingDir", "ports", "env", "envFrom", "resources"),
    ("volumeMounts", "containerPort", "protocol", "claimName", "mountPath", "subPath", "subPathExpr", "readOnly"),
    # amounts, an environment variable, a toleration, a requirement
    ("requests", "limits", "key", "operator", "value", "valueFrom", "values", "effect"),
)
_LAST: Final = (
    ("initContainers", "containers", "volumes", "plugins", "policies", "template", "tasks"),
    ("data", "stringData", "binaryData"),
)
_OTHERS: Final = 1000
_RANK: Final = {
    **{key: rank for rank, key in enumerate(key for group in _FIRST for key in group)},
    **{key: _OTHERS + 1 + rank for rank, key in enumerate(key for group in _LAST for key in group)},
}


@lru_cache(maxsize=4096)
def ordered(keys: tuple[str, ...]) -> tuple[str, ...]:
    """Put the keys of one mapping in the customary order; in the alphabet's where there is no custom."""
    return tuple(sorted(keys, key=lambda key: (_RANK.get(key, _OTHERS), key)))
