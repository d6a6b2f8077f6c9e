"""What Kubernetes's validation says of a pod template: limits by schema, and what relates one field to another."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import TYPE_CHECKING

from tfgitops.targets.kubernetes.containers import judge_containers, judge_mounts
from tfgitops.targets.kubernetes.fault import Fault, Rules
from tfgitops.targets.kubernetes.names import is_ip
from tfgitops.targets.kubernetes.resources import judge_resources
from tfgitops.targets.kubernetes.shape import Notes, settle, shape_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfgitops.targets.routes import Json, Route

HOSTNAME_MAX = 64  # characters of a hostname in Linux
SEARCHES_MAX = 2048
ANNOTATIONS_MAX = 262144  # bytes of keys and values together, of any object
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_LISTS = ("matchLabelKeys", "mismatchLabelKeys")
# What a pod cannot set where it shares the node's namespace of that kind.
_KEPT = {
    "hostNetwork": re.compile(r"net\."),
    "hostIPC": re.compile(r"kernel\.(sem|shm(all|max|mni|_rmid_forced)?|msg(max|mnb|mni)?)\Z|fs\.mqueue\."),
}
RULES = Rules.read("""
    k8s-containers-required: the pod has no containers | give it at least one
    k8s-share-process-namespace-two-sources: hostPID and shareProcessNamespace exclude each other | keep one of them
    k8s-host-network-host-users, k8s-host-pid-host-users, k8s-host-ipc-host-users:
        {field} needs the node's users, and hostUsers is false | drop hostUsers or {field}
    k8s-dns-config-required: dnsPolicy None needs dnsConfig | give it, with a nameserver
    k8s-dns-config-nameservers-required: dnsPolicy None needs one of the nameservers | list a nameserver
    k8s-dns-config-searches-too-long: the search domains have {found} characters in all | use at most {limit}
    k8s-annotations-too-long: the annotations have {found} bytes in all | use at most {limit}
    k8s-spread-match-label-keys-both-lists, k8s-pod-affinity-match-label-keys-both-lists:
        {found} is selected on twice | name it once
    k8s-spread-match-label-keys-selector-mismatch, k8s-pod-affinity-match-label-keys-selector-mismatch:
        {field} add to a labelSelector, and there is none | give a labelSelector
    pod-affinity-label-key-selected:
        {found} stands in matchLabelKeys and in the labelSelector, and Kubernetes would join the two
        | name it in one of them
    k8s-security-sysctls-name-duplicate: {found} is set twice | keep one of the two
    k8s-security-sysctls-name-not-allowed:
        {found} is the node's own, and the pod has {field} | drop {field}, or the setting
    k8s-volumes-projected-path-conflict, pod-projected-path-hidden:
        two files of the volume have the path {found} | move one of them
