"""The summary of a job: its pods, amounts, images and bases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tfgitops.planning.policies import end_of
from tfgitops.provenance.sources import writings
from tfgitops.targets.kubernetes import quantity
from tfgitops.targets.kubernetes.resources import pod_requests

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfgitops.planning.plan import Planned
    from tfgitops.provenance.origins import Origin, Provenance
    from tfgitops.spec.diagnostics import Span
    from tfgitops.spec.model import Job, Role
    from tfgitops.spec.places import Places


@dataclass(frozen=True, kw_only=True)
class Part:
    """One role of a job: its pods, and the amounts that each of them requests, by resource."""

    name: str
    pods: int
    requests: Mapping[str, str]
    images: tuple[str, ...]
    span: Span


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A job in short.

    ``bases`` are the jobs and defaults that it starts from, the strongest first. ``counted`` are the roles whose
    replicas count for the name of the Job, because all pods of the cluster get their addresses. ``end`` says when the
    job ends, as the end of a sentence.
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
    end: str
    parts: tuple[Part, ...]
    total: Mapping[str, str]
    counted: tuple[str, ...]


def summarize(planned: Planned, job: Job, provenance: Provenance) -> Summary:
    """Return the summary of a planned job."""
    places, spec = job.environment.places, planned.manifest["spec"]
    pods = [(role, task["template"]["spec"]) for role, task in zip(job.roles, spec["tasks"], strict=True)]
    total: dict[str, int] = {}
    for role, pod in pods:
        for resource, amount in pod_requests(pod).items():
            total[resource] = total.get(resource, 0) + amount * role.replicas
    bases = [link for link in places.chains.get(job.name, ()) if link != job.route]
    return Summary(
        job=job.name,
        object=planned.manifest["metadata"]["name"],
        namespace=job.environment.namespace,
        span=places.span(job.route, on_key=True),
        bases=tuple(
            (f"{'from ' if link[0] == 'jobs' else ''}{link[-1]}", one.document.span(link, on_key=True))
            for link in bases
            for one in writings(places, link)
        ),
        strategy=job.strategy,
        why=job.why,
        strategy_span=places.span((*job.route, "strategy")) if "strategy" in job.data else None,
        queue=spec["queue"],
        queue_origin=provenance.winners(planned, ("spec", "queue"))[0],
        pods=sum(role.replicas for role in job.roles),
        min_available=job.min_available,
        end=end_of(job, spec),
        parts=tuple(_part(role, pod, places) for role, pod in pods),
        total=_amounts(total),
        counted=tuple(role.name for role in job.roles if role.in_cluster) if job.strategy != "none" else (),
    )


def _part(role: Role, pod: Mapping[str, Any], places: Places) -> Part:
    containers = [*(pod.get("initContainers") or ()), *(pod.get("containers") or ())]
    return Part(
        name=role.name, pods=role.replicas, requests=_amounts(pod_requests(pod)),
        images=tuple(dict.fromkeys(container["image"] for container in containers if "image" in container)),
        span=places.span(role.route, on_key=True),
    )  # fmt: skip


def _amounts(amounts: Mapping[str, int]) -> dict[str, str]:
    """Return amounts as Kubernetes writes them: cores and memory first, then the others by name."""
    first = ("cpu", "memory")
    names = [*(name for name in first if name in amounts), *sorted(amounts.keys() - set(first))]
    binary = ("memory", "ephemeral-storage")
    return {name: quantity.write(amounts[name], style="i" if name in binary else "") for name in names}
