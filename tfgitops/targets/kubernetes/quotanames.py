"""Resources of a ResourceQuota: what Kubernetes counts by which name, and what it asks of amounts and scopes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfgitops.targets.kubernetes import names
from tfgitops.targets.kubernetes.fault import Fault, Rules, show
from tfgitops.targets.kubernetes.quantity import NANO, parse
from tfgitops.targets.kubernetes.resources import HUGE, is_extended

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops.targets.routes import Json

_COUNTED = frozenset({
    "pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims",
    "services.nodeports", "services.loadbalancers",
})  # fmt: skip
_MEASURED = frozenset({"cpu", "memory", "ephemeral-storage"})
_HARD = (
    _COUNTED | _MEASURED | {"requests.storage"} | {f"{of}.{one}" for of in ("requests", "limits") for one in _MEASURED}
)
"""The resources of a quota that Kubernetes knows by a name without a domain."""
_OF_PODS = {"pods"} | {f"{of}{one}" for of in ("", "requests.", "limits.") for one in ("cpu", "memory")}
_OF_CLAIMS = {"persistentvolumeclaims", "requests.storage"}
RULES = Rules.read("""
    k8s-quota-name: {found} is not a resource of a quota | write requests.cpu, limits.memory, pods or requests.DEVICE
    quota-counts-nothing: a quota of {found} counts nothing | write {better}
    k8s-quota-min: {resource} is below zero | write 0 or more
    k8s-quota-whole-number, quota-whole-number: {resource} is counted in whole pieces | write a whole number
    k8s-quota-scopes: the scopes {found} exclude each other | keep one of the two
    k8s-quota-scope-resource: the scope {scope} is not for {found} | write another quota for it
""")


def name_fault(resource: str) -> Fault | None:
    """Return what is wrong with the name of a resource in a quota, or nothing."""
    if not names.is_qualified_name(resource) or not ("/" in resource or _is_known(resource)):
        return RULES.fault("k8s-quota-name", (), found=show(resource))
    plain = resource.removeprefix("limits.")
    if is_extended(resource) and not resource.startswith("requests.") and not _counts(resource):
        return RULES.fault("quota-counts-nothing", (), found=resource, better=f"requests.{plain}")
    return None


def judge_quota(quota: Json) -> Iterator[Fault]:
    """Judge the names, the amounts and the scopes of a quota."""
    for resource, amount in quota.get("spec", {}).get("hard", {}).items():
        at = ("spec", "hard", resource)
        if fault := name_fault(resource):
            yield fault.below(at)
        if parse(amount) < 0:
            yield RULES.fault("k8s-quota-min", at, resource=resource)
        elif parse(amount) % NANO and (resource in _COUNTED or is_extended(resource.removeprefix("requests."))):
            rule = "quota-whole-number" if resource.startswith("requests.") else "k8s-quota-whole-number"
            yield RULES.fault(rule, at, resource=resource)
    yield from _judge_scopes(quota.get("spec", {}))


def _judge_scopes(spec: Json) -> Iterator[Fault]:
    chosen = [one["scopeName"] for one in spec.get("scopeSelector", {}).get("matchExpressions", ())]
    for at, scopes in (("scopes", spec.get("scopes", [])), ("scopeSelector", chosen)):
        for one in {"BestEffort", "Terminating"} & {*scopes}:
            if f"Not{one}" in scopes:
                yield RULES.fault("k8s-quota-scopes", ("spec", at), found=f"{one} and Not{one}")
        for scope in scopes:
            fits = _OF_CLAIMS if scope == "VolumeAttributesClass" else _OF_PODS if scope != "BestEffort" else {"pods"}
            for resource in spec.get("hard", {}):
                if _is_known(resource) and resource not in fits:
                    yield RULES.fault("k8s-quota-scope-resource", ("spec", at), found=resource, scope=scope)


def _counts(resource: str) -> bool:
    """Tell whether a quota counts by a name with a domain that is no device's."""
    return resource.startswith("count/") or ".storageclass.storage.k8s.io/" in resource


def _is_known(resource: str) -> bool:
    return resource in _HARD or resource.removeprefix("requests.").startswith(HUGE)
