"""What Kubernetes's validation says of an object beside Jobs: limits by schema, and what relates fields, by kind."""

from __future__ import annotations

from ipaddress import ip_network
from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes import names
from tfgitops.targets.kubernetes.complete import complete, object_shape
from tfgitops.targets.kubernetes.fault import Fault, Rules, show
from tfgitops.targets.kubernetes.objectkinds import is_judged
from tfgitops.targets.kubernetes.pod import judge_settled
from tfgitops.targets.kubernetes.quotanames import judge_quota
from tfgitops.targets.kubernetes.shape import Notes, settle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tfgitops.targets.routes import Json, Route

CONTENT_MAX = 1 << 20  # bytes of a ConfigMap
_BALANCED = frozenset({"LoadBalancer"})
_TYPES = {
    "allocateLoadBalancerNodePorts": _BALANCED,
    "loadBalancerClass": _BALANCED,
    "loadBalancerSourceRanges": _BALANCED,
    "externalTrafficPolicy": frozenset({"LoadBalancer", "NodePort"}),
    **dict.fromkeys(
        ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"),
        frozenset({"ClusterIP", "LoadBalancer", "NodePort"}),
    ),
}
"""The fields of a Service that only some types have."""
RULES = Rules.read("""
    k8s-deployment-selector-empty: the selector of a Deployment selects nothing | name labels of its template
    k8s-deployment-selector-mismatch: the selector does not match the labels of the template | make them equal
    k8s-deployment-restart-policy: the pods of a Deployment are always restarted, and not {found} | leave it out
    k8s-deployment-active-deadline: the pods of a Deployment have no deadline | leave it out
    k8s-deployment-progress-deadline: progressDeadlineSeconds must be more than minReadySeconds | write more
    k8s-deployment-strategy-nothing-moves: maxSurge and maxUnavailable are both 0 | let one of them be 1
    k8s-deployment-strategy-max-unavailable: maxUnavailable is {found} | write at most 100%
    k8s-config-map-two-sources: {found} stands in data and in binaryData | name it once
    k8s-config-map-too-large: a ConfigMap holds at most 1 MiB, and this one {found} bytes | put the data into a volume
    k8s-service-name: {found} is no name of a Service | use at most 63 lower-case letters, digits and '-'
    service-name-digit: {found} is no name of a Service before Kubernetes 1.36 | begin it with a letter
    k8s-service-type: {field} is not for a Service of type {found} | leave it out, or write `type: {better}`
    k8s-service-ports-required: the Service has no port | give it one
    k8s-service-ports-name-required: a Service with several ports names each | give the port a name
    k8s-service-ports-duplicate: two ports of the Service have the same {field}, {found} | change one of them
    k8s-service-headless-type: a Service of type {found} has no `clusterIP: None` | leave clusterIP out
    k8s-service-external-name: the type ExternalName needs externalName | give it
    k8s-network-policy-end-port: endPort is {found}, less than port | write at least the port
    k8s-network-policy-except: {found} is no part of {cidr} | name ranges inside of cidr
""")
WARNINGS = frozenset({"service-node-port-range"})
"""Rules whose breach may be meant."""


def shape_faults(manifest: Json) -> tuple[list[Fault], list[Route]]:
    """Return the wrong types in an object of a judged kind, and the fields that Kubernetes does not know."""
    notes = Notes()
    if is_judged(manifest):
        settle(object_shape(manifest), manifest, (), notes)
    return notes.faults, notes.pruned


def judge_object(manifest: dict[str, Any]) -> list[Fault]:
    """List what Kubernetes would refuse of an object of a judged kind."""
    if not is_judged(manifest):
        return []
    notes = Notes()
    stored = settle(object_shape(manifest), complete(manifest), (), notes)
    judge = _JUDGES.get(manifest["kind"])
    if judge is None or notes.faults or any(fault.rule not in WARNINGS for fault in notes.limits):
        return [*notes.faults, *notes.limits]
    return [*notes.limits, *judge(stored)]


def node_ports(manifest: Json) -> Iterator[tuple[str, int]]:
    """Yield the protocol and the number of each port of the nodes that a Service names."""
    if is_judged(manifest) and manifest["kind"] == "Service":
        yield from (
            (port["protocol"], port["nodePort"]) for port in manifest["spec"].get("ports", ()) if "nodePort" in port
        )


def _judge_deployment(deployment: Json) -> Iterator[Fault]:
    at: Route = ("spec",)
    spec = deployment["spec"]
    template, selector = spec["template"], spec["selector"]
    labels = template.get("metadata", {}).get("labels", {})
    if not any(selector.values()):
        yield RULES.fault("k8s-deployment-selector-empty", (*at, "selector"))
    elif not _selects(selector, labels):
        yield RULES.fault("k8s-deployment-selector-mismatch", (*at, "template", "metadata", "labels"))
    pod = template["spec"]
    if pod["restartPolicy"] != "Always":
        yield RULES.fault(
            "k8s-deployment-restart-policy", (*at, "template", "spec", "restartPolicy"), found=pod["restartPolicy"]
        )
    if "activeDeadlineSeconds" in pod:
        yield RULES.fault("k8s-deployment-active-deadline", (*at, "template", "spec", "activeDeadlineSeconds"))
    if spec["progressDeadlineSeconds"] <= spec.get("minReadySeconds", 0):
        yield RULES.fault("k8s-deployment-progress-deadline", (*at, "progressDeadlineSeconds"))
    yield from _judge_update(spec["strategy"].get("rollingUpdate", {}), (*at, "strategy", "rollingUpdate"))
    yield from (fault.below((*at, "template")) for fault in judge_settled(template))


