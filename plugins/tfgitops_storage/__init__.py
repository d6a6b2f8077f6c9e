"""Storage: claims that exist and claims of ours, mounted where roles want them, and shared memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops import Environment, Job, Object, Patch, Problem, SchemaFragment, hookimpl, read_schema
from tfgitops_storage.shared import check_servers
from tfgitops_storage.unmounted import check_paths
from tfgitops_storage.volumes import check_volumes, claim_manifest, mounts, pod_parts, shared_memory

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

tfgitops_api = 1

CODES = {
    "STORE01": "a volume that is not declared, or not mounted where its path is named",
    "STORE02": "a volume of no kind, or of two",
    "STORE03": "a mount without a path, or at a path that is taken",
    "STORE04": "a claim that more pods want to mount than can",
    "STORE05": "shared memory that is larger than the memory",
}


@hookimpl
def tfgitops_schema() -> Iterator[SchemaFragment]:
    """Own `volumes` at the top, and `volumes` and `shm` in jobs and roles."""
    schema = read_schema(__name__)
    yield SchemaFragment("environment", "volumes", schema["volumes"])
    yield SchemaFragment("role", "volumes", schema["uses"])
    yield SchemaFragment("role", "shm", schema["shm"])


@hookimpl
def tfgitops_check_environment(environment: Environment) -> Iterator[Problem]:
    """Refuse volumes that are not declared, mounts that collide, and claims that too many pods share."""
    yield from check_volumes(environment.jobs, environment.get("volumes") or {})


@hookimpl
def tfgitops_contribute(job: Job) -> Iterator[Patch]:
    """Mount each role's volumes in its pod template, one pod volume for each claim."""
    volumes = job.environment.get("volumes") or {}
    for role, wanted in mounts(job, volumes):
        if wanted:
            pod, container = pod_parts(wanted)
            yield role.pod(pod, "volumes")
            yield role.container(container, "volumes")
        size = role.get("shm")
        if size is not None:
            pod, container = shared_memory(size)
            yield role.pod(pod, "shm")
            yield role.container(container, "shm")


@hookimpl
def tfgitops_objects(environment: Environment) -> Iterator[Object]:
    """Write the claims of ours; with the data in them, they outlive their removal from Git unless told otherwise."""
    volumes = environment.get("volumes") or {}
    for name in volumes:
        volume = volumes[name]
        if "size" in volume:
            yield Object(claim_manifest(name, volume), ("volumes", name), keep=volume.get("retain", True))


@hookimpl
def tfgitops_check_manifests(environment: Environment, manifests: tuple[Mapping[str, Any], ...]) -> Iterator[Problem]:
    """Report paths below a volume that is not mounted, and claims that a Deployment shares, whoever wrote them."""
    yield from check_paths(environment, manifests)
    yield from check_servers(environment, manifests)
