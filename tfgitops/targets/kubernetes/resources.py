"""Resources of containers: what a pod requests of its node, and what Kubernetes asks of names, amounts and limits."""

from __future__ import annotations

from collections import Counter
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from tfgitops.targets.kubernetes import names, quantity
from tfgitops.targets.kubernetes.containers import containers_of
from tfgitops.targets.kubernetes.fault import Fault, Rules, show
from tfgitops.targets.kubernetes.quantity import NANO, parse
from tfgitops.targets.nearest import nearest
from tfgitops.targets.routes import leaves

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tfgitops.targets.routes import Json, Route

_FAMILY = "k8s-container-resources"
_SIDES = ("limits", "requests")
_AMOUNTS = frozenset({"requests", "limits", "capability", "deserved", "resource", "hard"})


class Gpu(NamedTuple):
    """A resource of accelerators, with ``*`` for any text, and the label by which nodes name the product."""

    resource: str
    title: str
    product_label: str = ""


GPUS = (
    Gpu("nvidia.com/gpu", "NVIDIA GPUs", "nvidia.com/gpu.product"),
    Gpu("amd.com/gpu", "AMD GPUs", "amd.com/gpu.product-name"),
    Gpu("nvidia.com/mig-*", "MIG slices"),
    Gpu("volcano.sh/vgpu-number", "virtual GPUs"),
    Gpu("gpu.intel.com/i915", "Intel GPUs"),
    Gpu("gpu.intel.com/xe", "Intel GPUs"),
    Gpu("google.com/tpu", "TPUs"),
    Gpu("huawei.com/Ascend910", "Ascend NPUs"),
    Gpu("huawei.com/Ascend310", "Ascend NPUs"),
    Gpu("huawei.com/Ascend310P", "Ascend NPUs"),
    Gpu("habana.ai/gaudi", "Gaudi accelerators"),
    Gpu("aws.amazon.com/neuron", "Neuron devices"),
    Gpu("aws.amazon.com/neuroncore", "Neuron cores"),
    Gpu("cambricon.com/mlu", "MLUs"),
    Gpu("hygon.com/dcu", "DCUs"),
)
"""The resources of the known device plugins; a new vendor is a row here, and nothing else."""

NATIVE = frozenset({"cpu", "memory", "ephemeral-storage"})
HUGE = "hugepages-"
RULES = Rules.read("""
    k8s-container-resources-qualified-name: {found} is not a legal name of a resource | write name or example.com/name
    k8s-container-resources-resource-unknown:
        {found} is no resource of a container
        | use cpu, memory, ephemeral-storage, hugepages-SIZE or a device like nvidia.com/gpu
    k8s-container-resources-resource-not-extended:
        {found} cannot be the name of a device | use the name that its driver gives
    k8s-container-resources-min: {resource} is below zero | write 0 or more
    k8s-container-resources-whole-number: {resource} is counted in whole pieces | write a whole number
    resource-beyond-counting: {resource} is more than Kubernetes can count | write less
    k8s-container-resources-page-multiple:
        {resource} must be a whole number of pages of that size | write a multiple of {page}
    k8s-container-resources-hugepages-alone: huge pages need cpu or memory beside them | give cpu and memory too
    k8s-container-resources-limit-missing:
        {resource} cannot be shared out twice, so it needs a limit | give limits {resource}: {request}
    k8s-container-resources-request-not-limit:
        {resource} cannot be shared out twice, so its request ({request}) must be its limit ({limit}) | make them equal
    k8s-container-resources-request-over-limit:
        the request for {resource} ({request}) is above its limit ({limit}) | lower it, or raise the limit
    amount-slip: {found} of {resource} is next to nothing | {remedy}
    amount-device:
        no known device plugin offers {found}: a pod that asks for it would wait forever | did you mean {near}?
    k8s-container-resources-claims-unknown-reference: the pod has no resource claim {found} | declare it
""")


