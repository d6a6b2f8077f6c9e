"""Rdma: declared once for an environment, named by jobs, and told to their pods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfgitops import (
    Object,
    Problem,
    SchemaFragment,
    did_you_mean,
    hookimpl,
    read_schema,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops import Environment, Job, Patch

tfgitops_api = 1

CODES = {
    "RDMA01": "a `rdma` that is not declared",
}


@hookimpl
def tfgitops_schema() -> Iterator[SchemaFragment]:
    """Own `rdmas` at the top, and `rdma` in jobs."""
    schema = read_schema(__name__)
    yield SchemaFragment("environment", "rdmas", schema["rdmas"])
    yield SchemaFragment("job", "rdma", schema["rdma"])


@hookimpl
def tfgitops_check_environment(environment: Environment) -> Iterator[Problem]:
    """Refuse a `rdma` that is not declared."""
    declared = environment.get("rdmas") or {}
    for job in environment.jobs:
        name = job.get("rdma")
        if name and name not in declared:
            hint = did_you_mean(name, declared)
            yield Problem(
                code="RDMA01",
                message=f"the rdma '{name}' is not declared",
                at=(*job.route, "rdma"),
                found=name,
                hint=hint or f"declare it: `rdmas: {{{name}: CONTACT}}`",
            )


@hookimpl
def tfgitops_contribute(job: Job) -> Iterator[Patch]:
    """Label the job and its pods, and tell the program in a variable."""
    if name := job.get("rdma"):
        label = {"metadata": {"labels": {"example.com/rdma": name}}}
        variable = {"env": [{"name": "RDMA", "value": name}]}
        yield job.patch(label, "rdma")
        for role in job.roles:
            yield role.pod(label, "rdma")
            yield role.container(variable, "rdma")


@hookimpl
def tfgitops_objects(environment: Environment) -> Iterator[Object]:
    """Write what is declared into the cluster, one ConfigMap for each."""
    for name, block in (environment.get("rdmas") or {}).items():
        manifest = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": f"rdma-{name}"},
            "data": {"contact": block["contact"]},
        }
        yield Object(manifest, ("rdmas", name))
