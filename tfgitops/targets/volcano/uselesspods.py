"""What a cluster admits in a pod without a word, and what then fails or does nothing (docs/volcano.md 11)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes import names
from tfgitops.targets.kubernetes.containers import PROBES
from tfgitops.targets.kubernetes.fault import Fault, Rules, show
from tfgitops.targets.nearest import did_you_mean
from tfgitops.targets.routes import Route

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfgitops.targets.routes import Route

RULES = Rules(
    {
        "pod-grace-negative": ("terminationGracePeriodSeconds {found} is not a time to wait", "use 0 or more"),
        "pod-root-forbidden": ("the container must not run as root, and runs as user 0", "choose another runAsUser"),
        "pod-volume-no-source": ("the volume {found} has no source", "say what it is, such as `emptyDir: {{}}`"),
        "pod-medium": ("an emptyDir cannot have the medium {found}", "use Memory, or leave it out"),
        "pod-reference-name": ("no {kind} can be called {found}", "use lower-case letters, digits, - and ."),
        "pod-mount-twice": ("{found} is mounted already", "give one of the two another path"),
        "pod-mount-volcano": ("{found} is where Volcano mounts the hosts of the job", "choose another path"),
        "pod-port-name-twice": ("two containers of the pod name a port {found}", "give one another name"),
        "pod-topology-key": ("no node can have the label {found}", "use the key of a label"),
        "pod-class-decides": (
            "{field} is what the pod's PriorityClass says: Kubernetes refuses pods with another value",
            "leave it out, and name a class by the job's `priorityClassName`",
        ),
        "pod-port-unknown": ("the container has no port {found}, so this fails for ever", "{remedy}"),
    }
)
_VOLCANO_PATH = "/etc/volcano"
_OF_THE_CLASS = ("priority", "preemptionPolicy")


def judge_pod(spec: Mapping[str, Any]) -> Iterator[Fault]:
    """Judge a PodSpec that Kubernetes admits."""
    grace = spec.get("terminationGracePeriodSeconds", 0)
    if grace < 0:
        yield RULES.fault("pod-grace-negative", ("terminationGracePeriodSeconds",), found=grace)
    for field in _OF_THE_CLASS:
        if field in spec:
            yield RULES.fault("pod-class-decides", (field,), found=show(spec[field]), field=field)
    for index, constraint in enumerate(spec.get("topologySpreadConstraints", ())):
        if not names.is_qualified_name(constraint.get("topologyKey", "")):
            place = ("topologySpreadConstraints", index, "topologyKey")
            yield RULES.fault("pod-topology-key", place, found=show(constraint.get("topologyKey")))
    for index, volume in enumerate(spec.get("volumes", ())):
        yield from _judge_volume(volume, ("volumes", index))
    for index, secret in enumerate(spec.get("imagePullSecrets", ())):
        yield from _judge_reference("Secret", secret.get("name", ""), ("imagePullSecrets", index, "name"))
    ports: set[str] = set()
    for key in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(key, ())):
            yield from _judge_container(container, spec, ports, (key, index))
            yield from _judge_port_names(container, (key, index))


def _judge_volume(volume: Mapping[str, Any], at: Route) -> Iterator[Fault]:
    if set(volume) == {"name"}:
        yield RULES.fault("pod-volume-no-source", at, found=volume["name"])
    medium = (volume.get("emptyDir") or {}).get("medium", "")
    if medium not in ("", "Memory") and not medium.startswith("HugePages"):
        yield RULES.fault("pod-medium", (*at, "emptyDir", "medium"), found=medium)
    for kind, source, key in (
        ("Secret", "secret", "secretName"),
        ("ConfigMap", "configMap", "name"),
        ("claim", "persistentVolumeClaim", "claimName"),
    ):
        if name := (volume.get(source) or {}).get(key):
            yield from _judge_reference(kind, name, (*at, source, key))


def _judge_reference(kind: str, name: str, at: Route) -> Iterator[Fault]:
    if not names.is_dns_subdomain(name):
        yield RULES.fault("pod-reference-name", at, found=show(name), kind=kind)


def _judge_container(
    container: Mapping[str, Any], pod: Mapping[str, Any], ports: set[str], at: Route
) -> Iterator[Fault]:
    security = {**(pod.get("securityContext") or {}), **(container.get("securityContext") or {})}
    if security.get("runAsNonRoot") and security.get("runAsUser") == 0:
        yield RULES.fault("pod-root-forbidden", (*at, "securityContext"))
    mounted: set[str] = set()
    for index, mount in enumerate(container.get("volumeMounts", ())):
        path = str(mount.get("mountPath", "")).rstrip("/") or "/"
        place = (*at, "volumeMounts", index, "mountPath")
        if path in mounted:
            yield RULES.fault("pod-mount-twice", place, found=path)
        if path == _VOLCANO_PATH or path.startswith(f"{_VOLCANO_PATH}/"):
            yield RULES.fault("pod-mount-volcano", place, found=path)
        mounted.add(path)
    for index, port in enumerate(container.get("ports", ())):
        if (name := port.get("name")) and name in ports:
            yield RULES.fault("pod-port-name-twice", (*at, "ports", index, "name"), found=name)
        ports.add(port.get("name", ""))


def _judge_port_names(container: Mapping[str, Any], at: Route) -> Iterator[Fault]:
    """Judge that what asks for a port by its name finds it: the kubelet looks among the container's own ports alone."""
    known = [port["name"] for port in container.get("ports", ()) if port.get("name")]
    for place, handler in _handlers(container):
        for action in ("httpGet", "tcpSocket"):
            wanted = (handler.get(action) or {}).get("port")
            if isinstance(wanted, str) and wanted not in known:
                remedy = did_you_mean(wanted, known) or "write the number, or give the port its name under `ports`"
                expected = " or ".join(known)
                where = (*at, *place, action, "port")
                yield RULES.fault("pod-port-unknown", where, found=show(wanted), expected=expected, remedy=remedy)


def _handlers(container: Mapping[str, Any]) -> Iterator[tuple[Route, Mapping[str, Any]]]:
    """Yield each probe and each lifecycle hook of a container, with its place in it."""
    for probe in PROBES:
        yield (probe,), container.get(probe) or {}
    for hook in ("postStart", "preStop"):
        yield ("lifecycle", hook), (container.get("lifecycle") or {}).get(hook) or {}
