"""The families of GPU resources, and what one block asks of them (docs/volcano.md 8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

NVIDIA = "nvidia.com/gpu"

DEPRECATED = {"volcano.sh/gpu-memory": "volcano.sh/vgpu-memory", "volcano.sh/gpu-number": "volcano.sh/vgpu-number"}
"""Names that Volcano gave up with 1.9, and what replaced them."""

_PRODUCT_LABELS = {"nvidia.com": "nvidia.com/gpu.product", "amd.com": "amd.com/gpu.product-name"}
_SHARES = ("volcano.sh/vgpu-", "volcano.sh/gpu-")


def gpu_resources(gpu: Mapping[str, Any]) -> dict[str, str]:
    """Return the extended resources of one pod: whole numbers, the one that names the family first."""
    if vgpu := gpu.get("vgpu"):
        resources = {"volcano.sh/vgpu-number": str(vgpu.get("number", 1))}
        for key in ("memory", "cores"):
            if key in vgpu:
                resources[f"volcano.sh/vgpu-{key}"] = str(vgpu[key])
        return resources
    count = str(gpu.get("count", 1))
    if profile := gpu.get("mig"):
        return {f"nvidia.com/mig-{profile.replace('+', '.')}": count}  # as NVIDIA's device plugin names them
    return {gpu.get("resource", NVIDIA): count}


def is_nvidia(resource: str) -> bool:
    """Tell whether a resource is of NVIDIA's GPUs: whole, shared, a slice, or a share by Volcano."""
    return resource.startswith(("nvidia.com/", "volcano.sh/vgpu"))


def product_label(resource: str) -> str:
    """Return the label by which a vendor's nodes name their product, or nothing where none is known."""
    vendor = resource.partition("/")[0]
    return _PRODUCT_LABELS.get("nvidia.com" if vendor == "volcano.sh" else vendor, "")


def family(resource: str) -> str:
    """Return the family of a resource, such as ``nvidia.com/mig-*``; nothing for what is no GPU."""
    if resource.startswith("nvidia.com/mig-"):
        return "nvidia.com/mig-*"
    for share in _SHARES:
        if resource.startswith(share):
            return f"{share}*"
    name = resource.partition("/")[2]
    return resource if name == "gpu" or name.startswith(("gpu-", "gpu.")) else ""
