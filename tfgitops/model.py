"""The frozen values between the stages, as plugins see them: environment, job, role."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tfgitops.hookspecs import Patch
from tfgitops.view import freeze

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tfgitops.diagnostics import Route
    from tfgitops.places import Places

CLUSTER_ROLES = ("chief", "ps", "worker")
"""The roles in TensorFlow's ``cluster``; the evaluator is outside of it (volcano.md 9)."""

ROLES = (*CLUSTER_ROLES, "evaluator")


@dataclass(frozen=True, kw_only=True, slots=True)
class Role:
    """One role of a job, with all that it inherits.

    ``kind`` is ``chief``, ``ps``, ``worker``, ``evaluator`` or, outside TensorFlow, ``task``; ``name`` is the name of
    its Volcano task. ``data`` are the merged keys: the core's and the plugins'.
    """

    name: str
    kind: str
    replicas: int
    data: Mapping[str, Any]
    route: Route

    @property
    def in_cluster(self) -> bool:
        """Whether the role is part of TensorFlow's ``cluster``."""
        return self.kind in CLUSTER_ROLES

    @property
    def min_available(self) -> int:
        """How many of the pods must be able to start."""
        return int(self.data.get("minAvailable", self.replicas))

    def get(self, key: str) -> Any:
        """Return the read-only value of a key, or None."""
        return freeze(self.data.get(key))

    def container(self, value: Mapping[str, Any], *because: str | int) -> Patch:
        """Make a patch of the role's training container; ``because`` are the keys that asked for it."""
        return Patch(("container", self.name), value, (*self.route, *because))

    def pod(self, value: Mapping[str, Any], *because: str | int) -> Patch:
        """Make a patch of the role's pod template; ``because`` are the keys that asked for it."""
        return Patch(("pod", self.name), value, (*self.route, *because))


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """One training, resolved: its roles in the order of their tasks."""

    name: str
    strategy: str
    why: str
    data: Mapping[str, Any]
    roles: tuple[Role, ...]
    route: Route
    own: str
    environment: Environment = field(repr=False, compare=False)

    def get(self, key: str) -> Any:
        """Return the read-only value of a key, or None."""
        return freeze(self.data.get(key))

    def patch(self, value: Mapping[str, Any], *because: str | int) -> Patch:
        """Make a patch of the Volcano Job; ``because`` are the keys that asked for it."""
        return Patch(("job",), value, (*self.route, *because))

    @property
    def port(self) -> int:
        """The port of the TensorFlow servers."""
        return int(self.data.get("port", 2222))

    @property
    def min_available(self) -> int:
        """How many pods the gang is: what is written, else all that do not wait for others."""
        written = self.data.get("minAvailable")
        if written is not None:
            return int(written)
        return sum(role.min_available for role in self.roles if not role.data.get("dependsOn"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Environment:
    """One environment, resolved: what its files say together.

    ``data`` are the keys at the top, ``settings`` what pyproject.toml gives each plugin, by the plugin's name.
    """

    name: str
    folder: Path
    cluster: str
    namespace: str
    gitops: str
    data: Mapping[str, Any]
    settings: Mapping[str, Mapping[str, Any]]
    places: Places = field(repr=False, compare=False)
    jobs: tuple[Job, ...] = ()

    def get(self, key: str) -> Any:
        """Return the read-only value of a key at the top, or None."""
        return freeze(self.data.get(key))
