"""The families of GPU resources, and the rules for what a role asks of them (docs/volcano.md 8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops import GPUS, Job, Note, Problem, Role, quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NVIDIA = "nvidia.com/gpu"

DEPRECATED = {"volcano.sh/gpu-memory": "volcano.sh/vgpu-memory", "volcano.sh/gpu-number": "volcano.sh/vgpu-number"}
"""Names that Volcano gave up with 1.9, and what replaced them."""

_PRODUCT_LABELS = {gpu.resource.partition("/")[0]: gpu.product_label for gpu in GPUS if gpu.product_label}
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


_MIB = 2**20 * quantity.NANO
_MEMORY_MAX = 2**31 - 1


def check_gpu(role: Role, gpu: Mapping[str, Any]) -> Iterator[Problem]:
    """Report what is wrong with one role's block."""
    at = (*role.route, "gpu")
    kinds = [key for key in ("resource", "mig", "vgpu") if key in gpu]
    if len(kinds) > 1 or ("vgpu" in kinds and "count" in gpu):
        both = " and ".join(kinds if len(kinds) > 1 else ["count", "vgpu"])
        further = "; vgpu has its own `number`" if "vgpu" in kinds else ""
        hint = f"keep one: a container has GPUs of one family{further}"
        yield Problem(code="GPU01", message=f"'gpu' of '{role.name}' has {both}", at=at, hint=hint)
        return
    vgpu = gpu.get("vgpu") or {}
    if "memory" in vgpu:
        yield from _check_memory(vgpu["memory"], (*at, "vgpu", "memory"))
    if "product" in gpu:
        yield from _check_product(role, gpu, (*at, "product"))


def _check_product(role: Role, gpu: Mapping[str, Any], at: tuple[str | int, ...]) -> Iterator[Problem]:
    resource = next(iter(gpu_resources(gpu)))
    label = product_label(resource)
    chosen = (role.get("nodeSelector") or {}).get(label, gpu["product"])
    if not label:
        message = f"the nodes of {resource.partition('/')[0]} have no label that is known to name a product"
        yield Problem(code="GPU05", message=message, at=at, hint="choose the nodes by `nodeSelector`")
    elif chosen != gpu["product"]:
        note = Note(message="the other choice", at=(*role.route, "nodeSelector", label))
        message = f"'product' of '{role.name}' wants {gpu['product']} nodes, and 'nodeSelector' {chosen} nodes"
        yield Problem(code="GPU06", message=message, at=at, hint="keep one of the two", notes=(note,))


def _check_memory(memory: Any, at: tuple[str | int, ...]) -> Iterator[Problem]:
    if isinstance(memory, int):
        if not 0 < memory <= _MEMORY_MAX:
            message = f"{memory} MiB of memory does not fit the scheduler's 32-bit number"
            yield Problem(code="GPU02", message=message, at=at, found=str(memory), expected=f"1 to {_MEMORY_MAX} MiB")
        return
    hint = "write a plain number of MiB"
    if memory.isdigit():
        hint = f"write {memory}, without quotes"
    elif quantity.explain(memory) is None and quantity.parse(memory) > 0:
        hint = f"write {max(1, quantity.parse(memory) // _MIB)}, which is {memory} in MiB"
    yield Problem(
        code="GPU02", message=f"the memory of a virtual GPU is a plain number of MiB, not {memory!r}", at=at,
        found=str(memory), expected="an integer, in MiB", hint=hint,
    )  # fmt: skip


def check_containers(job: Job, manifest: Mapping[str, Any]) -> Iterator[Problem]:
    """Report containers of a planned Job with resources that no node can give together."""
    for role, task in zip(job.roles, manifest["spec"]["tasks"], strict=True):
        spec = task["template"]["spec"]
        for container in (*spec["containers"], *spec.get("initContainers", ())):
            limits = container.get("resources", {}).get("limits") or {}
            if devices := [name for name in sorted(limits) if family(name)]:
                yield from _check_families(job, role, devices)


def _check_families(job: Job, role: Role, devices: list[str]) -> Iterator[Problem]:
    for name in devices:
        if instead := DEPRECATED.get(name):
            message = f"{name} is deprecated since Volcano 1.9"
            hint = f"write {instead}, or `gpu: {{vgpu: …}}`"
            at = _place(job, role, name)
            yield Problem(code="GPU04", message=message, at=at, found=name, expected=instead, hint=hint)
    families = {family(name): name for name in devices}
    if len(families) > 1:
        places = {name: _place(job, role, name) for name in families.values()}
        blamed = max(places, key=lambda name: len(places[name]))  # an overlay, rather than the gpu block
        other = next(name for name in places if name != blamed)
        message = f"a container of '{role.name}' asks for {' and '.join(places)}"
        hint = "keep one family: the device plugins know nothing of each other, so no node can give both"
        note = Note(message=f"{other} is asked for here", at=places[other])
        yield Problem(code="GPU03", message=message, at=places[blamed], hint=hint, notes=(note,))


def _place(job: Job, role: Role, resource: str) -> tuple[str | int, ...]:
    """Point at the overlay that brought a resource in, or at the gpu block."""
    overlays = [("container", "resources", bound, resource) for bound in ("limits", "requests")]
    return job.written(role, *overlays, ("gpu",))
