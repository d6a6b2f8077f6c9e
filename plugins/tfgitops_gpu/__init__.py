"""GPU requests: whole GPUs of any vendor, MIG slices and Volcano's vGPUs, and the nodes that have them."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tfgitops import GPUS, Accelerator, Environment, Job, Patch, Problem, SchemaFragment, hookimpl, read_schema
from tfgitops_gpu.gpurules import NVIDIA, check_containers, check_gpu, gpu_resources, is_nvidia, product_label

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

_HIDDEN = {"env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}]}
"""Without it a CPU role on a GPU node sees all GPUs, through its image's own environment."""


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
    asked = [(role, role.get("gpu")) for role in job.roles]
    nvidia = next((role for role, gpu in asked if gpu and is_nvidia(next(iter(gpu_resources(gpu))))), None)
    for role, gpu in asked:
        if gpu:
            resources = gpu_resources(gpu)
            yield role.container({"resources": {"requests": resources, "limits": resources}}, "gpu")
            yield role.pod(_placement(next(iter(resources)), gpu.get("product")), "gpu")
        elif nvidia:
            yield Patch(("container", role.name), _HIDDEN, (*nvidia.route, "gpu"))


@hookimpl
def tfgitops_accelerators() -> Iterator[Accelerator]:
    """Count whole GPUs, slices and shares."""
    yield from (Accelerator(gpu.resource, gpu.title) for gpu in GPUS)
    yield Accelerator("*/gpu", "GPUs")  # of other vendors
    yield Accelerator("*/gpu.*", "GPUs")  # and shared ones, such as nvidia.com/gpu.shared


@hookimpl
def tfgitops_check_manifests(environment: Environment, manifests: tuple[Mapping[str, Any], ...]) -> Iterator[Problem]:
    """Refuse containers that mix families of GPU, however they came by them."""
    for manifest in manifests:
        if job := environment.job_of(manifest):
            yield from check_containers(job, manifest)


@lru_cache(maxsize=1024)
def _placement(resource: str, product: str | None) -> dict[str, Any]:
    """Return a partial pod template that tolerates the taint of GPU nodes, and chooses those with the product.

    Nodes with any kind of NVIDIA's have one taint; those of others are tainted by the name of their resource
    (`google.com/tpu`, `amd.com/gpu`, `habana.ai/gaudi`).
    """
    taint = NVIDIA if is_nvidia(resource) else resource
    spec: dict[str, Any] = {"tolerations": [{"key": taint, "operator": "Exists", "effect": "NoSchedule"}]}
    if product is not None and (label := product_label(resource)):
        spec["nodeSelector"] = {label: product}
    return {"spec": spec}
