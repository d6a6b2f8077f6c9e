"""What Kubernetes's validation says of a pod template: limits by schema, and what relates one field to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes.catalog import shape_of
from tfgitops.targets.kubernetes.containers import judge_containers
from tfgitops.targets.kubernetes.fault import Fault, Rules
from tfgitops.targets.kubernetes.mounts import judge_mounts
from tfgitops.targets.kubernetes.projection import judge_projected_paths
from tfgitops.targets.kubernetes.requirements import judge_resources
from tfgitops.targets.kubernetes.selectors import judge_label_keys
from tfgitops.targets.kubernetes.shape import Notes, settle
from tfgitops.targets.kubernetes.sysctls import judge_sysctls

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Json = Mapping[str, Any]

_HOST_USERS = ("{field} needs the node's users, and hostUsers is false", "drop hostUsers or {field}")
RULES = Rules(
    {
        "k8s-containers-required": ("the pod has no containers", "give it at least one"),
        "k8s-share-process-namespace-two-sources": (
            "hostPID and shareProcessNamespace exclude each other",
            "keep one of them",
        ),
        "k8s-host-network-host-users": _HOST_USERS,
        "k8s-host-pid-host-users": _HOST_USERS,
        "k8s-host-ipc-host-users": _HOST_USERS,
        "k8s-dns-config-required": ("dnsPolicy None needs dnsConfig", "give it, with a nameserver"),
        "k8s-dns-config-nameservers-required": ("dnsPolicy None needs one of the nameservers", "list a nameserver"),
        "k8s-dns-config-searches-too-long": (
            "the search domains have {found} characters in all",
            "use at most {limit}",
        ),
        "k8s-annotations-too-long": ("the annotations have {found} bytes in all", "use at most {limit}"),
    }
)
SEARCHES_MAX = 2048
ANNOTATIONS_MAX = 262144  # bytes of keys and values together, of any object


def judge_template(template: object) -> list[Fault]:
    """List what Kubernetes would refuse of a PodTemplateSpec, which may be any JSON value."""
    notes = Notes()
    settled = settle(shape_of("pod.schema.json", "PodTemplateSpec"), template, (), notes)
    if notes.faults:
        return [*notes.faults, *notes.limits]
    return [*notes.limits, *judge_settled(settled)]


def judge_settled(template: Json) -> list[Fault]:
    """Judge a template of the right shape, as the server would store it, by what its schema cannot say."""
    spec = template.get("spec", {})
    found = [fault.below(("spec",)) for fault in (*_judge_spec(spec), *_judge_claims(spec))]
    return [*found, *_judge_annotations(template.get("metadata", {}))]


def annotations_size(annotations: Mapping[str, str]) -> int:
    """Count the bytes of annotations, as Kubernetes does: keys and values."""
    return sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())


def _judge_annotations(metadata: Json) -> Iterator[Fault]:
    size = annotations_size(metadata.get("annotations", {}))
    if size > ANNOTATIONS_MAX:
        yield RULES.fault("k8s-annotations-too-long", ("metadata", "annotations"), found=size, limit=ANNOTATIONS_MAX)


def _judge_claims(spec: Json) -> Iterator[Fault]:
    for index, volume in enumerate(spec.get("volumes", ())):
        claim = volume.get("ephemeral", {}).get("volumeClaimTemplate", {})
        at = ("volumes", index, "ephemeral", "volumeClaimTemplate")
        yield from (fault.below(at) for fault in _judge_annotations(claim.get("metadata", {})))


def _judge_spec(spec: Json) -> Iterator[Fault]:
    if not spec.get("containers"):
        yield RULES.fault("k8s-containers-required", ("containers",))
    yield from _judge_host(spec)
    yield from _judge_dns(spec)
    yield from judge_containers(spec)
    yield from judge_mounts(spec)
    yield from judge_resources(spec)
    yield from judge_label_keys(spec)
    yield from judge_sysctls(spec)
    yield from judge_projected_paths(spec)


def _judge_host(spec: Json) -> Iterator[Fault]:
    """Judge what a pod shares with its node."""
    if spec.get("hostPID") and spec.get("shareProcessNamespace"):
        yield RULES.fault("k8s-share-process-namespace-two-sources", ("shareProcessNamespace",))
    if spec.get("hostUsers") is False:
        for field in ("hostNetwork", "hostPID", "hostIPC"):
            if spec.get(field):
                rule = f"k8s-host-{field.removeprefix('host').lower()}-host-users"
                yield RULES.fault(rule, (field,), field=field)


def _judge_dns(spec: Json) -> Iterator[Fault]:
    config = spec.get("dnsConfig")
    if spec.get("dnsPolicy") == "None":
        if config is None:
            yield RULES.fault("k8s-dns-config-required", ("dnsConfig",))
        elif not config.get("nameservers"):
            yield RULES.fault("k8s-dns-config-nameservers-required", ("dnsConfig", "nameservers"))
    size = len(" ".join(config.get("searches", ()))) if config else 0
    if size > SEARCHES_MAX:
        at = ("dnsConfig", "searches")
        yield RULES.fault("k8s-dns-config-searches-too-long", at, found=size, limit=SEARCHES_MAX)
