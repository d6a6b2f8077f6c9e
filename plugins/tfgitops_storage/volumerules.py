"""What a schema cannot say of volumes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from tfgitops import Job, Note, Problem, Role, Route, did_you_mean, quantity
from tfgitops_storage.mounts import SHM_PATH, SHM_VOLUME, Mount, access_of, claim_name

Volumes = Mapping[str, Mapping[str, Any]]
User = tuple[Job, Role, tuple[Mount, ...]]

_SINGLE = ("ReadWriteOnce", "ReadWriteOncePod")
_SMALL = 2**20 * quantity.NANO
_VOLCANO_PATH = "/etc/volcano"


def check_volume(name: str, volume: Mapping[str, Any]) -> Iterator[Problem]:
    """Report a volume that is no claim, or two at once."""
    at = ("volumes", name)
    if name == SHM_VOLUME:
        message = f"the name '{SHM_VOLUME}' is kept for shared memory"
        yield Problem(code="STORE02", message=message, at=at, on_key=True, hint="give the volume another name")
    if "size" in volume and 0 < quantity.parse(volume["size"]) < _SMALL:
        size = volume["size"]
        message = f"{size} is {size} bytes" if str(size).isdigit() else f"{size} is less than a megabyte"
        meant = quantity.meant(size)
        hint = f"did you mean {meant}?" if meant else "write it with its unit, as in 10Gi"
        yield Problem(code="STORE02", severity="warning", message=message, at=(*at, "size"), found=str(size), hint=hint)
    if "claim" in volume and "size" in volume:
        message = f"the volume '{name}' has both `claim` and `size`"
        hint = "keep `claim` for a claim that exists, `size` for one of ours; null removes an inherited one: `size: ~`"
        yield Problem(code="STORE02", message=message, at=(*at, "size"), hint=hint)
    elif "claim" not in volume and "size" not in volume:
        message = f"the volume '{name}' has neither `claim` nor `size`"
        hint = "add `claim: NAME` for a claim that exists, or `size: 10Gi` for one of ours"
        yield Problem(code="STORE02", message=message, at=at, on_key=True, hint=hint)
    elif "claim" in volume:
        for key in ("storageClass", "retain"):
            if key in volume:
                message = f"'{key}' of the volume '{name}' means nothing for a claim that exists"
                yield Problem(code="STORE02", message=message, at=(*at, key), hint="leave it out")


def check_role(role: Role, mounted: tuple[Mount, ...], volumes: Volumes) -> Iterator[Problem]:
    """Report unknown volumes, mounts without a path, and paths that are taken."""
    at, uses = (*role.route, "volumes"), role.get("volumes") or ()
    if len(mounted) < len(uses):
        yield from _check_names(uses, volumes, at)
    for problem in _check_paths(mounted, role.get("shm") is not None):
        yield replace(problem, at=(*at, *problem.at))
    yield from _check_shm(role)


def _check_names(uses: Sequence[Mapping[str, Any]], volumes: Volumes, at: Route) -> Iterator[Problem]:
    for index, use in enumerate(uses):
        if use["name"] not in volumes:
            declare = f"declare it at the top: `volumes: {{{use['name']}: {{claim: …}}}}`"
            hint = did_you_mean(use["name"], volumes, among="the volumes are", otherwise=declare)
            message = f"the volume '{use['name']}' is not declared"
            yield Problem(code="STORE01", message=message, at=(*at, index, "name"), found=use["name"], hint=hint)


@lru_cache(maxsize=1024)
def _check_paths(mounted: tuple[Mount, ...], shm: bool) -> tuple[Problem, ...]:  # noqa: FBT001 - a key
    """List what is wrong with the paths of some mounts, each at the index of its mount: most roles have the same."""
    return tuple(_judge_paths(mounted, {SHM_PATH: "shared memory"} if shm else {}))


def _judge_paths(mounted: tuple[Mount, ...], taken: dict[str, str]) -> Iterator[Problem]:
    for mount in mounted:
        place = (mount.position,)
        path = mount.path.rstrip("/") or "/"
        if not mount.path:
            message = f"the volume '{mount.volume}' has no path"
            yield Problem(code="STORE03", message=message, at=place, hint="add `path` to the volume")
        elif path == "/":
            message = f"'{mount.volume}' would hide the whole image"
            yield Problem(code="STORE03", message=message, at=place, found="/", hint="mount it at a folder")
        elif path == _VOLCANO_PATH or path.startswith(f"{_VOLCANO_PATH}/"):
            message = f"{mount.path} is where Volcano mounts the hosts of the job"
            yield Problem(code="STORE03", message=message, at=place, hint="choose another path")
        elif path in taken:
            message = f"'{mount.volume}' and {taken[path]} are both mounted at {path}"
            yield Problem(code="STORE03", message=message, at=place, found=mount.path, hint="give one another path")
        taken[path] = f"'{mount.volume}'"


def _check_shm(role: Role) -> Iterator[Problem]:
    size, memory = role.get("shm"), role.get("memory") or {}
    if size is None:
        return
    if quantity.parse(size) < _SMALL:
        meant = quantity.meant(size)
        yield Problem(
            code="STORE05", severity="warning", at=(*role.route, "shm"), found=str(size),
            message=f"shm {size} of '{role.name}' is less than a megabyte, and holds next to nothing",
            hint=f"did you mean {meant}?" if meant else "write it with its unit, as in 2Gi",
        )  # fmt: skip
    if "limit" in memory and quantity.parse(size) > quantity.parse(memory["limit"]):
        yield Problem(
            code="STORE05", at=(*role.route, "shm"), found=str(size), expected=f"at most {memory['limit']}",
            message=f"shm {size} of '{role.name}' is larger than its memory limit {memory['limit']}",
            hint="what lies in /dev/shm counts as memory: raise `memory`, or lower `shm`",
            notes=(Note(message="the memory limit", at=(*role.route, "memory", "limit")),),
        )  # fmt: skip


def check_access(users: Sequence[User], volumes: Volumes) -> Iterator[Problem]:
    """Report claims that more pods mount than their access mode lets."""
    modes = {claim_name(name, volume): access_of(volume) for name, volume in volumes.items() if access_of(volume)}
    if not modes:
        return
    pods: dict[tuple[str, str], int] = defaultdict(int)
    for job, role, mounted in users:
        for claim in {mount.claim for mount in mounted}:
            pods[job.name, claim] += role.replicas
    first: dict[str, tuple[Job, Role, int]] = {}
    shared = set()
    for job, role, mounted in users:
        for claim, mount in {mount.claim: mount for mount in mounted if mount.claim in modes}.items():
            mode, place = modes[claim], (*role.route, "volumes", mount.position)
            if mode == "ReadOnlyMany" and not mount.read_only:
                message = f"'{mount.volume}' is ReadOnlyMany, and '{role.name}' mounts it for writing"
                yield Problem(code="STORE04", message=message, at=place, hint="add `readOnly: true`")
            if mode not in _SINGLE:
                continue
            if (number := pods.pop((job.name, claim), 0)) > 1:  # said once, where the first role mounts it
                yield _too_many(mount.volume, mode, number, place)
            here = (job, role, mount.position)
            if first.setdefault(claim, here)[0] is not job and claim not in shared:
                shared.add(claim)
                yield _shared(claim, mode, first[claim], here)


def _too_many(volume: str, mode: str, pods: int, at: tuple[str | int, ...]) -> Problem:
    return Problem(
        code="STORE04", message=f"'{volume}' is {mode}, and {pods} pods of the job mount it", at=at,
        found=f"{pods} pods", expected="1 pod", hint="they would hang on different nodes: use ReadWriteMany",
        notes=(Note(message="the volume", at=("volumes", volume)),),
    )  # fmt: skip


def _shared(claim: str, mode: str, first: tuple[Job, Role, int], other: tuple[Job, Role, int]) -> Problem:
    job, role, index = other
    return Problem(
        code="STORE04", severity="warning", at=(*role.route, "volumes", index),
        message=f"the claim '{claim}' is {mode}, and the jobs '{first[0].name}' and '{job.name}' both mount it",
        hint="the second waits until the first is done, unless they share a node: use ReadWriteMany",
        notes=(Note(message="mounted here too", at=(*first[1].route, "volumes", first[2])),),
    )  # fmt: skip
