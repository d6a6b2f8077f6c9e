"""The whole contract between the compiler and its plugins: four values, six hooks.

A plugin is a module or an object with functions of these names, marked with ``tfgitops.hookimpl``, found under the
entry-point group ``tfgitops``; no other function of it has a name that begins with ``tfgitops_``. Hooks are pure: the
same answer for the same arguments, no I/O, no clock: `explain` asks some again with one value of the spec changed, to
see which fields follow it. A hook may take fewer arguments than are written here. What it is given is read-only, and
what it answers is checked (`tfgitops.plugins.answers`) and copied: any mappings, lists and tuples of text, whole
numbers and booleans will do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tfgitops.spec.diagnostics import Problem
    from tfgitops.spec.model import Environment, Job, Patch
    from tfgitops.targets.routes import Route

API_VERSION = 1
"""What a plugin declares as ``tfgitops_api``; one of another version is refused."""

hookspec = pluggy.HookspecMarker("tfgitops")
hookimpl = pluggy.HookimplMarker("tfgitops")


@dataclass(frozen=True, slots=True)
class SchemaFragment:
    """A key of the spec that a plugin owns.

    ``site`` says where the key may stand: ``environment``, ``job``, ``role`` (then also in a job, for all its roles),
    or the key of another plugin's block; or it is ``settings``, for a key of the plugin's own settings in
    pyproject.toml. A key has one owner, and a job's and a role's are of one kind. ``schema`` is
    JSON Schema 2020-12 of the value, in its widest form. ``owner`` is filled in by the compiler, for its messages.
    """

    site: str
    key: str
    schema: Mapping[str, Any]
    owner: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Object:
    """A further Kubernetes object of an environment, and the route in the spec that asked for it.

    ``folder`` is the level at which it is applied: ``cluster``, ``cluster-2`` …, or ``workloads``. The manifest has an
    apiVersion, a kind and a legal ``metadata.name``, which together name its file. An object without
    ``metadata.namespace`` in ``workloads`` gets the environment's. ``keep`` says that the object must outlive its
    removal from Git, as a claim with data must. ``job`` names a job: the compiler replaces ``$(RUN)`` and the job's
    ``$(…_HOSTS)`` in the texts of the object. Equal objects are written once, others of one kind and name refused.
    """

    manifest: Mapping[str, Any]
    because: Route
    folder: str = "workloads"
    keep: bool = False
    job: str = ""


@dataclass(frozen=True, slots=True)
class Accelerator:
    """How one resource counts in totals and capacities: its name for people, and how many devices one unit is.

    ``*`` in a resource stands for any text, such as the size of a slice; of several that fit, the first one counts.
    """

    resource: str
    title: str
    devices: int = 1

    def is_of(self, resource: str) -> bool:
        """Tell whether a resource is this one, or of this family."""
        return fnmatchcase(resource, self.resource)


@hookspec
def tfgitops_schema() -> Iterable[SchemaFragment]:
    """Say which keys of the spec this plugin owns; called once, at the start."""
    raise NotImplementedError


@hookspec
def tfgitops_check_environment(environment: Environment) -> Iterable[Problem]:
    """Report what a schema cannot say; called once an environment, when it is resolved."""
    raise NotImplementedError


@hookspec
def tfgitops_contribute(job: Job) -> Iterable[Patch]:
    """Say what this plugin adds to a job; called when a job is planned, and again where its manifest is at fault."""
    raise NotImplementedError


@hookspec
def tfgitops_objects(environment: Environment) -> Iterable[Object]:
    """Say which further objects an environment needs; called once an environment, when it is planned."""
    raise NotImplementedError


@hookspec
def tfgitops_accelerators() -> Iterable[Accelerator]:
    """Say which resources are accelerators; called for the totals of reviews, and for those who check manifests."""
    raise NotImplementedError


@hookspec
def tfgitops_check_manifests(
    environment: Environment, manifests: tuple[Mapping[str, Any], ...], accelerators: tuple[Accelerator, ...]
) -> Iterable[Problem]:
    """Report what is wrong with the result as a whole; called once an environment, when all is planned.

    ``accelerators`` are those of all plugins, in the order of their names.
    """
    raise NotImplementedError


HOOKS = [name for name in vars() if name.startswith("tfgitops_")]
