"""The claims of an environment, and what one role mounts of them, in Kubernetes's words."""

from __future__ import annotations

from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from tfgitops import Job, Role, quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DEFAULT_ACCESS = "ReadWriteOnce"
SHM_PATH = "/dev/shm"  # noqa: S108 - the pod's own
SHM_VOLUME = "dev-shm"

Parts = tuple[dict[str, Any], dict[str, Any]]
"""A partial PodTemplateSpec and a partial Container; roles share them, so they are not to be changed."""


class Mount(NamedTuple):
    """One volume at one path of a role's container."""

    volume: str
    claim: str
    path: str
    sub_path: str
    read_only: bool
    position: int


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


def mounts(job: Job, volumes: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[Role, tuple[Mount, ...]]]:
    """Yield each role of a job with what it mounts; those of a job mostly mount the same."""
    for uses, roles in groupby(job.roles, _uses):
        mounted = tuple(_mounts(uses, volumes))
        for role in roles:
            yield role, mounted


def _uses(role: Role) -> tuple[Mapping[str, Any], ...]:
    return role.get("volumes") or ()


def _mounts(uses: tuple[Mapping[str, Any], ...], volumes: Mapping[str, Mapping[str, Any]]) -> Iterator[Mount]:
    """Yield what a list of volumes says over what the volumes say themselves; unknown ones are left out."""
    for index, use in enumerate(uses):
        name = use["name"]
        if (volume := volumes.get(name)) is not None:
            path, sub_path, read_only = [use.get(key, volume.get(key)) for key in ("path", "subPath", "readOnly")]
            yield Mount(name, claim_name(name, volume), path or "", sub_path or "", bool(read_only), index)


@lru_cache(maxsize=1024)
def pod_parts(wanted: tuple[Mount, ...]) -> Parts:
    """Return what some mounts are in a pod template and in its container.

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


@lru_cache(maxsize=1024)
def shared_memory(size: str | int) -> Parts:
    """Return what makes /dev/shm larger than its 64 MiB."""
    directory = {"medium": "Memory", "sizeLimit": quantity.canonical(size)}
    pod = {"spec": {"volumes": [{"name": SHM_VOLUME, "emptyDir": directory}]}}
    return pod, {"volumeMounts": [{"name": SHM_VOLUME, "mountPath": SHM_PATH}]}
