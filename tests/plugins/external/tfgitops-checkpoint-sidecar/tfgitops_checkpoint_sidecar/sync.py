"""What one role wants synced: its own keys over those of its store, and the mount in which the path lies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfgitops import Job, Role, Route

DEFAULTS = {"every": "5m", "grace": "5m", "image": "docker.io/rclone/rclone:1.68.2", "prefix": "$(RUN)"}
CONFIGURED = ("endpoint", "region", "every")
"""The keys whose values stand in the ConfigMap."""


class Mount(NamedTuple):
    """One mount of a volume in the training container; ``name`` is that of the pod's volume."""

    name: str
    path: str
    sub_path: str
    read_only: bool


@dataclass(frozen=True, kw_only=True)
class Sync:
    """The `checkpoints` of one role, with ``said``, its own keys, and ``store``, those of the store that it names."""

    job: Job
    role: Role
    said: Mapping[str, Any]
    store: Mapping[str, Any]

    def get(self, key: str) -> Any:
        """Return the value of a key: the role's own, the store's, or the default."""
        return self.said.get(key, self.store.get(key, DEFAULTS.get(key)))

    def at(self, key: str = "") -> Route:
        """Return where a key is said: in the role, else in the store; without one, the block of the role."""
        if key and key not in self.said and key in self.store:
            return ("checkpoints", self.said["store"], key)
        return (*self.role.route, "checkpoints", *([key] if key else []))

    @property
    def because(self) -> Route:
        """The block that asks for the ConfigMap: the store's where the role adds nothing to it."""
        own = any(key in self.said for key in CONFIGURED) or not self.store
        return self.at() if own else ("checkpoints", self.said["store"])

    @cached_property
    def mounts(self) -> list[Mount]:
        """The mounts of the volume in the role's training container, as the bundled plugin `storage` makes them.

        Its key is read as plugins/README.md has it: what a use says wins over the volume, and all volumes of one claim
        are one volume of the pod, which has the first of their names.
        """
        volumes = self.job.environment.get("volumes") or {}
        uses = [use for use in self.role.get("volumes") or () if use["name"] in volumes]
        claims = {use["name"]: volumes[use["name"]].get("claim", use["name"]) for use in uses}
        wanted = self.said["volume"]
        name = min((one for one, claim in claims.items() if claim == claims.get(wanted)), default=wanted)
        found = []
        for use in uses:
            if use["name"] == wanted:
                whole = {**volumes[wanted], **use}
                path, sub_path = whole.get("path", ""), whole.get("subPath", "")
                found.append(Mount(name, path, sub_path, whole.get("readOnly", False)))
        return found

    @property
    def mount(self) -> Mount | None:
        """The mount in which the path lies, the innermost if there are several; without a path, the only one."""
        path = self.said.get("path")
        if path is None:
            return self.mounts[0] if len(self.mounts) == 1 else None
        return max(
            (mount for mount in self.mounts if within(path, mount.path)), default=None, key=lambda m: len(m.path)
        )

    @property
    def source(self) -> str:
        """The folder that is synced."""
        return str(self.said.get("path", self.mount.path if self.mount else ""))

    @property
    def destination(self) -> str:
        """The folder that it is synced to, below its bucket: `s3://BUCKET/FOLDER`."""
        return f"{str(self.get('bucket')).rstrip('/')}/{str(self.get('prefix')).strip('/')}"


def syncs(job: Job) -> Iterator[Sync]:
    """Yield what the roles of a job want synced."""
    stores = job.environment.get("checkpoints") or {}
    for role in job.roles:
        if said := role.get("checkpoints"):
            yield Sync(job=job, role=role, said=said, store=stores.get(said.get("store", ""), {}))


def within(path: str, folder: str) -> bool:
    """Tell whether a path is a folder, or lies below it."""
    return f"{path.rstrip('/')}/".startswith(f"{folder.rstrip('/')}/")
