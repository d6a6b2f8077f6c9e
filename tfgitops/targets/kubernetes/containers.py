"""What Kubernetes asks of the containers of a pod, and of the volumes that they mount as folders or block devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfgitops.targets.kubernetes.fault import Fault, Rules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops.targets.routes import Json, Route

PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
GRACE = 30  # seconds, where terminationGracePeriodSeconds is left out
SIDECAR = "Always"
_BLOCK = ("persistentVolumeClaim", "ephemeral")
RULES = Rules.read("""
    k8s-container-image-required: the container has no image | give it one
    k8s-container-name-duplicate: two containers are called {name} | rename one of them
    k8s-container-restart-policy-not-init: restartPolicy is for init containers only | set the pod's restartPolicy
    k8s-container-restart-policy-enum:
        an init container's restartPolicy can only be Always, which makes it a sidecar | leave it out
    k8s-container-lifecycle-plain-init:
        lifecycle is not for an init container that only prepares
        | leave it out, or make the container a sidecar by restartPolicy: Always
    k8s-probe-plain-init:
        {field} is not for an init container that only prepares
        | leave it out, or make the container a sidecar by restartPolicy: Always
    k8s-container-env-value-from-value-and-source: {name} has a value and a reference | keep value or valueFrom
    k8s-probe-success-threshold-must-be-one: successThreshold of a {field} can only be 1 | leave it out
    k8s-probe-grace-not-allowed:
        a readinessProbe ends nothing, so it has no terminationGracePeriodSeconds | leave it out
    k8s-hook-sleep-range:
        the hook sleeps {found} seconds, and must sleep between 1 and {grace}
        | change seconds, or the pod's terminationGracePeriodSeconds
    k8s-container-security-proc-mount-needs-user-namespace:
        procMount Unmasked is only for pods with users of their own | set the pod's hostUsers to false
    k8s-container-ports-name-duplicate: two ports of the container are called {name} | rename one of them
    k8s-container-ports-host-port-differs:
        on the node's network, hostPort must be the containerPort | leave hostPort out
    k8s-container-ports-host-port-duplicate: two ports of the pod take port {port} of the node | change one of them
    k8s-container-volume-mounts-name-unknown-reference, k8s-container-volume-devices-name-unknown-reference:
        the pod has no volume {found} | its volumes: {volumes}
    k8s-container-volume-mounts-mount-propagation-mount-conflict:
        mountPropagation Bidirectional is only for privileged containers | leave it out
    k8s-container-volume-devices-name-not-block:
        the volume {found} is no claim, so it cannot be a block device | mount it as a folder
    k8s-container-volume-devices-name-not-unique: the volume {found} is mounted twice | mount it once
    k8s-container-volume-devices-device-path-not-unique: the path {found} is used twice | move one of them
    k8s-container-volume-devices-host-users:
        block devices need the node's users, and hostUsers is false | drop hostUsers
