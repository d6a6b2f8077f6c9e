"""What Kubernetes refuses to change in an object that exists, of the kinds that a plugin or we may write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes import quantity

if TYPE_CHECKING:
    from tfgitops.targets.routes import Json, Route

# By kind, as Kubernetes 1.36 validates an update; a route stands for all below it.
_IMMUTABLE: dict[str, tuple[Route, ...]] = {
    "ClusterRoleBinding": (("roleRef",),),
    "DaemonSet": (("spec", "selector"),),
    "Deployment": (("spec", "selector"),),
    "Job": (("spec", "completionMode"), ("spec", "podFailurePolicy"), ("spec", "selector"), ("spec", "template")),
    "PriorityClass": (("preemptionPolicy",), ("value",)),
    "RoleBinding": (("roleRef",),),
    "RuntimeClass": (("handler",),),
    "Secret": (("type",),),
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

    Volcano's Jobs and Queues have rules of their own (`targets.volcano.update`). A claim may grow, where its storage
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
