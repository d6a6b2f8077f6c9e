"""GPU requests: whole GPUs of any vendor, MIG slices and Volcano's vGPUs, and the nodes that have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops import (
    Accelerator,
    Environment,
    Job,
    Patch,
    Problem,
    Role,
    SchemaFragment,
    hookimpl,
    read_schema,
)
from tfgitops_gpu.families import NVIDIA, family, gpu_resources, product_label
from tfgitops_gpu.rules import check_containers, check_gpu

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

tfgitops_api = 1

CODES = {
    "GPU01": "a gpu block asks for two kinds of GPU at once",
    "GPU02": "an amount of a virtual GPU is not a plain number",
    "GPU03": "one container has resources of two families of GPU",
    "GPU04": "a resource name that Volcano gave up",
    "GPU05": "no label is known by which the nodes of a vendor name their product",
    "GPU06": "a product and a node selector that no node satisfies together",
}


@hookimpl
def tfgitops_schema() -> Iterator[SchemaFragment]:
    """Own `gpu` in jobs and roles."""
    yield SchemaFragment("role", "gpu", read_schema(__name__)["gpu"])


@hookimpl
def tfgitops_check_environment(environment: Environment) -> Iterator[Problem]:
    """Refuse blocks that ask for two things at once."""
    for job in environment.jobs:
        for role in job.roles:
            if gpu := role.get("gpu"):
                yield from check_gpu(role, gpu)


@hookimpl
def tfgitops_contribute(job: Job) -> Iterator[Patch]:
    """Put GPUs into requests and limits alike, and send the pods to nodes that have them."""
    nvidia = next((role for role in job.roles if _is_nvidia(role)), None)
    for role in job.roles:
        gpu = role.get("gpu")
        if gpu:
            resources = gpu_resources(gpu)
            yield role.container({"resources": {"requests": resources, "limits": resources}}, "gpu")
            yield role.pod({"spec": _placement(gpu, next(iter(resources)))}, "gpu")
        elif nvidia:
            # Without it a CPU role on a GPU node sees all GPUs, through its image's own environment.
            hidden = {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}
            yield Patch(("container", role.name), {"env": [hidden]}, (*nvidia.route, "gpu"))


@hookimpl
def tfgitops_accelerators() -> Iterator[Accelerator]:
    """Count whole GPUs, slices and shares."""
    yield Accelerator("nvidia.com/gpu", "NVIDIA GPUs")
    yield Accelerator("amd.com/gpu", "AMD GPUs")
    yield Accelerator("nvidia.com/mig-*", "MIG slices")
    yield Accelerator("volcano.sh/vgpu-number", "virtual GPUs")


@hookimpl
def tfgitops_check_manifests(environment: Environment, manifests: tuple[Mapping[str, Any], ...]) -> Iterator[Problem]:
    """Refuse containers that mix families of GPU, however they came by them."""
    jobs = {job.name: job for job in environment.jobs}
    for manifest in manifests:
        if job := jobs.get((manifest["metadata"].get("labels") or {}).get("tfgitops/job", "")):
            yield from check_containers(job, manifest)


def _placement(gpu: Mapping[str, Any], resource: str) -> dict[str, Any]:
    """Tolerate the taint that marks GPU nodes, and choose those with the right product."""
    taint = NVIDIA if family(resource) != resource else resource
    spec: dict[str, Any] = {"tolerations": [{"key": taint, "operator": "Exists", "effect": "NoSchedule"}]}
    if "product" in gpu and (label := product_label(resource)):
        spec["nodeSelector"] = {label: gpu["product"]}
    return spec


def _is_nvidia(role: Role) -> bool:
    gpu = role.get("gpu")
    return bool(gpu) and next(iter(gpu_resources(gpu))).startswith(("nvidia.com/", "volcano.sh/vgpu"))