""")


def containers_of(spec: Json) -> Iterator[tuple[Route, Json]]:
    """Give all containers of a pod with their places, init containers first, as they run."""
    for field in ("initContainers", "containers"):
        for i, container in enumerate(spec.get(field, ())):
            yield (field, i), container


def judge_containers(spec: Json) -> Iterator[Fault]:
    """Judge each container by itself, then their names and ports against each other."""
    for at, container in containers_of(spec):
        if not container.get("image"):
            yield RULES.fault("k8s-container-image-required", (*at, "image"))
        yield from _judge_kind(container, at)
        yield from _judge_env(container, at)
        yield from _judge_probes(container, at)
        yield from _judge_hooks(container, spec, at)
        security = container.get("securityContext", {})
        if security.get("procMount") == "Unmasked" and spec.get("hostUsers") is not False:
            rule = "k8s-container-security-proc-mount-needs-user-namespace"
            yield RULES.fault(rule, (*at, "securityContext", "procMount"))
    seen = set()
    for at, container in containers_of(spec):
        if (name := container.get("name")) in seen:
            yield RULES.fault("k8s-container-name-duplicate", (*at, "name"), name=name)
        seen.add(name)
    yield from _judge_ports(spec)


def _judge_kind(container: Json, at: Route) -> Iterator[Fault]:
    """Judge what only some kinds of container may have: ordinary ones, sidecars, and those that only prepare."""
    policy = container.get("restartPolicy")
    if policy is not None and at[0] == "containers":
        yield RULES.fault("k8s-container-restart-policy-not-init", (*at, "restartPolicy"))
    elif policy not in {None, SIDECAR}:
        yield RULES.fault("k8s-container-restart-policy-enum", (*at, "restartPolicy"), found=policy)
    if at[0] == "initContainers" and policy != SIDECAR:
        if "lifecycle" in container:
            yield RULES.fault("k8s-container-lifecycle-plain-init", (*at, "lifecycle"))
        for field in PROBES:
            if field in container:
                yield RULES.fault("k8s-probe-plain-init", (*at, field), field=field)


def _judge_env(container: Json, at: Route) -> Iterator[Fault]:
    for i, variable in enumerate(container.get("env", ())):
        if "valueFrom" in variable and variable.get("value"):
            rule = "k8s-container-env-value-from-value-and-source"
            yield RULES.fault(rule, (*at, "env", i, "valueFrom"), name=variable.get("name"))


def _judge_probes(container: Json, at: Route) -> Iterator[Fault]:
    for field in PROBES:
        probe = container.get(field, {})
        if field != "readinessProbe" and probe.get("successThreshold", 1) > 1:
            place = (*at, field, "successThreshold")
            yield RULES.fault("k8s-probe-success-threshold-must-be-one", place, field=field)
        if field == "readinessProbe" and "terminationGracePeriodSeconds" in probe:
            yield RULES.fault("k8s-probe-grace-not-allowed", (*at, field, "terminationGracePeriodSeconds"))


def _judge_hooks(container: Json, spec: Json, at: Route) -> Iterator[Fault]:
    grace = spec.get("terminationGracePeriodSeconds", GRACE)
    for hook in ("postStart", "preStop"):
        sleep = container.get("lifecycle", {}).get(hook, {}).get("sleep")
        if sleep is not None and not 0 < sleep["seconds"] <= grace:
            place = (*at, "lifecycle", hook, "sleep")
            yield RULES.fault("k8s-hook-sleep-range", place, found=sleep["seconds"], grace=grace)


def _judge_ports(spec: Json) -> Iterator[Fault]:
    """Judge that ports have one name in a container each, and one holder on the node.

    Init containers are judged one by one, since Kubernetes takes all of them to run alone.
    """
    shared = spec.get("hostNetwork", False)
    taken: set[tuple[int, str, str]] = set()
    for at, container in containers_of(spec):
        names = set()
        if at[0] == "initContainers" or at[1] == 0:
            taken = set()
        for i, port in enumerate(container.get("ports", ())):
            place = (*at, "ports", i)
            name, number = port.get("name"), port.get("hostPort") or (port["containerPort"] if shared else 0)
            if name and name in names:
                yield RULES.fault("k8s-container-ports-name-duplicate", (*place, "name"), name=name)
            names.add(name)
            if shared and at[0] == "containers" and number != port["containerPort"]:
                yield RULES.fault("k8s-container-ports-host-port-differs", (*place, "hostPort"))
            holder = (number, port.get("protocol") or "TCP", port.get("hostIP", ""))
            if number and holder in taken:
                yield RULES.fault("k8s-container-ports-host-port-duplicate", (*place, "hostPort"), port=number)
            taken.add(holder)


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
    family, mounts = "k8s-container-volume-devices", container.get("volumeMounts", ())
    names, paths = ({mount.get(key) for mount in mounts} for key in ("name", "mountPath"))
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