@lru_cache(maxsize=1024)
def near_device(resource: str) -> str:
    """Return the known device whose name a resource's nearly is: in other case, a plural, with turned letters."""
    known = [gpu.resource for gpu in GPUS] if "/" in resource else []
    for one in known:
        if fnmatchcase(resource.lower(), one.lower()):
            right = one.replace("*", resource[len(one) - 1 :])
            return "" if right == resource else right
    named_alike = [one for one in known if one.endswith(resource[resource.find("/") :])]
    return nearest(resource.removesuffix("s"), known, cutoff=1) or nearest(resource, named_alike, cutoff=0.92)


def claimed_devices(spec: Json, replicas: int) -> int:
    """Return how many devices some pods ask for by resource claims (DRA), at least: one for each claim.

    A template makes a claim for each pod. All pods share a claim that is named.
    """
    return sum(replicas if "resourceClaimTemplateName" in one else 1 for one in spec.get("resourceClaims") or ())


def pod_requests(spec: Json, *sides: str) -> dict[str, int]:
    """Return the effective requests of a PodSpec by resource, in nanos of its unit, or with "limits" its limits.

    Containers and native sidecars run together; other init containers run one after another before them, beside the
    sidecars that started earlier. A limit without a request counts as the request. (Kubernetes, *Sidecar containers*,
    resource sharing within containers.)
    """
    running, most = Counter[str](), Counter[str]()
    for container in spec.get("initContainers") or ():
        needs = _requests(container, sides or _SIDES)
        if container.get("restartPolicy") == "Always":
            running.update(needs)
            _raise(most, running)
        else:
            _raise(most, {name: running[name] + amount for name, amount in needs.items()})
    for container in spec.get("containers") or ():
        running.update(_requests(container, sides or _SIDES))
    _raise(running, most)
    return dict(running)


def _requests(container: Json, sides: Iterable[str]) -> dict[str, int]:
    """Return the amounts of a container, those of later sides over those of earlier ones."""
    resources = container.get("resources") or {}
    wanted = {name: amount for side in sides for name, amount in (resources.get(side) or {}).items()}
    return {name: quantity.parse(amount) for name, amount in wanted.items()}


def unnamed_resources(container: Json, resources: Iterable[str]) -> list[str]:
    """Return the resources of a quota, such as ``requests.cpu``, that a container has no amount of.

    As in Kubernetes, a limit counts as the request.
    """
    given = container.get("resources") or {}
    limits = {*(given.get("limits") or {})}
    named = {"limits": limits, "requests": limits | {*(given.get("requests") or {})}}
    parts = {resource: resource.rpartition(".") for resource in resources}
    return [resource for resource, (side, _, name) in parts.items() if name not in named[side or "requests"]]


def _raise(total: Counter[str], amounts: Mapping[str, int]) -> None:
    for name, amount in amounts.items():
        total[name] = max(total[name], amount)


def judge_resources(spec: Json) -> Iterator[Fault]:
    """Judge the resources of all containers."""
    claims = {claim.get("name") for claim in spec.get("resourceClaims", ())}
    for at, container in containers_of(spec):
        if "resources" in container:
            yield from _judge_container(container["resources"], claims, (*at, "resources"))


@lru_cache(maxsize=1024)
def is_extended(resource: str) -> bool:
    """Tell whether a resource is a device's: counted in whole pieces, and never overcommitted."""
    domain, slash, _ = resource.partition("/")
    return bool(slash) and not domain.endswith("kubernetes.io")


def is_countable(nanos: int) -> bool:
    """Tell whether Kubernetes can count an amount of devices, which it does in thousandths and 64 bits."""
    return abs(nanos) // NANO * 1000 < 1 << 63


