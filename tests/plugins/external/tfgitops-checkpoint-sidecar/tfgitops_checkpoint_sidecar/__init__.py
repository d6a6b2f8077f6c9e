"""Checkpoint sidecar: a volume of a role is synced to object storage while it trains, and once more when it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops import Object, SchemaFragment, hookimpl, read_schema
from tfgitops_checkpoint_sidecar.rules import check_places, check_store, check_sync
from tfgitops_checkpoint_sidecar.sidecar import config_map, pod
from tfgitops_checkpoint_sidecar.sync import syncs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfgitops import Environment, Job, Patch, Problem

tfgitops_api = 1

CODES = {
    "CKPT01": "`checkpoints` to a store that is not declared",
    "CKPT02": "`checkpoints` without a bucket or a Secret",
    "CKPT03": "`checkpoints` of a volume that the role does not mount for writing",
    "CKPT04": "`checkpoints` of a path that is not in the volume",
    "CKPT05": "a bucket that is not an s3:// address",
    "CKPT06": "`checkpoints` too often, or with too little time for the last sync",
    "CKPT07": "two pods whose checkpoints would overwrite each other's",
    "CKPT08": "`checkpoints` with a variable that has no value",
}


@hookimpl
def tfgitops_schema() -> Iterator[SchemaFragment]:
    """Own `checkpoints` at the top, for stores, and in jobs and roles."""
    schema = read_schema(__name__)
    stores, role = schema["stores"], schema["checkpoints"]
    store = _with(schema, stores["additionalProperties"])
    yield SchemaFragment("environment", "checkpoints", {**stores, "additionalProperties": store})
    yield SchemaFragment("role", "checkpoints", _with(schema, role))


def _with(schema: Mapping[str, Any], block: Mapping[str, Any]) -> dict[str, Any]:
    """Return a block with what both a store and a role may say."""
    properties = {**block["properties"], **schema["shared"]}
    return {**block, "properties": properties, "x-hints": {**schema["hints"], **block.get("x-hints", {})}}


@hookimpl
def tfgitops_check_environment(environment: Environment) -> Iterator[Problem]:
    """Refuse what would sync nothing, or two things to one place."""
    for name, store in (environment.get("checkpoints") or {}).items():
        yield from check_store(store, ("checkpoints", name))
    found = [sync for job in environment.jobs for sync in syncs(job)]
    for sync in found:
        yield from check_sync(sync)
    yield from check_places(sync for sync in found if not sync.job.pin)


@hookimpl
def tfgitops_contribute(job: Job) -> Iterator[Patch]:
    """Put the sidecar beside the training container of each role that has `checkpoints`."""
    for sync in syncs(job):
        yield sync.role.pod(pod(sync), "checkpoints")


@hookimpl
def tfgitops_objects(environment: Environment) -> Iterator[Object]:
    """Write each configuration once, however many jobs have it; what pinned jobs need is kept without us."""
    for job in environment.jobs:
        if not job.pin:
            for sync in syncs(job):
                yield Object(config_map(sync), sync.because)
