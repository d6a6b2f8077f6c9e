"""The object and the fields that a question names, and a job in short for a question that names no field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tfgitops.provenance.fields import FieldError, find, written
from tfgitops.provenance.sources import writings
from tfgitops.spec.diagnostics import CompileError, Diagnostic
from tfgitops.targets.kubernetes import quantity
from tfgitops.targets.kubernetes.resources import pod_requests
from tfgitops.targets.nearest import did_you_mean
from tfgitops.targets.routes import leaves, value_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.planning.plan import Planned
    from tfgitops.provenance.origins import Origin, Provenance
    from tfgitops.spec.diagnostics import Span
    from tfgitops.spec.model import Environment, Job, Role
    from tfgitops.targets.routes import Route

_SHORT = {
    "cm": "configmap", "netpol": "networkpolicy", "ns": "namespace", "pc": "priorityclass",
    "pvc": "persistentvolumeclaim", "q": "queue", "sa": "serviceaccount", "svc": "service", "vcjob": "job",
}  # fmt: skip
"""What kubectl calls these kinds for short."""
_SHOWN_AT_MOST = 2


@dataclass(frozen=True, kw_only=True)
class Field:
    """One field of a manifest that has nothing in it: its name, its route, its value, and where that comes from."""

    name: str
    at: Route
    value: Any
    origins: tuple[Origin, ...]

    @property
    def winners(self) -> tuple[Origin, ...]:
        """The places that gave the value: one, unless it is made from several."""
        return tuple(origin for origin in self.origins if origin.won)


def title(planned: Planned, environment: Environment) -> str:
    """Name an object as `explain` takes it: `job/resnet`, `queue/vision`, `pvc/runs`."""
    job = environment.job_of(planned.manifest) if planned.own else None
    kind = planned.manifest["kind"].lower()
    short = "pvc" if kind == _SHORT["pvc"] else kind
    return f"{short}/{job.name if job else planned.manifest['metadata']['name']}"


def select(compiled: Compiled, wanted: str) -> Planned:
    """Find the object that a name stands for: a job, its object's name, `kind/name`, a manifest, or any one name.

    Raises CompileError if there is none, or there are several.
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
    """Yield the names of the objects in lower case, a job's before those of others that may be called alike."""
    jobs = [(planned, environment.job_of(planned.manifest)) for planned in compiled.objects if planned.own]
    yield [(planned, job.name) for planned, job in jobs if job]
    objects = [(planned, planned.manifest["metadata"]["name"].lower()) for planned in compiled.objects]
    yield objects
    names = [*objects, *((planned, job.name) for planned, job in jobs if job)]
    yield [(planned, f"{kind}/{name}") for planned, name in names for kind in _kinds(planned.manifest["kind"].lower())]
    yield [(planned, path) for planned in compiled.objects for path in (planned.file, planned.path)]


def _kinds(kind: str) -> list[str]:
    """List what people call a kind: its name, kubectl's short form of it, and the plurals."""
    names = [kind, *(short for short, whole in _SHORT.items() if whole == kind)]
    return [*names, *(f"{name}es" if name.endswith("s") else f"{name}s" for name in names)]


def route_of(planned: Planned, environment: Environment, field: str, provenance: Provenance) -> Route:
    """Return the route of a field of an object.

    Raises CompileError if it has no such field; where it is a key of the spec, with the fields that this gives.
    """
    try:
        return find(planned.manifest, field)
    except FieldError as error:
        message = f"{title(planned, environment)}: {error.message}"
        said = _given_by(planned, field, provenance)
        hint = f"the spec's `{field}` gives {' and '.join(said[:_SHOWN_AT_MOST])}" if said else error.hint
        raise _refuse(message, error.found, hint) from error


def _given_by(planned: Planned, text: str, provenance: Provenance) -> list[str]:
    """Name the fields of a manifest that a key of the spec gives, as `worker.cpu` does; first those with its value."""
    given = [
        (str(origin.value) != str(field.value), field.name)
        for field in fields(planned, (), provenance)
        for origin in field.winners
        if origin.text and ".".join(map(str, origin.route)) == text
    ]
    return [name for _, name in sorted(given, key=lambda pair: pair[0])]


