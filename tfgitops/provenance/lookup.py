"""The object and the fields that a person asks about by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tfgitops.provenance.fields import FieldError, find, written
from tfgitops.spec.diagnostics import CompileError, Diagnostic
from tfgitops.targets.nearest import did_you_mean
from tfgitops.targets.routes import leaves, value_at
from tfgitops.targets.secrets import key_of, masked_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.planning.plan import Planned
    from tfgitops.provenance.origins import Origin, Provenance
    from tfgitops.spec.model import Environment
    from tfgitops.targets.routes import Route

_SHORT = {
    "cm": "configmap", "netpol": "networkpolicy", "ns": "namespace", "pc": "priorityclass",
    "pvc": "persistentvolumeclaim", "q": "queue", "sa": "serviceaccount", "svc": "service", "vcjob": "job",
}  # fmt: skip
"""The short names of kinds in kubectl."""
_SHOWN_AT_MOST = 2


@dataclass(frozen=True, kw_only=True)
class Field:
    """One innermost field of a manifest, with its name, route, value and origins."""

    name: str
    at: Route
    value: Any
    origins: tuple[Origin, ...]

    @property
    def shown(self) -> Any:
        """The value without secrets."""
        return masked_value(self.value, key_of(self.name))

    @property
    def winners(self) -> tuple[Origin, ...]:
        """The origins that gave the value: one, unless it is made from several."""
        return tuple(origin for origin in self.origins if origin.won)


def title(planned: Planned, environment: Environment) -> str:
    """Return the name of an object that `explain` lists: `job/resnet`, `queue/vision`, `pvc/runs`."""
    job = environment.job_of(planned.manifest) if planned.own else None
    kind = planned.manifest["kind"].lower()
    short = "pvc" if kind == _SHORT["pvc"] else kind
    return f"{short}/{job.name if job else planned.manifest['metadata']['name']}"


def select(compiled: Compiled, wanted: str) -> Planned:
    """Return the object with a name: that of a job, of the object, `kind/name`, or the path of a manifest.

    Raises CompileError if no object or several objects have this name.
    """
    assert compiled.environment is not None
    text = wanted.lower()
    found: list[Planned] = []
    for names in _by_rank(compiled, compiled.environment):
        found = [planned for planned, name in names if name == text]
        if found:
            break
    if len(found) == 1:
        return found[0]
    if not found and text in compiled.environment.by_name:
        raise _refuse(f"the job '{text}' could not be planned", wanted, "mend what is wrong with it first")
    titles = [title(planned, compiled.environment) for planned in found or compiled.objects]
    if found:
        raise _refuse(f"several objects are called '{wanted}'", wanted, f"say which: {', '.join(titles)}")
    bare = [name.partition("/")[2] for name in titles]
    hint = did_you_mean(wanted, [*titles, *(name for name in bare if bare.count(name) == 1)])
    raise _refuse(f"there is no object '{wanted}'", wanted, hint or "without OBJECT, `explain` lists them")


def _by_rank(compiled: Compiled, environment: Environment) -> Iterator[list[tuple[Planned, str]]]:
    """Yield the names of the objects in lower case; an earlier list goes before a later one."""
    jobs = [(planned, environment.job_of(planned.manifest)) for planned in compiled.objects if planned.own]
    yield [(planned, job.name) for planned, job in jobs if job]
    objects = [(planned, planned.manifest["metadata"]["name"].lower()) for planned in compiled.objects]
    yield objects
    names = [*objects, *((planned, job.name) for planned, job in jobs if job)]
    yield [(planned, f"{kind}/{name}") for planned, name in names for kind in _kinds(planned.manifest["kind"].lower())]
    yield [(planned, path) for planned in compiled.objects for path in (planned.file, planned.path)]


def _kinds(kind: str) -> list[str]:
    """Return the names of a kind: the kind, its short name in kubectl, and the plurals."""
    names = [kind, *(short for short, whole in _SHORT.items() if whole == kind)]
    return [*names, *(f"{name}es" if name.endswith("s") else f"{name}s" for name in names)]


def route_of(planned: Planned, environment: Environment, field: str, provenance: Provenance) -> Route:
    """Return the route of a field of an object.

    Raises CompileError if the object has no such field. For a key of the spec, the hint names the fields that it gives.
    """
    try:
        return find(planned.manifest, field)
    except FieldError as error:
        message = f"{title(planned, environment)}: {error.message}"
        said = _given_by(planned, field, provenance)
        hint = f"the spec's `{field}` gives {' and '.join(said[:_SHOWN_AT_MOST])}" if said else error.hint
        raise _refuse(message, error.found, hint) from error


def _given_by(planned: Planned, text: str, provenance: Provenance) -> list[str]:
    """Return the names of the fields that a key such as `worker.cpu` gives, first those with its value."""
    given = [
        (str(origin.value) != str(field.value), field.name)
        for field in fields(planned, (), provenance)
        for origin in field.winners
        if origin.text and ".".join(map(str, origin.route)) == text
    ]
    return [name for _, name in sorted(given, key=lambda pair: pair[0])]


def fields(planned: Planned, at: Route, provenance: Provenance) -> Sequence[Field]:
    """Return the innermost fields at a route of a manifest, in the order of the file."""
    found = []
    for inner, value in leaves(value_at(planned.manifest, at)):
        route = (*at, *inner)
        origins = provenance.origins(planned, route)
        found.append(Field(name=written(planned.manifest, route), at=route, value=value, origins=origins))
    return found


def _refuse(message: str, found: str, hint: str) -> CompileError:
    return CompileError([Diagnostic(code="TF701", severity="error", message=message, found=found, hint=hint)])
