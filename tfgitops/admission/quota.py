"""What the jobs ask of the quota of their namespace: one alone, all together, and pods that a quota refuses."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Any

from tfgitops.planning.gang import gang_pods
from tfgitops.spec.diagnostics import Note, Problem, a_few
from tfgitops.targets.kubernetes import quantity
from tfgitops.targets.kubernetes.containers import containers_of
from tfgitops.targets.kubernetes.quantity import NANO
from tfgitops.targets.kubernetes.resources import pod_requests, unnamed_resources
from tfgitops.targets.volcano.tasks import replicas_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tfgitops.planning.plan import Planned
    from tfgitops.spec.model import Environment
    from tfgitops.targets.routes import Route

    Needs = Mapping[str, int]

_REQUIRED = frozenset(f"{of}{one}" for of in ("", "requests.", "limits.") for one in ("cpu", "memory"))
"""The resources that every container must name where a quota counts them."""


def check_quota(environment: Environment, objects: Iterable[Planned]) -> Iterator[Problem]:
    """Yield a problem for each job that the namespace's quota never lets run, and one where not all fit together."""
    hard = environment.data["namespace"].get("quota") or {}
    limits = {name: quantity.parse(amount) for name, amount in hard.items() if not quantity.explain(amount)}
    if not limits:
        return
    together: dict[str, dict[str, int]] = {name: {} for name in limits}
    for planned in objects:
        manifest = planned.manifest
        if manifest["kind"] == "Job" and (job := environment.job_of(manifest)):
            at, name, who, tasks = job.route, job.name, f"the gang of '{job.name}'", manifest["spec"]["tasks"]
            gang = gang_pods(manifest)
        elif manifest["kind"] == "Deployment" and manifest["metadata"].get("namespace") == environment.namespace:
            at, name = planned.because, f"deployment/{manifest['metadata']['name']}"
            who, tasks = name, [{**manifest["spec"], "name": "its pod"}]
            gang = [replicas_of(tasks[0])]
        else:
            continue
        least = _needs(zip(tasks, gang, strict=True), limits)
        for resource, amount in _needs(((task, replicas_of(task)) for task in tasks), limits).items():
            together[resource][name] = amount
            if least[resource] > limits[resource]:
                yield _never(at, who, resource, least[resource], limits[resource])
        yield from _unnamed(at, name, tasks, limits)
    for resource, shares in together.items():
        if shares and sum(shares.values()) > limits[resource] >= max(shares.values()):
            yield _crowded(resource, shares, limits[resource])


def _needs(tasks: Iterable[tuple[Mapping[str, Any], int]], limits: Needs) -> Counter[str]:
    """Return how much of each limited resource some pods of some tasks count for, in nanos."""
    total = Counter(dict.fromkeys(limits, 0))
    for task, pods in tasks:
        spec = task["template"]["spec"]
        asked = {f"requests.{name}": amount for name, amount in pod_requests(spec).items()}
        asked |= {name.removeprefix("requests."): amount for name, amount in asked.items() if "/" not in name}
        asked |= {f"limits.{name}": amount for name, amount in pod_requests(spec, "limits").items()}
        asked["pods"] = NANO
        for resource in limits:
            total[resource] += asked.get(resource, 0) * pods
    return total


def _never(at: Route, who: str, resource: str, needs: int, limit: int) -> Problem:
    wanted, most = _shown(needs, resource), _shown(limit, resource)
    return Problem(
        code="TF309", at=at, on_key=True, found=wanted, expected=f"at most {most}",
        message=f"{who} needs {wanted} {resource}, and the quota of the namespace is {most}",
        hint="Kubernetes would refuse some of its pods forever: ask for less, or raise the quota",
        notes=(Note(message="the quota", at=("namespace", "quota", resource)),),
    )  # fmt: skip


def _crowded(resource: str, shares: Needs, limit: int) -> Problem:
    total, most = _shown(sum(shares.values()), resource), _shown(limit, resource)
    largest = sorted((name for name in shares if shares[name]), key=lambda name: (-shares[name], name))
    return Problem(
        code="TF309", severity="warning", at=("namespace", "quota", resource), found=most, expected=f"at least {total}",
        message=f"all pods together ask for {total} {resource}, more than the quota: {a_few(largest, 3)}",
        hint="Kubernetes refuses pods above a quota, and a gang that lacks one waits: let a queue hold the jobs back "
             "with a `capability` within the quota, or raise the quota",
    )  # fmt: skip


def _unnamed(at: Route, name: str, tasks: Iterable[Mapping[str, Any]], limits: Needs) -> Iterator[Problem]:
    """Find the resources that a quota counts and a container does not name."""
    lacking: dict[str, set[str]] = {}
    for task in tasks:
        for _, container in containers_of(task["template"]["spec"]):
            for resource in unnamed_resources(container, sorted(_REQUIRED & limits.keys())):
                lacking.setdefault(resource, set()).add(task["name"])
    if lacking:
        resources, roles = ", ".join(lacking), sorted({*chain(*lacking.values())})
        yield Problem(
            code="TF310", severity="warning", at=at, on_key=True, found=f"none in {a_few(roles, 3)}",
            message=f"the quota counts {resources}, and containers of '{name}' do not say how much",
            hint="Kubernetes refuses such pods, unless a LimitRange of the namespace fills it in: give them "
                 "`cpu` and `memory`, as in `cpu: 4`, which is the request and the limit",
            notes=(Note(message="the quota", at=("namespace", "quota", next(iter(lacking)))),),
        )  # fmt: skip


def _shown(amount: int, resource: str) -> str:
    return quantity.show(amount, resource.removeprefix("requests.").removeprefix("limits."))
