"""The claims of an environment, what each role mounts of them, and what is wrong with either."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from posixpath import normpath
from typing import Any, NamedTuple

from tfgitops import Job, Note, Problem, Role, Route, did_you_mean, quantity

DEFAULT_ACCESS = "ReadWriteOnce"
SHM_PATH = "/dev/shm"  # noqa: S108 - the pod's own
SHM_VOLUME = "dev-shm"

Parts = tuple[dict[str, Any], dict[str, Any]]
"""A partial PodTemplateSpec and a partial Container; roles share them, so they are not to be changed."""


class Mount(NamedTuple):
    """One volume at one path of a role's container."""

    volume: str
    claim: str
    path: str
    sub_path: str
    read_only: bool
    position: int


def access_of(volume: Mapping[str, Any]) -> str:
    """Return a volume's access mode; nothing for an existing claim that does not tell."""
    return str(volume.get("access", DEFAULT_ACCESS if "size" in volume else ""))


def claim_name(name: str, volume: Mapping[str, Any]) -> str:
    """Return the claim that a volume stands for: the one it names, or ours, named after it."""
    return str(volume.get("claim", name))


def claim_manifest(name: str, volume: Mapping[str, Any]) -> dict[str, Any]:
    """Return the claim of one block of `volumes`, with the defaults that the API server would add."""
    spec: dict[str, Any] = {
        "accessModes": [access_of(volume)],
        "resources": {"requests": {"storage": quantity.canonical(volume["size"])}},
        "volumeMode": "Filesystem",
    }
    if "storageClass" in volume:
        spec["storageClassName"] = volume["storageClass"]
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}


def mounts(job: Job, volumes: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[Role, tuple[Mount, ...]]]:
    """Yield each role of a job with what it mounts; those of a job mostly mount the same."""
    for uses, roles in groupby(job.roles, _uses):
        mounted = tuple(_mounts(uses, volumes))
        for role in roles:
            yield role, mounted


def _uses(role: Role) -> tuple[Mapping[str, Any], ...]:
    return role.get("volumes") or ()


def _mounts(uses: tuple[Mapping[str, Any], ...], volumes: Mapping[str, Mapping[str, Any]]) -> Iterator[Mount]:
    """Yield what a list of volumes says over what the volumes say themselves; unknown ones are left out."""
    for index, use in enumerate(uses):
        name = use["name"]
        if (volume := volumes.get(name)) is not None:
            path, sub_path, read_only = [use.get(key, volume.get(key)) for key in ("path", "subPath", "readOnly")]
            yield Mount(name, claim_name(name, volume), path or "", sub_path or "", bool(read_only), index)


@lru_cache(maxsize=1024)
def pod_parts(wanted: tuple[Mount, ...]) -> Parts:
    """Return what some mounts are in a pod template and in its container.

    A claim is one volume of the pod however often it is mounted: with two, the pod hangs in ContainerCreating.
    """
    names: dict[str, str] = {}
    for mount in sorted(wanted, key=lambda mount: mount.volume):
        names.setdefault(mount.claim, mount.volume)
    read_only = {claim: all(mount.read_only for mount in wanted if mount.claim == claim) for claim in names}
    volumes = [
        {
            "name": name,
            "persistentVolumeClaim": {"claimName": claim, **({"readOnly": True} if read_only[claim] else {})},
        }
        for claim, name in names.items()
    ]
    return {"spec": {"volumes": volumes}}, {"volumeMounts": [_volume_mount(names[m.claim], m) for m in wanted]}


def _volume_mount(name: str, mount: Mount) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": name, "mountPath": mount.path}
    if mount.sub_path:
        entry["subPathExpr" if "$(" in mount.sub_path else "subPath"] = mount.sub_path
    if mount.read_only:
        entry["readOnly"] = True
    return entry


@lru_cache(maxsize=1024)
def shared_memory(size: str | int) -> Parts:
    """Return what makes /dev/shm larger than its 64 MiB."""
    directory = {"medium": "Memory", "sizeLimit": quantity.canonical(size)}
    pod = {"spec": {"volumes": [{"name": SHM_VOLUME, "emptyDir": directory}]}}
    return pod, {"volumeMounts": [{"name": SHM_VOLUME, "mountPath": SHM_PATH}]}


Volumes = Mapping[str, Mapping[str, Any]]
User = tuple[Job, Role, tuple[Mount, ...]]

SINGLE = ("ReadWriteOnce", "ReadWriteOncePod")
_VOLCANO_PATH = "/etc/volcano"


def check_volumes(jobs: Iterable[Job], volumes: Volumes) -> Iterator[Problem]:
    """Report what is wrong with the volumes of an environment, and with what its jobs mount of them."""
    for name in volumes:
        yield from _check_volume(name, volumes[name])
    users = [(job, role, mounted) for job in jobs for role, mounted in mounts(job, volumes)]
    for _, role, mounted in users:
        yield from _check_role(role, mounted, volumes)
    yield from _check_access(users, volumes)


def _check_volume(name: str, volume: Mapping[str, Any]) -> Iterator[Problem]:
    at = ("volumes", name)
    if name == SHM_VOLUME:
        message = f"the name '{SHM_VOLUME}' is kept for shared memory"
        yield Problem(code="STORE02", message=message, at=at, on_key=True, hint="give the volume another name")
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


def _check_role(role: Role, mounted: tuple[Mount, ...], volumes: Volumes) -> Iterator[Problem]:
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
        path = normpath(f"///{mount.path}")  # of two slashes at the start, POSIX keeps both, of three one
        if not mount.path:
            message = f"the volume '{mount.volume}' has no path"
            yield Problem(code="STORE03", message=message, at=place, hint="add `path` to the volume")
        elif path == "/":
            message = f"'{mount.volume}' would hide the whole image"
            yield Problem(code="STORE03", message=message, at=place, found="/", hint="mount it at a folder")
        elif path == _VOLCANO_PATH or path.startswith(f"{_VOLCANO_PATH}/"):
            message = f"{path} is where Volcano mounts the hosts of the job"
            yield Problem(code="STORE03", message=message, at=place, hint="choose another path")
        elif path in taken:
            message = f"'{mount.volume}' and {taken[path]} are both mounted at {path}"
            yield Problem(code="STORE03", message=message, at=place, found=mount.path, hint="give one another path")
        taken[path] = f"'{mount.volume}'"


def _check_shm(role: Role) -> Iterator[Problem]:
    size, memory = role.get("shm"), role.get("memory") or {}
    if size is not None and "limit" in memory and quantity.parse(size) > quantity.parse(memory["limit"]):
        yield Problem(
            code="STORE05", at=(*role.route, "shm"), found=str(size), expected=f"at most {memory['limit']}",
            message=f"shm {size} of '{role.name}' is larger than its memory limit {memory['limit']}",
            hint="what lies in /dev/shm counts as memory: raise `memory`, or lower `shm`",
            notes=(Note(message="the memory limit", at=(*role.route, "memory", "limit")),),
        )  # fmt: skip


def _check_access(users: Sequence[User], volumes: Volumes) -> Iterator[Problem]:
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
            if mode not in SINGLE:
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
