"""RDMA: adapters for a role's pods, the network that they are reached by, and the right to pin memory for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops import SchemaFragment, hookimpl, read_schema
from tfgitops_rdma.rules import check_blocks, check_nodes, check_pods

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfgitops import Environment, Job, Patch, Problem

tfgitops_api = 1

CODES = {
    "RDMA01": "a network without its name, or a name without its network",
    "RDMA02": "more adapters than GPUs to feed",
    "RDMA03": "more pods on their nodes' network than there are nodes",
    "RDMA04": "pods on their nodes' network, and no nodes declared to count",
    "RDMA05": "adapters in a pod without any accelerator",
    "RDMA06": "an overlay that takes from a pod what its adapters need",
}


@hookimpl
def tfgitops_schema() -> Iterator[SchemaFragment]:
    """Own `rdma` in jobs and roles."""
    yield SchemaFragment("role", "rdma", read_schema(__name__)["rdma"])


@hookimpl
def tfgitops_check_environment(environment: Environment) -> Iterator[Problem]:
    """Refuse blocks that say half of what they must, and jobs that cannot have a node for each pod."""
    for job in environment.jobs:
        for role in job.roles:
            if rdma := role.get("rdma"):
                yield from check_blocks(role, rdma)
        yield from check_nodes(job)


@hookimpl
def tfgitops_contribute(job: Job) -> Iterator[Patch]:
    """Ask for the adapters, connect the pods, and let the program pin memory, which RDMA cannot do without."""
    for role in job.roles:
        if (rdma := role.get("rdma")) is None:
            continue
        adapters = {rdma.get("resource", "rdma/hca"): str(rdma.get("hcas", 1))}
        yield role.container({"resources": {"requests": adapters, "limits": adapters}}, "rdma")
        yield role.container({"securityContext": {"capabilities": {"add": ["IPC_LOCK"]}}}, "rdma")
        if rdma.get("network", "host") == "host":
            yield role.pod({"spec": {"hostNetwork": True}}, "rdma")
        elif name := rdma.get("networkName"):
            yield role.pod({"metadata": {"annotations": {"k8s.v1.cni.cncf.io/networks": name}}}, "rdma")


@hookimpl
def tfgitops_check_manifests(environment: Environment, manifests: tuple[Mapping[str, Any], ...]) -> Iterator[Problem]:
    """Warn of adapters without accelerators, and of overlays that take away what adapters need."""
    for manifest in manifests:
        if job := environment.job_of(manifest):
            yield from check_pods(job, manifest)
