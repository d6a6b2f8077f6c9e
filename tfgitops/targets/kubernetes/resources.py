"""What a pod asks of a node, as the scheduler counts it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes import quantity

if TYPE_CHECKING:
    from collections.abc import Mapping


def pod_requests(spec: Mapping[str, Any]) -> dict[str, int]:
    """Return the effective requests of a PodSpec by resource, in nanos of its unit.

    Containers and native sidecars run together; other init containers run one after another before them, beside the
    sidecars that started earlier. A limit without a request counts as the request. (Kubernetes, *Sidecar containers*,
    resource sharing within containers.)
    """
    running: dict[str, int] = {}
    most: dict[str, int] = {}
    for container in spec.get("initContainers") or ():
        needs = _requests(container)
        if container.get("restartPolicy") == "Always":
            _add(running, needs)
            _raise(most, running)
        else:
            _raise(most, {name: running.get(name, 0) + amount for name, amount in needs.items()})
    for container in spec.get("containers") or ():
        _add(running, _requests(container))
    _raise(running, most)
    return running


def _requests(container: Mapping[str, Any]) -> dict[str, int]:
    resources = container.get("resources") or {}
    wanted = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return {name: quantity.parse(amount) for name, amount in wanted.items()}


def _add(total: dict[str, int], amounts: Mapping[str, int]) -> None:
    for name, amount in amounts.items():
        total[name] = total.get(name, 0) + amount


def _raise(total: dict[str, int], amounts: Mapping[str, int]) -> None:
    for name, amount in amounts.items():
        total[name] = max(total.get(name, 0), amount)
