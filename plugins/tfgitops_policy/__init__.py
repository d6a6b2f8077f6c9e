"""Policy: rules of the platform team, each of which an environment switches to `audit`, `warn` or `deny`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops import Accelerator, Environment, Problem, SchemaFragment, hookimpl, read_schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

tfgitops_api = 1

CODES = {
    "POLICY01": "an image without a digest, where the policy asks for one",
    "POLICY02": "an image of a registry that the policy does not allow",
    "POLICY03": "a job with more GPUs than the policy allows",
    "POLICY04": "a job without a label that the policy requires",
    "POLICY05": "the image tag `latest`, which the policy does not allow",
    "POLICY06": "a container without a request or limit that the policy requires",
}


@hookimpl
def tfgitops_schema() -> Iterator[SchemaFragment]:
    """Own `policy` at the top."""
    yield SchemaFragment("environment", "policy", read_schema(__name__)["policy"])


@hookimpl
def tfgitops_check_manifests(
    environment: Environment, manifests: tuple[Mapping[str, Any], ...], accelerators: tuple[Accelerator, ...]
) -> Iterator[Problem]:
    """Judge the manifests as they will be applied, whoever wrote what in them."""
    if policy := environment.get("policy"):
        from tfgitops_policy.policyrules import check_policy  # noqa: PLC0415 - for those who have a policy alone

        yield from check_policy(environment, policy, manifests, accelerators)
