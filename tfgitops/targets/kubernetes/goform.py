"""How Go writes a settled value: amounts and durations in their canonical form, without most of what is empty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes import duration
from tfgitops.targets.kubernetes.quantity import canonical

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfgitops.targets.kubernetes.shape import Shape

# Fields that Go leaves out when they are false or 0. All other such fields are pointers, and are kept.
_FALSE = frozenset(
    {"hostNetwork", "hostPID", "hostIPC", "stdin", "stdinOnce", "tty", "readOnly", "paused"}
    | {"publishNotReadyAddresses"}
)
_ZERO = frozenset({
    "initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold", "hostPort",
    "replicas", "minReadySeconds", "nodePort", "healthCheckNodePort",
})  # fmt: skip
_POINTERS = frozenset({("ClientIPConfig", "timeoutSeconds"), ("DeploymentSpec", "replicas")})  # kept, in one type
# Text fields that are pointers, and are kept when empty.
_KEPT = frozenset({"runtimeClassName", "preemptionPolicy", "storageClassName", "service", "fsType", "type"})
# Structures that are no pointers, and so always written: in a container, a template, a claim template.
_STRUCTURES = {"resources": "image", "metadata": "spec"}


def rewritten(shape: Shape, value: Any, amount: Callable[[str | int], str | int] = canonical) -> Any:
    """Write a settled value as Go does, and its quantities by ``amount``: `parse` takes 2048Mi and 2Gi for the same."""
    if shape.kind == "quantity":
        return amount(value)
    if shape.duration:
        return duration.canonical(value)
    if isinstance(value, list) and shape.every:
        return [rewritten(shape.every, item, amount) for item in value]
    if not isinstance(value, dict):
        return value
    if shape.fields is None:
        assert shape.every is not None
        return {key: rewritten(shape.every, item, amount) for key, item in value.items()}
    result = {}
    for key, item in value.items():
        inner = shape.fields[key]
        if not _left_out(shape, key, item):
            result[key] = rewritten(inner, item, amount)
    for key, beside in _STRUCTURES.items():
        if key in shape.fields and beside in shape.fields:
            result.setdefault(key, {})
    return result


def without_empty(shape: Shape, value: Any) -> Any:
    """Return a settled value without what Go would leave out, and so without what no one can tell from nothing."""
    if isinstance(value, list) and shape.every:
        return [without_empty(shape.every, item) for item in value]
    if not isinstance(value, dict) or shape.fields is None:
        return value
    return {
        key: without_empty(inner, item)
        for key, item in value.items()
        if (inner := shape.fields[key]) and not _left_out(shape, key, item)
    }


def _left_out(shape: Shape, key: str, value: Any) -> bool:
    """Tell whether Go leaves out a field of a structure."""
    assert shape.fields is not None
    if key in shape.required or (shape.name, key) in _POINTERS:
        return False
    if value is False:
        return key in _FALSE
    if value == 0:
        return key in _ZERO
    if value == "":
        return key not in _KEPT
    return value == [] or (value == {} and shape.fields[key].fields is None)