def _judge_update(update: Json, at: Route) -> Iterator[Fault]:
    if update and not any(int(str(update[key]).removesuffix("%") or 0) for key in ("maxSurge", "maxUnavailable")):
        yield RULES.fault("k8s-deployment-strategy-nothing-moves", at)
    most = str(update.get("maxUnavailable", ""))
    if most.endswith("%") and int(most[:-1]) > 100:  # noqa: PLR2004 - per cent
        yield RULES.fault("k8s-deployment-strategy-max-unavailable", (*at, "maxUnavailable"), found=most)


def _selects(selector: Json, labels: Json) -> bool:
    """Tell whether a label selector matches some labels."""
    wanted = selector.get("matchLabels", {})
    return all(labels.get(key) == value for key, value in wanted.items()) and all(
        _holds(one, labels.get(one["key"])) for one in selector.get("matchExpressions", ())
    )


def _holds(requirement: Json, value: str | None) -> bool:
    operator: str = requirement["operator"]
    values = [*requirement.get("values", ())]
    if operator in ("In", "NotIn"):
        return (value in values) == (operator == "In")
    return (value is None) != (operator == "Exists")


def _judge_config_map(config: Json) -> Iterator[Fault]:
    data, binary = config.get("data", {}), config.get("binaryData", {})
    for key in data.keys() & binary.keys():
        yield RULES.fault("k8s-config-map-two-sources", ("data", key), found=show(key))
    size = sum(len(text.encode()) for text in data.values()) + sum(
        len(text) * 3 // 4 - text.count("=") for text in binary.values()
    )
    if size > CONTENT_MAX:
        yield RULES.fault("k8s-config-map-too-large", ("data",), found=size)


def _judge_service(service: Json) -> Iterator[Fault]:
    name, spec = service["metadata"]["name"], service["spec"]
    kind, ports, headless = spec["type"], spec.get("ports", ()), spec.get("clusterIP") == "None"
    if not names.is_dns1035(name):
        rule = "service-name-digit" if names.is_dns_label(name) else "k8s-service-name"
        yield RULES.fault(rule, ("metadata", "name"), found=show(name))
    for field, types in _TYPES.items():
        if field in spec and kind not in types and not (kind == "ClusterIP" and "externalIPs" in spec):
            yield RULES.fault("k8s-service-type", ("spec", field), field=field, found=kind, better=min(types))
    if kind == "ExternalName" and "externalName" not in spec:
        yield RULES.fault("k8s-service-external-name", ("spec", "externalName"))
    if not ports and not headless and kind != "ExternalName":
        yield RULES.fault("k8s-service-ports-required", ("spec", "ports"))
    if headless and kind != "ClusterIP":
        yield RULES.fault("k8s-service-headless-type", ("spec", "clusterIP"), found=kind)
    yield from _judge_ports(kind, ports)


def _judge_ports(kind: str, ports: Sequence[Json]) -> Iterator[Fault]:
    seen: set[tuple[Any, ...]] = set()
    for index, port in enumerate(ports):
        at = ("spec", "ports", index)
        if len(ports) > 1 and "name" not in port:
            yield RULES.fault("k8s-service-ports-name-required", (*at, "name"))
        if "nodePort" in port and kind == "ClusterIP":
            yield RULES.fault("k8s-service-type", (*at, "nodePort"), field="nodePort", found=kind, better="NodePort")
        for field in ("name", "port", "nodePort"):
            key = (field, port.get(field), "" if field == "name" else port["protocol"])
            if field in port and key in seen:
                yield RULES.fault("k8s-service-ports-duplicate", (*at, field), field=field, found=show(port[field]))
            seen.add(key)


def _judge_network_policy(policy: Json) -> Iterator[Fault]:
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(policy.get("spec", {}).get(direction, ())):
            at = ("spec", direction, index)
            for i, port in enumerate(rule.get("ports", ())):
                if isinstance(port.get("port"), int) and port.get("endPort", port["port"]) < port["port"]:
                    yield RULES.fault(
                        "k8s-network-policy-end-port", (*at, "ports", i, "endPort"), found=port["endPort"]
                    )
            for i, peer in enumerate(rule.get(peers, ())):
                yield from _judge_block(peer.get("ipBlock", {}), (*at, peers, i, "ipBlock"))


def _judge_block(block: Json, at: Route) -> Iterator[Fault]:
    for i, text in enumerate(block.get("except", ())):
        if names.is_cidr(text) and names.is_cidr(block["cidr"]):
            inner, outer = ip_network(text, strict=False), ip_network(block["cidr"], strict=False)
            if inner.version != outer.version or inner == outer or not _is_below(inner, outer):
                yield RULES.fault("k8s-network-policy-except", (*at, "except", i), found=show(text), cidr=block["cidr"])


def _is_below(inner: Any, outer: Any) -> bool:
    return bool(inner.subnet_of(outer))


_JUDGES: dict[str, Callable[[Json], Iterator[Fault]]] = {
    "ConfigMap": _judge_config_map, "Deployment": _judge_deployment, "NetworkPolicy": _judge_network_policy,
    "ResourceQuota": judge_quota, "Service": _judge_service,
}  # fmt: skip
