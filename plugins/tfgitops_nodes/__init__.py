"""Nodes: whether every pod fits a node of the pools that the environment declares, and every gang fits the pools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops import Environment, Problem, SchemaFragment, hookimpl, near_device, quantity, read_schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfgitops import Route

tfgitops_api = 1

CODES = {
    "NODES01": "a pod that selects nodes which no pool has",
    "NODES02": "a pod that is larger than any node it may run on",
    "NODES03": "a gang that has no room on the nodes it may run on",
}


@hookimpl
def tfgitops_schema() -> Iterator[SchemaFragment]:
    """Own `nodes` at the top."""
    yield SchemaFragment("environment", "nodes", read_schema(__name__)["nodes"])


@hookimpl
def tfgitops_check_manifests(environment: Environment, manifests: tuple[Mapping[str, Any], ...]) -> Iterator[Problem]:
    """Refuse pods and gangs that have no room on the nodes: they would wait forever."""
    if nodes := environment.get("nodes"):
        for name, pool in nodes.items():
            for at, message, hint in _slips(pool):
                yield Problem(
                    code="NODES02", message=message, at=("nodes", name, *at), on_key=len(at) > 1, severity="warning",
                    hint=hint,
                )  # fmt: skip
        from tfgitops_nodes.roomrules import check_jobs  # noqa: PLC0415 - for those who declare nodes alone

        yield from check_jobs(environment, nodes, manifests)


def _slips(pool: Mapping[str, Any]) -> Iterator[tuple[Route, str, str]]:
    for key in ("cpu", "memory"):
        if quantity.is_slip(key, quantity.parse(amount := pool.get(key, 0))):
            yield (key,), f"{amount} of {key} on each node is next to nothing", "write it with its unit, as in 960Gi"
    for resource in pool.get("accelerators") or ():
        if near := near_device(resource):
            yield ("accelerators", resource), f"no known device plugin offers {resource}", f"did you mean {near}?"
