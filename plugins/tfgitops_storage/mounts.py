"""What one role mounts, in Kubernetes's words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tfgitops import Role, quantity
from tfgitops_storage.claims import claim_name

if TYPE_CHECKING:
    from collections.abc import Mapping

SHM_PATH = "/dev/shm"  # noqa: S108 - the pod's own
SHM_VOLUME = "dev-shm"


@dataclass(frozen=True, slots=True)
class Mount:
    """One volume at one path of a role's container."""

    volume: str
    claim: str
    path: str
    sub_path: str
    read_only: bool
    index: int


def mounts(role: Role, volumes: Mapping[str, Mapping[str, Any]]) -> list[Mount]:
    """Return what a role mounts: what its list says over what the volume says. Unknown volumes are left out."""
    found = []
    for index, use in enumerate(role.get("volumes") or ()):
        volume = volumes.get(use["name"])
        if volume is None:
            continue
        said = {key: use.get(key, volume.get(key)) for key in ("path", "subPath", "readOnly")}
        claim = claim_name(use["name"], volume)
        found.append(
            Mount(use["name"], claim, said["path"] or "", said["subPath"] or "", bool(said["readOnly"]), index)
        )
    return found


def pod_parts(wanted: list[Mount]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the partial PodTemplateSpec and Container of some mounts.

    A claim is one volume of the pod however often it is mounted: with two, the pod hangs in ContainerCreating.
    """
    names: dict[str, str] = {}
    for mount in sorted(wanted, key=lambda mount: mount.volume):
        names.setdefault(mount.claim, mount.volume)
    read_only = {claim: all(mount.read_only for mount in wanted if mount.claim == claim) for claim in names}
    volumes = [
        {
            "name": name,
            "persistentVolumeClaim": {"claimName": claim, **({"readOnly": True} if read_only[claim] else {})},
        }
        for claim, name in names.items()
    ]
    return {"spec": {"volumes": volumes}}, {"volumeMounts": [_volume_mount(names[m.claim], m) for m in wanted]}


def _volume_mount(name: str, mount: Mount) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": name, "mountPath": mount.path}
    if mount.sub_path:
        entry["subPathExpr" if "$(" in mount.sub_path else "subPath"] = mount.sub_path
    if mount.read_only:
        entry["readOnly"] = True
    return entry


def shared_memory(size: str | int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the partial PodTemplateSpec and Container that make /dev/shm larger than its 64 MiB."""
    directory = {"medium": "Memory", "sizeLimit": quantity.canonical(size)}
    pod = {"spec": {"volumes": [{"name": SHM_VOLUME, "emptyDir": directory}]}}
    return pod, {"volumeMounts": [{"name": SHM_VOLUME, "mountPath": SHM_PATH}]}