""")


def nameless(spec: Json, namespace: str) -> tuple[str, str] | None:
    """Return the field that keeps a pod from resolving other pods of its namespace by `<pod>.<service>`, and why.

    Other fields do no harm: `ndots` (glibc and c-ares try the search domains in any case), `hostAliases` (nobody knows
    the name of a run beforehand), and further servers or domains with ClusterFirst, which stand behind the cluster's.
    """
    policy, config = spec.get("dnsPolicy", "ClusterFirst"), spec.get("dnsConfig") or {}
    if policy == "Default" or (policy == "ClusterFirst" and spec.get("hostNetwork")):
        return "dnsPolicy", f"with dnsPolicy {policy}, the pod asks the name servers of its node"
    if policy == "None":
        if not any(domain.startswith(f"{namespace}.svc.") for domain in config.get("searches", ())):
            return "dnsConfig", f"its `searches` lack {namespace}.svc.cluster.local"
        servers = [server for server in config.get("nameservers", ()) if is_ip(server)]
        if servers and all(ip_address(server).is_global for server in servers):
            return "dnsConfig", "its name servers are outside of the cluster"
    return None


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
    for judge in (
        _judge_host, _judge_dns, judge_containers, judge_mounts, judge_resources, _judge_label_keys, _judge_sysctls,
        _judge_projected_paths,
    ):  # fmt: skip
        yield from judge(spec)


def _judge_host(spec: Json) -> Iterator[Fault]:
    """Judge what a pod shares with its node."""
    if spec.get("hostPID") and spec.get("shareProcessNamespace"):
        yield RULES.fault("k8s-share-process-namespace-two-sources", ("shareProcessNamespace",))
    if spec.get("hostUsers") is False:
        for field in ("hostNetwork", "hostPID", "hostIPC"):
            if spec.get(field):
                yield RULES.fault(f"k8s-host-{field.removeprefix('host').lower()}-host-users", (field,), field=field)


def _judge_dns(spec: Json) -> Iterator[Fault]:
    config = spec.get("dnsConfig")
    if spec.get("dnsPolicy") == "None":
        if config is None:
            yield RULES.fault("k8s-dns-config-required", ("dnsConfig",))
        elif not config.get("nameservers"):
            yield RULES.fault("k8s-dns-config-nameservers-required", ("dnsConfig", "nameservers"))
    size = len(" ".join(config.get("searches", ()))) if config else 0
    if size > SEARCHES_MAX:
        rule = "k8s-dns-config-searches-too-long"
        yield RULES.fault(rule, ("dnsConfig", "searches"), found=size, limit=SEARCHES_MAX)


def _judge_label_keys(spec: Json) -> Iterator[Fault]:
    """Judge the keys of topology spread constraints, also against their selectors, and of pod affinities."""
    for i, spread in enumerate(spec.get("topologySpreadConstraints", ())):
        used = _keys(spread.get("labelSelector", {}))
        yield from _judge_keys("k8s-spread", spread, used, ("topologySpreadConstraints", i))
    for at, term in _terms(spec.get("affinity", {})):
        yield from _judge_keys("k8s-pod-affinity", term, set(), at)
        selected = _keys(term.get("labelSelector", {}))
        for i, key in enumerate(term.get("matchLabelKeys", ())):
            if key in selected:
                yield RULES.fault("pod-affinity-label-key-selected", (*at, "matchLabelKeys", i), found=key)


def _terms(affinity: Json) -> Iterator[tuple[Route, Json]]:
    for kind in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(kind, {})
        for i, term in enumerate(rules.get(_REQUIRED, ())):
            yield ("affinity", kind, _REQUIRED, i), term
        for i, weighted in enumerate(rules.get(_PREFERRED, ())):
            yield ("affinity", kind, _PREFERRED, i, "podAffinityTerm"), weighted.get("podAffinityTerm", {})


def _judge_keys(family: str, term: Json, used: set[str], at: Route) -> Iterator[Fault]:
    seen = set(used)
    for field in _LISTS:  # twice in one list is nothing to Kubernetes
        keys = term.get(field, ())
        if keys and "labelSelector" not in term:
            yield RULES.fault(f"{family}-match-label-keys-selector-mismatch", (*at, field), field=field)
            return
        for i, key in enumerate(keys):
            if key in seen:
                yield RULES.fault(f"{family}-match-label-keys-both-lists", (*at, field, i), found=key)
        seen.update(keys)


def _keys(selector: Json) -> set[str]:
    expressions = {expression.get("key", "") for expression in selector.get("matchExpressions", ())}
    return {*selector.get("matchLabels", {}), *expressions}


def _judge_sysctls(spec: Json) -> Iterator[Fault]:
    """Judge the kernel settings of a pod against each other and against what it shares with its node."""
    seen = set()
    for i, sysctl in enumerate(spec.get("securityContext", {}).get("sysctls", ())):
        at = ("securityContext", "sysctls", i, "name")
        name = sysctl.get("name", "").replace("/", ".")
        if name in seen:
            yield RULES.fault("k8s-security-sysctls-name-duplicate", at, found=name)
        seen.add(name)
        for field, kept in _KEPT.items():
            if spec.get(field) and kept.match(name):
                yield RULES.fault("k8s-security-sysctls-name-not-allowed", at, found=name, field=field)


def _judge_projected_paths(spec: Json) -> Iterator[Fault]:
    """Judge the paths of all projected volumes."""
    for i, volume in enumerate(spec.get("volumes", ())):
        seen: dict[str, bool] = {}
        for path, asked in _paths(volume.get("projected", {})):
            if path in seen:
                rule = "k8s-volumes-projected-path-conflict" if asked and seen[path] else "pod-projected-path-hidden"
                yield RULES.fault(rule, ("volumes", i, "projected"), found=path)
            seen[path] = asked or seen.get(path, False)


def _paths(projected: Json) -> Iterator[tuple[str, bool]]:
    """Give each path, and whether Kubernetes asks about it."""
    for projection in projected.get("sources", ()):
        for source in projection.values():
            if "path" in source:
                yield source["path"], False
            yield from ((item.get("path", ""), True) for item in source.get("items", ()))
