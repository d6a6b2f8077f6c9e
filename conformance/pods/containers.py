"""The shell script that makes the roots of a pod's containers and becomes its process 1."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .expansion import expand
from .variables import SECRET, config_map_fault, untold, variables

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .job import Job, Json
    from .variables import Place

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_READ_ONLY = ("configMap", "secret")


@dataclass(frozen=True, kw_only=True)
class Machine:
    """The part of a cluster that no manifest names: what stands for images, claims, nodes and web servers."""

    path: tuple[str, ...] = ()
    """Folders before the PATH of every container."""
    env: dict[str, str] = field(default_factory=dict)
    """Variables that every image has."""
    shown: tuple[tuple[Path, str], ...] = ()
    """Folders of this machine, and where every image has them, read-only."""
    store: Path | None = None
    """The folder of the claims, one folder each. Without it, a run begins with empty ones."""
    web: tuple[str, Path] | None = None
    """A host name and the folder that its web server serves on port 80."""
    grace: float | None = None
    """Seconds between SIGTERM and SIGKILL, instead of those in the manifest."""


@dataclass(frozen=True, kw_only=True)
class Folders:
    """The folders of one pod on this machine."""

    work: Path
    claims: Path
    hosts: Path
    volcano: Path
    log: Path


def unplayable(job: Job) -> list[str]:
    """Return what of a Job cannot be played here."""
    policies = [*job.policies, *(policy for task in job.tasks for policy in task.policies)]
    found = ["a policy's timeout"] if any("timeout" in policy for policy in policies) else []
    for task in job.tasks:
        found += [f"task {task.name}: {what}" for what in dict.fromkeys(_faults(job, task.pod))]
    return found


def _faults(job: Job, pod: Json) -> Iterator[str]:
    if len(pod["containers"]) > 1:
        yield "more than one container"
    if any(container.get("restartPolicy") == "Always" for container in _first(pod)):
        yield "a native sidecar"
    for volume in _volumes(pod):
        if not _kind(volume):
            yield f"volume {volume['name']}"
        items = (volume.get("configMap") or {}).get("items") or ()
        yield from config_map_fault(job, volume.get("configMap"), [item["key"] for item in items])
    for container in (*_first(pod), *pod["containers"]):
        yield from untold(job, container)


def script(place: Place, folders: Folders, machine: Machine) -> str:
    """Return the script: each init container runs to its end, then the container takes the script's place.

    The init containers do not run again when the container starts again.
    """
    pod, initialized = place.task.pod, folders.work / "initialized"
    lines = ["set -e", f"hostname {place.name}"]
    for number, container in enumerate([*(() if initialized.exists() else _first(pod)), pod["containers"][0]]):
        last = container is pod["containers"][0]
        lines += _root(place, container, folders.work / f"root-{number}", folders, machine)
        command = _command(place, container, folders.work / f"root-{number}", machine)
        log = f">>{shlex.quote(str(folders.log))} 2>&1"
        lines.append(f"touch {shlex.quote(str(initialized))}; exec {command} {log}" if last else f"{command} {log}")
    return "\n".join(lines)


def _root(place: Place, container: Json, folder: Path, folders: Folders, machine: Machine) -> Iterator[str]:
    """Yield the lines that lay a container's root over this machine's, and mount into it."""
    at, root = shlex.quote(str(folder)), shlex.quote(str(folder / "root"))
    yield f"mkdir -p {at}; mount -t tmpfs pod {at}; mkdir {at}/upper {at}/work {root}"
    yield f"mount -t overlay -o lowerdir=/,upperdir={at}/upper,workdir={at}/work overlay {root}"
    yield f"mount -t proc proc {root}/proc; mount --rbind /dev {root}/dev; mount -t tmpfs shm {root}/dev/shm"  # noqa: S108 - in the pod
    yield f"mount -t tmpfs -o mode=1777 tmp {root}/tmp"  # noqa: S108 - in the pod
    yield f"touch {root}/etc/hosts; mount --bind {shlex.quote(str(folders.hosts))} {root}/etc/hosts"
    for source, target in machine.shown:
        yield _mount(source, folder / "root", target, read_only=True)
    if "svc" in place.job.plugins:
        yield _mount(folders.volcano, folder / "root", "/etc/volcano", read_only=True)
    volumes = {volume["name"]: volume for volume in _volumes(place.task.pod)}
    for mount in container.get("volumeMounts") or ():
        volume = volumes[mount["name"]]
        source = _source(place, volume, folders)
        sub = mount.get("subPath") or expand(mount.get("subPathExpr") or "", variables(place, container))
        if sub and source.is_dir() and not (source / sub).exists():
            (source / sub).mkdir(parents=True)
        read_only = bool(mount.get("readOnly")) or _kind(volume) in _READ_ONLY
        yield _mount(source / sub, folder / "root", mount["mountPath"], read_only=read_only)


def _mount(source: Path, root: Path, target: str, *, read_only: bool) -> str:
    quoted, at = shlex.quote(str(source)), shlex.quote(f"{root}{target}")
    make = f"mkdir -p {at}" if source.is_dir() else f"mkdir -p $(dirname {at}); touch {at}"
    seal = f"; mount -o remount,ro,bind {at}" if read_only else ""
    return f"{make}; mount --bind {quoted} {at}{seal}"


def _source(place: Place, volume: Json, folders: Folders) -> Path:
    """Return the folder behind a volume, and fill it if its content is known."""
    kind = _kind(volume)
    folder: Path
    if kind == "persistentVolumeClaim":
        folder = folders.claims / volume[kind]["claimName"]
    else:
        folder = folders.work / f"volume-{volume['name']}"
    folder.mkdir(parents=True, exist_ok=True)
    if kind in _READ_ONLY:
        data = place.job.config_maps.get(volume[kind].get("name"), {})
        for item in volume[kind].get("items") or [{"key": key, "path": key} for key in data]:
            if kind == "secret" or item["key"] in data:
                path = folder / item["path"]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(SECRET if kind == "secret" else data[item["key"]], encoding="utf-8")
                path.chmod(item.get("mode", volume[kind].get("defaultMode", 0o644)))
    return folder


def _command(place: Place, container: Json, folder: Path, machine: Machine) -> str:
    """Return the words that run a container's command in its root, with its variables and no others."""
    known = variables(place, container)
    image = {"PATH": ":".join((*machine.path, SYSTEM_PATH)), "HOME": "/root", **machine.env}
    words = [expand(word, known) for key in ("command", "args") for word in container.get(key) or ()]
    settings = [f"{name}={value}" for name, value in {**image, "HOSTNAME": place.name, **known}.items()]
    where = f"--chdir={container.get('workingDir') or '/'}"
    return shlex.join(["chroot", str(folder / "root"), "/usr/bin/env", "-i", where, *settings, *words])


def _first(pod: Json) -> list[Json]:
    return pod.get("initContainers") or []


def _volumes(pod: Json) -> list[Json]:
    return pod.get("volumes") or []


def _kind(volume: Json) -> str:
    known = ("persistentVolumeClaim", "emptyDir", "configMap", "secret")
    return next((kind for kind in known if kind in volume), "")
