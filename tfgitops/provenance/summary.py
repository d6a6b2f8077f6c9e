"""One job in short: what it is called and why, how TensorFlow distributes it, and what its gang asks of the cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfgitops.provenance.sources import writings
from tfgitops.targets.kubernetes import quantity
from tfgitops.targets.kubernetes.resources import pod_requests

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfgitops.planning.plan import Planned
    from tfgitops.provenance.origins import Origin, Provenance
    from tfgitops.spec.diagnostics import Span
    from tfgitops.spec.model import Environment, Job, Role


@dataclass(frozen=True, kw_only=True)
class Part:
    """One role of a job: its pods, and what each of them asks for, by resource."""

    name: str
    pods: int
    requests: Mapping[str, str]
    images: tuple[str, ...]
    span: Span


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A job in short; ``bases`` are what it starts from, each with its place, the strongest first.

    ``counted`` are the roles whose replicas make its name, since the others of the cluster are told their hosts.
    """

    job: str
    object: str
    namespace: str
    span: Span
    bases: tuple[tuple[str, Span], ...]
    strategy: str
    why: str
    strategy_span: Span | None
    queue: str
    queue_origin: Origin
    pods: int
    min_available: int
    parts: tuple[Part, ...]
    total: Mapping[str, str]
    counted: tuple[str, ...]


def summarize(planned: Planned, job: Job, provenance: Provenance) -> Summary:
    """Return a planned job in short."""
    environment, spec = job.environment, planned.manifest["spec"]
    places = environment.places
    pairs = list(zip(job.roles, spec["tasks"], strict=True))
    total: dict[str, int] = {}
    for role, task in pairs:
        for resource, amount in pod_requests(task["template"]["spec"]).items():
            total[resource] = total.get(resource, 0) + amount * role.replicas
    return Summary(
        job=job.name,
        object=planned.manifest["metadata"]["name"],
        namespace=environment.namespace,
        span=places.span(job.route, on_key=True),
        bases=tuple(_bases(job, environment)),
        strategy=job.strategy,
        why=job.why,
        strategy_span=places.span((*job.route, "strategy")) if "strategy" in job.data else None,
        queue=spec["queue"],
        queue_origin=provenance.winner(planned, ("spec", "queue")),
        pods=sum(role.replicas for role in job.roles),
        min_available=job.min_available,
        parts=tuple(_part(role, task["template"]["spec"], environment) for role, task in pairs),
        total=_written(total),
        counted=tuple(role.name for role in job.roles if role.in_cluster) if job.strategy != "none" else (),
    )


def _bases(job: Job, environment: Environment) -> list[tuple[str, Span]]:
    """List what a job starts from: other jobs, then the defaults of each file."""
    places = environment.places
    chain = [link for link in places.chains.get(job.name, ()) if link != job.route]
    return [
        (f"{'from ' if link[0] == 'jobs' else ''}{link[-1]}", one.document.span(link, on_key=True))
        for link in chain
        for one in writings(places, link)
    ]


def _part(role: Role, pod: Mapping[str, object], environment: Environment) -> Part:
    containers: list[Mapping[str, str]] = [*_containers(pod, "initContainers"), *_containers(pod, "containers")]
    return Part(
        name=role.name,
        pods=role.replicas,
        requests=_written(pod_requests(pod)),
        images=tuple(dict.fromkeys(container["image"] for container in containers if "image" in container)),
        span=environment.places.span(role.route, on_key=True),
    )


def _containers(pod: Mapping[str, object], key: str) -> list[Mapping[str, str]]:
    found = pod.get(key) or []
    assert isinstance(found, list)
    return found


def _written(amounts: Mapping[str, int]) -> dict[str, str]:
    """Write amounts as Kubernetes does, cores and memory first, then the others by name."""
    first = ("cpu", "memory")
    names = [*(name for name in first if name in amounts), *sorted(amounts.keys() - set(first))]
    binary = ("memory", "ephemeral-storage")
    return {name: quantity.write(amounts[name], style="i" if name in binary else "") for name in names}
