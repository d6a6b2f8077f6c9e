"""What a schema cannot say of RDMA: what belongs together, and what fits the GPUs, the nodes and the overlays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops import Note, Problem, is_extended

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfgitops import Job, Role

NETWORKS = "k8s.v1.cni.cncf.io/networks"


def check_blocks(role: Role, rdma: Mapping[str, Any]) -> Iterator[Problem]:
    """Check one block by itself, and against the role's GPUs."""
    at = (*role.route, "rdma")
    network, name = rdma.get("network", "host"), rdma.get("networkName")
    if network == "multus" and not name:
        message = "the network 'multus' needs the name of a NetworkAttachmentDefinition"
        yield Problem(code="RDMA01", message=message, at=(*at, "network"), hint="add `networkName: NAME`")
    if network == "host" and name:
        message = f"the pods are on their nodes' network, and not on '{name}'"
        hint = "write `network: multus`, or leave `networkName` out"
        yield Problem(code="RDMA01", message=message, at=(*at, "networkName"), hint=hint)
    gpus, hcas = whole_gpus(role), rdma.get("hcas", 1)
    if gpus and hcas > gpus:
        yield Problem(
            code="RDMA02",
            message=f"{_count(hcas, 'adapter')} for {_count(gpus, 'GPU')}: the others would be taken and idle",
            at=(*at, "hcas"),
            found=str(hcas),
            expected=f"at most {gpus}",
            hint="one adapter for each GPU is as many as NCCL uses",
            notes=(Note(message="the GPUs of each pod", at=(*role.route, "gpu")),),
        )


def check_nodes(job: Job) -> Iterator[Problem]:
    """Check that each pod on its node's network can have a node of its own: all listen on one port."""
    roles = [role for role in job.roles if on_host(role)]
    pods = sum(role.replicas for role in roles)
    if pods <= 1:
        return
    at = job.written(roles[0], ("rdma", "network"), ("rdma",))
    needs = f"the job '{job.name}' has {pods} pods that listen on port {job.port} of their nodes, so each needs a node"
    pools = job.environment.get("nodes")
    if not pools:
        yield Problem(
            code="RDMA04",
            severity="warning",
            message=f"{needs}; whether there are as many is not known",
            at=at,
            on_key=True,
            hint="declare the cluster's `nodes`, so that it is checked, or write `network: multus`",
        )
        return
    there = sum(pool["count"] for pool in pools.values())
    needed = sum(role.min_available for role in roles if not role.get("dependsOn"))
    if needed > there:
        yield Problem(
            code="RDMA03",
            message=f"{needs}, and there are {there}",
            at=at,
            on_key=True,
            found=_count(needed, "pod"),
            expected=f"at most {there}",
            hint="write `network: multus`, or let fewer pods have more GPUs each",
        )


def check_pods(job: Job, manifest: Mapping[str, Any]) -> Iterator[Problem]:
    """Check the pods as they will be, with whatever other plugins and overlays made of them."""
    for role, task in zip(job.roles, manifest["spec"]["tasks"], strict=True):
        if rdma := role.get("rdma"):
            yield from _check_pod(job, role, rdma, task["template"])


def _check_pod(job: Job, role: Role, rdma: Mapping[str, Any], template: Mapping[str, Any]) -> Iterator[Problem]:
    at = (*role.route, "rdma")
    container, resource = template["spec"]["containers"][0], rdma.get("resource", "rdma/hca")
    limits = container.get("resources", {}).get("limits", {})
    if not any(name != resource and is_extended(name) for name in limits):
        message = f"the pods of '{role.name}' have adapters and no accelerator"
        hint = "add `gpu: N`, or leave `rdma` to the roles that have GPUs"
        yield Problem(code="RDMA05", severity="warning", message=message, at=at, on_key=True, hint=hint)
    added = container.get("securityContext", {}).get("capabilities", {}).get("add", ())
    if "IPC_LOCK" not in added and "ALL" not in added:
        where = ("container", "securityContext", "capabilities", "add")
        yield _taken(job, role, where, "the capability IPC_LOCK", "add IPC_LOCK to the list")
    if on_host(role):
        if not template["spec"].get("hostNetwork"):
            hint = "leave `hostNetwork` out of the overlay, or write `network: multus`"
            yield _taken(job, role, ("pod", "spec", "hostNetwork"), "hostNetwork", hint)
        return
    name, networks = rdma["networkName"], template.get("metadata", {}).get("annotations", {}).get(NETWORKS, "")
    if name not in networks:
        where = ("pod", "metadata", "annotations", NETWORKS)
        yield _taken(job, role, where, f"the network '{name}'", f"name '{name}' there, too")


def _taken(job: Job, role: Role, where: tuple[str, ...], what: str, hint: str) -> Problem:
    return Problem(
        code="RDMA06",
        message=f"an overlay takes {what} from the pods of '{role.name}', which their adapters need",
        at=job.written(role, where, ("rdma",)),
        hint=hint,
        notes=(Note(message="the adapters", at=(*role.route, "rdma")),),
    )


def on_host(role: Role) -> bool:
    """Tell whether a role's pods are on their nodes' network because of its block."""
    rdma = role.get("rdma")
    return rdma is not None and rdma.get("network", "host") == "host"


def whole_gpus(role: Role) -> int:
    """Count the whole GPUs that the gpu plugin's block asks for; 0 where there is none, or only slices and shares."""
    gpu = role.get("gpu") or {}
    return int(gpu.get("count", 0 if "mig" in gpu or "vgpu" in gpu else 1)) if gpu else 0


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