def fields(planned: Planned, at: Route, provenance: Provenance) -> Sequence[Field]:
    """Return what is at a route of a manifest, field by field, in the order in which it is written."""
    found = []
    for inner, value in leaves(value_at(planned.manifest, at)):
        route = (*at, *inner)
        origins = provenance.origins(planned, route)
        found.append(Field(name=written(planned.manifest, route), at=route, value=value, origins=origins))
    return found


def _refuse(message: str, found: str, hint: str) -> CompileError:
    return CompileError([Diagnostic(code="TF701", severity="error", message=message, found=found, hint=hint)])


@dataclass(frozen=True, kw_only=True)
class Part:
    """One role of a job: its pods, and what each of them asks for, by resource."""

    name: str
    pods: int
    requests: Mapping[str, str]
    images: tuple[str, ...]
    span: Span


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A job in short; ``bases`` are what it starts from, each with its place, the strongest first.

    ``counted`` are the roles whose replicas make its name, since the others of the cluster are told their hosts.
    """

    job: str
    object: str
    namespace: str
    span: Span
    bases: tuple[tuple[str, Span], ...]
    strategy: str
    why: str
    strategy_span: Span | None
    queue: str
    queue_origin: Origin
    pods: int
    min_available: int
    parts: tuple[Part, ...]
    total: Mapping[str, str]
    counted: tuple[str, ...]


def summarize(planned: Planned, job: Job, provenance: Provenance) -> Summary:
    """Return a planned job in short."""
    environment, spec = job.environment, planned.manifest["spec"]
    places = environment.places
    pairs = list(zip(job.roles, spec["tasks"], strict=True))
    total: dict[str, int] = {}
    for role, task in pairs:
        for resource, amount in pod_requests(task["template"]["spec"]).items():
            total[resource] = total.get(resource, 0) + amount * role.replicas
    return Summary(
        job=job.name,
        object=planned.manifest["metadata"]["name"],
        namespace=environment.namespace,
        span=places.span(job.route, on_key=True),
        bases=tuple(_bases(job, environment)),
        strategy=job.strategy,
        why=job.why,
        strategy_span=places.span((*job.route, "strategy")) if "strategy" in job.data else None,
        queue=spec["queue"],
        queue_origin=provenance.winner(planned, ("spec", "queue")),
        pods=sum(role.replicas for role in job.roles),
        min_available=job.min_available,
        parts=tuple(_part(role, task["template"]["spec"], environment) for role, task in pairs),
        total=_written(total),
        counted=tuple(role.name for role in job.roles if role.in_cluster) if job.strategy != "none" else (),
    )


def _bases(job: Job, environment: Environment) -> list[tuple[str, Span]]:
    """List what a job starts from: other jobs, then the defaults of each file."""
    places = environment.places
    chain = [link for link in places.chains.get(job.name, ()) if link != job.route]
    return [
        (f"{'from ' if link[0] == 'jobs' else ''}{link[-1]}", one.document.span(link, on_key=True))
        for link in chain
        for one in writings(places, link)
    ]


def _part(role: Role, pod: Mapping[str, object], environment: Environment) -> Part:
    containers: list[Mapping[str, str]] = [*_containers(pod, "initContainers"), *_containers(pod, "containers")]
    return Part(
        name=role.name, pods=role.replicas, requests=_written(pod_requests(pod)),
        images=tuple(dict.fromkeys(container["image"] for container in containers if "image" in container)),
        span=environment.places.span(role.route, on_key=True),
    )  # fmt: skip


def _containers(pod: Mapping[str, object], key: str) -> list[Mapping[str, str]]:
    found = pod.get(key) or []
    assert isinstance(found, list)
    return found


def _written(amounts: Mapping[str, int]) -> dict[str, str]:
    """Write amounts as Kubernetes does, cores and memory first, then the others by name."""
    first = ("cpu", "memory")
    names = [*(name for name in first if name in amounts), *sorted(amounts.keys() - set(first))]
    binary = ("memory", "ephemeral-storage")
    return {name: quantity.write(amounts[name], style="i" if name in binary else "") for name in names}
