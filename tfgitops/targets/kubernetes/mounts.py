"""What Kubernetes asks of volumes that containers mount, as folders or as block devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes.containers import containers_of
from tfgitops.targets.kubernetes.fault import Fault, Rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfgitops.targets.routes import Route

    Json = Mapping[str, Any]

RULES = Rules(
    {
        "k8s-container-volume-mounts-name-unknown-reference": (
            "the pod has no volume {found}",
            "its volumes: {volumes}",
        ),
        "k8s-container-volume-mounts-mount-propagation-mount-conflict": (
            "mountPropagation Bidirectional is only for privileged containers",
            "leave it out",
        ),
        "k8s-container-volume-devices-name-unknown-reference": (
            "the pod has no volume {found}",
            "its volumes: {volumes}",
        ),
        "k8s-container-volume-devices-name-not-block": (
            "the volume {found} is no claim, so it cannot be a block device",
            "mount it as a folder",
        ),
        "k8s-container-volume-devices-name-not-unique": ("the volume {found} is mounted twice", "mount it once"),
        "k8s-container-volume-devices-device-path-not-unique": ("the path {found} is used twice", "move one of them"),
        "k8s-container-volume-devices-host-users": (
            "block devices need the node's users, and hostUsers is false",
            "drop hostUsers",
        ),
    }
)
_BLOCK = ("persistentVolumeClaim", "ephemeral")


def judge_mounts(spec: Json) -> Iterator[Fault]:
    """Judge all mounts of all containers."""
    volumes = {volume.get("name"): volume for volume in spec.get("volumes", ())}
    for at, container in containers_of(spec):
        if "volumeMounts" in container:
            yield from _judge_folders(container, volumes, at)
        if "volumeDevices" in container:
            if spec.get("hostUsers") is False:
                yield RULES.fault("k8s-container-volume-devices-host-users", (*at, "volumeDevices"))
            yield from _judge_devices(container, volumes, at)


def _judge_folders(container: Json, volumes: Json, at: Route) -> Iterator[Fault]:
    privileged = container.get("securityContext", {}).get("privileged", False)
    for i, mount in enumerate(container["volumeMounts"]):
        place, name = (*at, "volumeMounts", i), mount.get("name")
        if name not in volumes:
            rule = "k8s-container-volume-mounts-name-unknown-reference"
            yield RULES.fault(rule, (*place, "name"), found=name, volumes=_listed(volumes))
        if mount.get("mountPropagation") == "Bidirectional" and not privileged:
            rule = "k8s-container-volume-mounts-mount-propagation-mount-conflict"
            yield RULES.fault(rule, (*place, "mountPropagation"))


def _judge_devices(container: Json, volumes: Json, at: Route) -> Iterator[Fault]:
    family = "k8s-container-volume-devices"
    mounts = container.get("volumeMounts", ())
    names = {mount.get("name") for mount in mounts}
    paths = {mount.get("mountPath") for mount in mounts}
    for i, device in enumerate(container["volumeDevices"]):
        place = (*at, "volumeDevices", i)
        name, path = device.get("name"), device.get("devicePath")
        if name not in volumes:
            rule = f"{family}-name-unknown-reference"
            yield RULES.fault(rule, (*place, "name"), found=name, volumes=_listed(volumes))
        elif not any(source in volumes[name] for source in _BLOCK):
            yield RULES.fault(f"{family}-name-not-block", (*place, "name"), found=name)
        if name in names:
            yield RULES.fault(f"{family}-name-not-unique", (*place, "name"), found=name)
        if path in paths:
            yield RULES.fault(f"{family}-device-path-not-unique", (*place, "devicePath"), found=path)
        names.add(name)


def _listed(volumes: Json) -> str:
    return ", ".join(map(str, volumes)) or "none"
