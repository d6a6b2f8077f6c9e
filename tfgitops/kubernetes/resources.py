"""What a pod asks of a node, as the scheduler counts it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from tfgitops.kubernetes import quantity
from tfgitops.view import thaw

if TYPE_CHECKING:
    from collections.abc import Mapping


def pod_requests(spec: Mapping[str, Any]) -> Counter[str]:
    """Return the effective requests of a PodSpec by resource, in nanos of its unit.

    Containers and native sidecars run together; other init containers run one after another before them, beside the
    sidecars that started earlier. A limit without a request counts as the request. (Kubernetes, *Sidecar containers*,
    resource sharing within containers.)
    """
    spec = thaw(spec)
    running: Counter[str] = Counter()
    most: Counter[str] = Counter()
    for container in spec.get("initContainers") or ():
        needs = _requests(container)
        if container.get("restartPolicy") == "Always":
            running += needs
            most |= running
        else:
            most |= running + needs
    for container in spec.get("containers") or ():
        running.update(_requests(container))
    return most | running if most else running


def _requests(container: Mapping[str, Any]) -> Counter[str]:
    resources = container.get("resources") or {}
    wanted = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return Counter({name: quantity.parse(amount) for name, amount in wanted.items()})
