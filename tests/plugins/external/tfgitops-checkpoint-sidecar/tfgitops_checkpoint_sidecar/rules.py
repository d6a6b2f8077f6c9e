"""What a schema cannot say of checkpoints."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tfgitops import Note, Problem, did_you_mean, duration
from tfgitops_checkpoint_sidecar.sync import within

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tfgitops import Route
    from tfgitops_checkpoint_sidecar.sync import Sync

_BUCKET = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:/[A-Za-z0-9!_.*'-]+)*/?\Z")
_REFERENCE = re.compile(r"\$\(([^()\s]+)\)")
_KNOWN = ("RUN", "TASK_TYPE", "TASK_INDEX")
_LEAST = {"every": 10, "grace": 30}
"""In seconds: stores charge for each look at a bucket, and Kubernetes itself gives a pod half a minute."""


def check_store(said: Mapping[str, Any], at: Route) -> Iterator[Problem]:
    """Report what is wrong with the keys that a store and a role have in common."""
    if "bucket" in said and not _BUCKET.match(said["bucket"]):
        bucket = said["bucket"]
        scheme, slashes, rest = bucket.partition("://")
        hint = "write s3://BUCKET, or s3://BUCKET/FOLDER, with the bucket in lower case"
        if not slashes and _BUCKET.match(f"s3://{bucket}"):
            hint = f"write s3://{bucket}"
        elif slashes and scheme != "s3" and _BUCKET.match(f"s3://{rest}"):
            hint = f"write s3://{rest}, and name the `endpoint` at which the store speaks S3"
        message = f"'{bucket}' is not an address of S3"
        yield Problem(code="CKPT05", message=message, at=(*at, "bucket"), expected="s3://BUCKET/FOLDER", hint=hint)
    for key, least in _LEAST.items():
        if key in said and duration.seconds(said[key]) < least:
            what = "often" if key == "every" else "little time for the last sync"
            message = f"`{key}: {said[key]}` is too {what}"
            hint = f"write {least}s, or longer"
            yield Problem(code="CKPT06", message=message, at=(*at, key), expected=f"{least}s or more", hint=hint)


def check_sync(sync: Sync) -> Iterator[Problem]:
    """Report what is wrong with the `checkpoints` of one role."""
    yield from check_store(sync.said, sync.at())
    stores = sync.job.environment.get("checkpoints") or {}
    name = sync.said.get("store")
    if name is not None and name not in stores:
        message = f"the store '{name}' is not declared"
        hint = did_you_mean(name, list(stores)) or f"declare it: `checkpoints: {{{name}: {{bucket: …, secret: …}}}}`"
        yield Problem(code="CKPT01", message=message, at=sync.at("store"), found=name, hint=hint)
    else:
        yield from _check_complete(sync)
    yield from _check_mount(sync)
    yield from _check_variables(sync)


def _check_complete(sync: Sync) -> Iterator[Problem]:
    for key, example in (("bucket", "s3://BUCKET/FOLDER"), ("secret", "NAME")):
        if not sync.get(key):
            message = f"the checkpoints of '{sync.role.name}' have no {key}"
            hint = f"add `{key}: {example}` here, or name a `store` that has one"
            yield Problem(code="CKPT02", message=message, at=sync.at(), on_key=True, hint=hint)


def _check_mount(sync: Sync) -> Iterator[Problem]:
    name, role, path = sync.said["volume"], sync.role.name, sync.said.get("path")
    mounts = [mount.path for mount in sync.mounts]
    if not mounts:
        used = [use["name"] for use in sync.role.get("volumes") or ()]
        message = f"'{role}' does not mount the volume '{name}', whose checkpoints it should sync"
        hint = did_you_mean(name, used) or f"add it: `volumes: [{', '.join([*used, name])}]`"
        yield Problem(code="CKPT03", message=message, at=sync.at("volume"), found=name, hint=hint)
    elif (mount := sync.mount) is None:
        if path is None:
            message = f"'{role}' mounts '{name}' at {' and '.join(mounts)}"
            yield Problem(code="CKPT04", message=message, at=sync.at("volume"), hint="say which of them is `path`")
        else:
            message = f"{path} is not in the volume '{name}'"
            hint = f"name a folder below {mounts[0]}, or leave it out"
            yield Problem(code="CKPT04", message=message, at=sync.at("path"), expected=" or ".join(mounts), hint=hint)
    elif mount.read_only:
        message = f"'{role}' mounts '{name}' for reading only, and so writes no checkpoints there"
        hint = "drop `readOnly`, or put `checkpoints` into the role that writes them"
        notes = (Note(message="mounted here", at=(*sync.role.route, "volumes")),)
        yield Problem(code="CKPT03", message=message, at=sync.at("volume"), hint=hint, notes=notes)


def _check_variables(sync: Sync) -> Iterator[Problem]:
    for key in ("path", "prefix"):
        for name in _REFERENCE.findall(sync.said.get(key, "")):
            if name not in _KNOWN:
                message = f"$({name}) has no value in the sidecar"
                hint = did_you_mean(name, _KNOWN) or "it knows $(RUN), $(TASK_TYPE) and $(TASK_INDEX)"
                yield Problem(code="CKPT08", message=message, at=sync.at(key), found=f"$({name})", hint=hint)


def check_places(syncs: Iterable[Sync]) -> Iterator[Problem]:
    """Report pods that sync to one folder, or one to a folder in another's: each would delete what is not its own."""
    known: list[tuple[str, Sync]] = []
    for sync in syncs:
        if not sync.get("bucket"):
            continue
        place, role = _place(sync), sync.role
        if role.replicas > 1 and "$(TASK_INDEX)" not in sync.destination:
            message = f"{role.replicas} pods of '{role.name}' would sync to {sync.destination}"
            hint = "add $(TASK_INDEX) to `prefix`, or move `checkpoints` into the role that writes them"
            yield _problem(sync, message, hint)
        for other, first in known:
            if within(place, other) or within(other, place):
                who = f"'{first.role.name}' of '{first.job.name}'"
                message = f"'{role.name}' of '{sync.job.name}' would sync to {sync.destination}, as {who} does"
                missing = "$(TASK_TYPE)" if first.job.name == sync.job.name else "$(RUN)"
                hint = f"add {missing} to `prefix`, or give one of them another"
                yield _problem(sync, message, hint, Note(message=f"{who} syncs to {first.destination}", at=first.at()))
                break
        known.append((place, sync))


def _place(sync: Sync) -> str:
    """Return where a role syncs to, the same for two roles if, and only if, it is the same for their first pods."""
    place = sync.destination.replace("$(RUN)", f"{sync.job.name}\0").replace("$(TASK_TYPE)", sync.role.name)
    return place.replace("$(TASK_INDEX)", "0")


def _problem(sync: Sync, message: str, hint: str, *notes: Note) -> Problem:
    return Problem(code="CKPT07", message=message, at=sync.at(), on_key=True, hint=hint, notes=notes)
