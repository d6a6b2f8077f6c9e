"""GPUs and their like: what pods with them tolerate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tfgitops import GPUS
from tfgitops.spec.schema.formats import complain
from tfgitops_gpu import tfgitops_accelerators
from tfgitops_gpu.gpurules import product_label

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfgitops.targets.kubernetes.resources import Gpu
    from tfgitops.testing import Result

TAINTS = {
    "1": "nvidia.com/gpu",
    "{resource: nvidia.com/gpu.shared}": "nvidia.com/gpu",
    "{mig: 1g.5gb}": "nvidia.com/gpu",
    "{vgpu: {number: 1}}": "nvidia.com/gpu",
    "{resource: amd.com/gpu}": "amd.com/gpu",
    "{resource: google.com/tpu}": "google.com/tpu",
    "{resource: habana.ai/gaudi}": "habana.ai/gaudi",
    "{resource: gpu.intel.com/i915}": "gpu.intel.com/i915",
}


@pytest.mark.parametrize(("gpu", "taint"), TAINTS.items())
def test_the_taint_of_the_nodes_with_the_device_is_tolerated(
    gpu: str, taint: str, compile_spec: Callable[[str], Result]
) -> None:
    result = compile_spec(f"jobs:\n  train: {{image: a, worker: {{gpu: {gpu}}}}}\n")
    assert result.ok, result.text
    [toleration] = result.pod("worker", job="train")["tolerations"]
    assert toleration == {"key": taint, "operator": "Exists", "effect": "NoSchedule"}


@pytest.mark.parametrize("gpu", GPUS, ids=lambda gpu: gpu.resource)
def test_a_row_is_all_that_a_vendor_needs(gpu: Gpu) -> None:
    assert (gpu.resource, gpu.title) in {(one.resource, one.title) for one in tfgitops_accelerators()}
    assert product_label(gpu.resource) == gpu.product_label or not gpu.product_label
    domain, _, name = gpu.resource.partition("/")
    if domain.endswith(".com"):
        vendor = domain.split(".")[-2]
        found = complain("extended-resource", f"{vendor}/{name}")
        assert found
        assert found.hint == f"write '{vendor}.com/{name}'"
