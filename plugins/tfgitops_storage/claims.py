"""A PersistentVolumeClaim of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops import quantity

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_ACCESS = "ReadWriteOnce"


def access_of(volume: Mapping[str, Any]) -> str:
    """Return a volume's access mode; nothing for an existing claim that does not tell."""
    return str(volume.get("access", DEFAULT_ACCESS if "size" in volume else ""))


def claim_name(name: str, volume: Mapping[str, Any]) -> str:
    """Return the claim that a volume stands for: the one it names, or ours, named after it."""
    return str(volume.get("claim", name))


def claim_manifest(name: str, volume: Mapping[str, Any]) -> dict[str, Any]:
    """Return the claim of one block of `volumes`, with the defaults that the API server would add."""
    spec: dict[str, Any] = {
        "accessModes": [access_of(volume)],
        "resources": {"requests": {"storage": quantity.canonical(volume["size"])}},
        "volumeMode": "Filesystem",
    }
    if "storageClass" in volume:
        spec["storageClassName"] = volume["storageClass"]
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}