def _judge_container(resources: Json, claims: set[str], at: Route) -> Iterator[Fault]:
    requests, limits = resources.get("requests", {}), resources.get("limits", {})
    for side, amounts in (("limits", limits), ("requests", requests)):
        for resource, amount in amounts.items():
            if rule := _name_rule(resource):
                yield RULES.fault(rule, (*at, side, resource), found=show(resource))
            yield from _judge_amount(resource, parse(amount), (*at, side, resource))
    for resource, amount in requests.items():
        yield from _judge_request(resource, amount, limits.get(resource), (*at, "requests", resource))
    given = {**requests, **limits}
    if any(resource.startswith(HUGE) for resource in given) and not given.keys() & {"cpu", "memory"}:
        yield RULES.fault(f"{_FAMILY}-hugepages-alone", at)
    for i, claim in enumerate(resources.get("claims", ())):
        if claim.get("name") not in claims:
            rule = f"{_FAMILY}-claims-unknown-reference"
            yield RULES.fault(rule, (*at, "claims", i), found=claim.get("name"))


@lru_cache(maxsize=1024)
def _name_rule(resource: str) -> str:
    """Return the rule that a resource's name breaks, or nothing."""
    if not names.is_qualified_name(resource):
        return f"{_FAMILY}-qualified-name"
    if "/" not in resource and resource not in NATIVE and not resource.startswith(HUGE):
        return f"{_FAMILY}-resource-unknown"
    for_quotas = f"requests.{resource}"  # which name a device so, too
    if is_extended(resource) and (resource.startswith("requests.") or not names.is_qualified_name(for_quotas)):
        return f"{_FAMILY}-resource-not-extended"
    return ""


def _judge_amount(resource: str, amount: int, at: Route) -> Iterator[Fault]:
    if amount < 0:
        yield RULES.fault(f"{_FAMILY}-min", at, resource=resource)
    elif is_extended(resource) and amount % NANO:
        yield RULES.fault(f"{_FAMILY}-whole-number", at, resource=resource)
    elif is_extended(resource) and not is_countable(amount):
        yield RULES.fault("resource-beyond-counting", at, resource=resource)
    elif resource.startswith(HUGE):
        size = resource.removeprefix(HUGE)
        page = 0 if quantity.explain(size) else parse(size)
        if page <= 0 or amount % page:
            yield RULES.fault(f"{_FAMILY}-page-multiple", at, resource=resource, page=size)


def judge_amounts(value: Any) -> Iterator[Fault]:
    """Find amounts and names of devices that are surely a slip, each once if request and limit are equal."""
    seen = set()
    for at, amount in leaves(value):
        resource = str(at[-1]) if {*at[-2:-1]} & _AMOUNTS or at[-1:] == ("sizeLimit",) else ""
        resource = resource.removeprefix("requests.").removeprefix("limits.")  # in a quota
        nanos = parse(amount) if resource and not quantity.explain(amount) else 0  # a plugin's object may hold anything
        if (at[:-2], resource, nanos) in seen:
            continue
        seen.add((at[:-2], resource, nanos))
        if near := near_device(resource):
            yield RULES.fault("amount-device", at, found=resource, near=near)
        if quantity.is_slip(resource, nanos):
            meant = quantity.meant(amount) if quantity.style_of(resource) else ""
            remedy = f"did you mean {meant}?" if meant else "write it with its unit, as in 500m cores or 10Gi"
            yield RULES.fault("amount-slip", at, found=amount, resource=resource, remedy=remedy)


def _judge_request(resource: str, request: str, limit: str | None, at: Route) -> Iterator[Fault]:
    strict = is_extended(resource) or resource.startswith(HUGE)
    words: dict[str, Any] = {"resource": resource, "request": request, "limit": limit}
    if limit is None:
        if strict:
            yield RULES.fault(f"{_FAMILY}-limit-missing", at, **words)
    elif strict and parse(request) != parse(limit):
        yield RULES.fault(f"{_FAMILY}-request-not-limit", at, found=request, expected=str(limit), **words)
    elif parse(request) > parse(limit):
        yield RULES.fault(f"{_FAMILY}-request-over-limit", at, found=request, expected=f"at most {limit}", **words)
