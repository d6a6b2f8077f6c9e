"""The frozen values between the stages: environment, job, role.

The core's have raw ``data``, which nobody changes; plugins get twins of them, whose ``data`` are read-only views.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tfgitops.spec.places import Places
from tfgitops.targets.tensorflow import CLUSTER_ROLES, ROLE_NAMES

if TYPE_CHECKING:
    from pathlib import Path

    from tfgitops.targets.routes import Route

JOB_LABEL = "tfgitops/job"
"""The label of a Job, and of its pods, that holds the job's name; nothing else has it."""

_HOLDERS = frozenset({dict, list})


class View(Mapping[str, Any]):  # noqa: PLW1641 - no more to be hashed than a dict
    """A read-only view of a map, and of every map and list in it."""

    __slots__ = ("_data",)

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data

    def __getitem__(self, key: str) -> Any:
        value = self._data[key]
        return freeze(value) if type(value) in _HOLDERS else value

    def get(self, key: str, default: Any = None) -> Any:
        """Return the read-only value of a key, or a default: without the exception that `Mapping` would catch."""
        value = self._data.get(key, default)
        return freeze(value) if type(value) in _HOLDERS else value

    def __eq__(self, other: object) -> bool:
        return self._data == other._data if type(self) is type(other) is View else super().__eq__(other)

    def __contains__(self, key: object) -> bool:
        return key in self._data

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __repr__(self) -> str:
        return f"View({self._data!r})"


def freeze(value: Any) -> Any:
    """Return a value that cannot be changed: maps as views, lists as tuples."""
    if type(value) is dict:
        return View(value)
    if type(value) is list:
        return tuple([freeze(item) if type(item) in _HOLDERS else item for item in value])
    return value


@dataclass(frozen=True, slots=True)
class Patch:
    """What a plugin adds to one job.

    ``target`` is ``("job",)``, ``("pod", ROLE)`` or ``("container", ROLE)``; ``value`` is a partial Volcano Job,
    PodTemplateSpec or Container; ``because`` is the route in the spec that asked for it. A patch holds only fields that
    Kubernetes or Volcano knows, without null, and none that the core writes itself: what names the Job, its tasks, gang
    and policies, what discovery needs of the pods. ``spec.containers`` is refused: the training container has a target
    of its own, and a second one must be a native sidecar, in ``spec.initContainers``.
    """

    target: tuple[str, ...]
    value: Mapping[str, Any]
    because: Route


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
    def has_server(self) -> bool:
        """Whether TensorFlow serves at the job's `port`, in the cluster or beside it."""
        return self.kind in ROLE_NAMES

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

    def written(self, role: Role, *routes: tuple[str, ...]) -> Route:
        """Return where a role, or else its job, says the first of some routes; the role's last route if neither does.

        The routes begin at a key of the role, and an element of a list is found by its `name`.
        """
        for route in routes:
            for holder in (role, self):
                if (found := _follow(holder.data, route)) is not None:
                    return (*holder.route, *found)
        return (*role.route, *routes[-1])

    @property
    def pin(self) -> str:
        """The name of the committed Job that is kept as it is, or nothing."""
        return str(self.data.get("pin", ""))

    @property
    def port(self) -> int:
        """The port of the TensorFlow servers."""
        return int(self.data.get("port", 2222))

    @property
    def is_open(self) -> bool:
        """Whether Volcano writes no NetworkPolicy for the pods: another one would then close them to all others."""
        flags = [str(one).lstrip("-").partition("=") for one in (self.data.get("plugins") or {}).get("svc") or ()]
        said = [value for flag, _, value in flags if flag == "disable-network-policy"]
        return bool(said) and said[-1].lower() not in ("false", "f", "0")

    @property
    def min_available(self) -> int:
        """How many pods the gang is: what is written, else all that do not wait for others."""
        waiting_for_none = (role.min_available for role in self.roles if not role.data.get("dependsOn"))
        written = self.data.get("minAvailable")
        return sum(waiting_for_none) if written is None else int(written)


@dataclass(frozen=True, kw_only=True)
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

    @cached_property
    def twin(self) -> Environment:
        """The same environment as plugins get it: nothing that can be changed, and not the files behind it."""
        twin = replace(self, data=View(self.data), settings=View(self.settings), places=Places(documents=()), jobs=())
        object.__setattr__(twin, "jobs", tuple(_twin(job, twin) for job in self.jobs))
        return twin

    @cached_property
    def by_name(self) -> Mapping[str, Job]:
        """The jobs, by name."""
        return {job.name: job for job in self.jobs}

    def job_of(self, manifest: Mapping[str, Any]) -> Job | None:
        """Return the job that a planned manifest is of, or None for any other object."""
        return self.by_name.get((manifest["metadata"].get("labels") or {}).get(JOB_LABEL, ""))


def _follow(data: Any, keys: tuple[str, ...]) -> Route | None:
    """Return the route that some keys lead by, with an index for each element of a list; None if it is not said."""
    route: Route = ()
    for key in keys:
        step: str | int | None = key
        if isinstance(data, (list, tuple)):
            maps = ((index, one) for index, one in enumerate(data) if isinstance(one, (dict, View)))
            step = next((index for index, one in maps if one.get("name") == key), None)
        elif not isinstance(data, (dict, View)) or key not in data:
            step = None
        if step is None:
            return None
        data, route = data[step], (*route, step)
    return route


def _twin(job: Job, environment: Environment) -> Job:
    roles = tuple(replace(role, data=View(role.data)) for role in job.roles)
    return replace(job, data=View(job.data), roles=roles, environment=environment)


def read_only(value: Any) -> Any:
    """Return what a plugin gets in place of a value of ours."""
    if type(value) is Job:
        return value.environment.twin.by_name[value.name]
    return value.twin if type(value) is Environment else value
