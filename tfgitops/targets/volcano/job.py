"""What a cluster with Volcano says of a new Job: its schema, its webhooks, and Kubernetes of metadata and pods."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes import names
from tfgitops.targets.kubernetes.fault import Fault, Rules, show
from tfgitops.targets.kubernetes.pod import ANNOTATIONS_MAX, annotations_size, judge_settled
from tfgitops.targets.volcano.defaults import DEFAULT_QUEUE, Stored, stored
from tfgitops.targets.volcano.queuetree import ROOT_QUEUE
from tfgitops.targets.volcano.tasks import judge_policies, judge_tasks, judge_topologies, replicas_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfgitops.targets.routes import Json, Route

REPLICAS_MAX = 2**31 - 1  # the webhook adds replicas up in 32 bits
KNOWN = ("env", "svc", "ssh", "tensorflow", "pytorch", "mpi", "ray", "hcclrank")
_MPI_FLAGS = ("master", "worker", "port")
_FLAG = re.compile(r"--?(?P<name>[^-=][^=]*)(?:=(?P<value>.*))?", re.DOTALL).fullmatch
_GO_INT = re.compile(
    r"([+-]?)(?:0[xX]((?:_?[0-9a-fA-F])+)|0[bB]((?:_?[01])+)|0[oO]?((?:_?[0-7])+)|(0|[1-9](?:_?[0-9])*))"
).fullmatch
_BASES = (16, 2, 8, 10)
RULES = Rules.read("""
    status-given: status is the controller's to write | leave it out
    mutate-spec-missing: the object has no spec | give it one
    job-no-tasks: the job has no tasks | give it at least one
    job-name: the job's name has {found} characters, and becomes a label of its pods | use at most 63
    job-name-dots: the svc plugin makes a Service of the job's name, which cannot hold dots | use hyphens
    job-name-digit:
        the svc plugin makes a Service of the job's name, which must start with a letter | put a letter first
    job-min-over-total: minAvailable is {found}, but all tasks together have {total} replicas | ask for at most {total}
    job-too-large: all tasks together have {found} replicas, more than Volcano counts | use fewer
    job-volume-path-duplicate: two of the job's volumes are mounted at {found} | move one of them
    job-volume-two-claims:
        a job's volume has an existing claim or a new one, not both | keep volumeClaimName or volumeClaim
    job-volume-no-claim: this volume has no claim | give volumeClaimName
    job-volume-claim-name: {found} is not a legal name of a claim | use lower-case letters, digits, - and .
    queue-is-root: jobs cannot be put into the root queue | use a queue below it
    queue-missing: there is no queue {found} | use one of {queues}
    queue-not-open: the queue {queue} is {found}, and takes no jobs | open it, or use another queue
    queue-not-leaf: the queue {found} has queues below it, so it takes no jobs itself | use one of {queues}
    plugin-unknown: Volcano has no plugin {found} | use one of {known}
    plugin-mpi-no-master:
        the mpi plugin starts from the task {found}, and the job has no such task | name one of {tasks} by --master=
    meta-name-required: the object has no name | give it one
    meta-name-too-long: the name has {found} characters | use at most 253
    meta-name-dns-subdomain: {found} is not a legal name | use lower-case letters, digits, - and .
    namespace-missing:
        the object has no namespace, so it would land wherever the client happens to point | give the namespace
    meta-namespace-too-long: the namespace has {found} characters | use at most 63
    meta-namespace-dns-label: {found} is not a legal namespace | use lower-case letters, digits and -
    meta-annotations-too-long: the annotations have {found} bytes, more than Kubernetes keeps | use at most 262144
    meta-owner-references:
        a manifest in Git cannot name its owner, whose uid the cluster makes | leave ownerReferences out
""")


def judge_job(manifest: object, queues: Sequence[Json]) -> list[Fault]:
    """List what the cluster, or we (`stricter.py`), would refuse of any JSON value as a Job.

    ``queues`` are the manifests of the Queues that exist; one without status is taken to be open.
    """
    return judge_stored(manifest, stored(manifest), queues)


def judge_stored(manifest: object, after: Stored, queues: Sequence[Json], *, tasks: bool = True) -> list[Fault]:
    """Do the same, given what the server would store; with ``tasks``, judge each task's policies and pod, too."""
    if after.notes.faults:
        return [*after.notes.faults, *after.notes.limits]
    assert isinstance(manifest, dict)
    faults = [*after.notes.limits, *_judge_object(manifest, after.manifest), *_judge_spec(after.manifest, queues)]
    for i, task in enumerate(after.manifest.get("spec", {}).get("tasks", ()) if tasks else ()):
        faults += (fault.below(("spec", "tasks", i)) for fault in judge_task(task))
    return faults


def judge_task(task: Json) -> Iterator[Fault]:
    """Judge one task's policies and pod; `tasks.py` judges its numbers and names, and tasks against each other."""
    yield from judge_policies(task.get("policies", ()), ("policies",))
    for fault in judge_settled(task.get("template", {})):
        yield fault.below(("template",))


def _judge_object(manifest: Json, job: Json) -> Iterator[Fault]:
    if manifest.get("status") is not None:
        yield RULES.fault("status-given", ("status",))
    if "spec" not in job:
        yield RULES.fault("mutate-spec-missing", ("spec",))
    elif not job["spec"].get("tasks"):
        yield RULES.fault("job-no-tasks", ("spec", "tasks"))
    yield from judge_metadata(job.get("metadata", {}), namespaced=True)


def _judge_spec(job: Json, queues: Sequence[Json]) -> Iterator[Fault]:
    """Judge the spec of a Job as the server would store it."""
    name, spec = job.get("metadata", {}).get("name", ""), job.get("spec", {})
    tasks = spec.get("tasks", [])
    yield from _judge_name(name, spec)
    yield from _judge_gang(spec, tasks)
    yield from judge_tasks(name, tasks, ("spec", "tasks"))
    yield from judge_policies(spec.get("policies", ()), ("spec", "policies"))
    yield from _judge_plugins(spec.get("plugins", {}), tasks, ("spec", "plugins"))
    yield from judge_topologies(spec)
    yield from _judge_volumes(spec.get("volumes", ()))
    yield from _judge_queue(spec.get("queue", DEFAULT_QUEUE), queues)


def _judge_name(name: str, spec: Json) -> Iterator[Fault]:
    at = ("metadata", "name")
    if len(name) > names.LABEL_MAX:
        yield RULES.fault("job-name", at, found=len(name))
    if "svc" not in spec.get("plugins", {}):
        return
    if "." in name:
        yield RULES.fault("job-name-dots", at, found=show(name))
    elif name[:1].isdigit():
        yield RULES.fault("job-name-digit", at, found=show(name))


def _judge_gang(spec: Json, tasks: Sequence[Json]) -> Iterator[Fault]:
    at = ("spec", "minAvailable")
    total, least = sum(map(replicas_of, tasks)), spec.get("minAvailable", 0)
    if total > REPLICAS_MAX:
        yield RULES.fault("job-too-large", at, found=total)
    if least > total:
        yield RULES.fault("job-min-over-total", at, found=least, expected=f"at most {total}", total=total)


def _judge_volumes(volumes: Sequence[Json]) -> Iterator[Fault]:
    seen = set()
    for i, volume in enumerate(volumes):
        at = ("spec", "volumes", i)
        path, claim = volume.get("mountPath", ""), volume.get("volumeClaimName", "")
        if path in seen:
            yield RULES.fault("job-volume-path-duplicate", (*at, "mountPath"), found=path)
        seen.add(path)
        if claim and "volumeClaim" in volume:
            yield RULES.fault("job-volume-two-claims", at)
        elif not claim and "volumeClaim" not in volume:
            yield RULES.fault("job-volume-no-claim", at)
        elif claim and not names.is_dns_subdomain(claim):
            yield RULES.fault("job-volume-claim-name", (*at, "volumeClaimName"), found=show(claim))


def _judge_queue(name: str, queues: Sequence[Json]) -> Iterator[Fault]:
    """Judge the queue that a job is put into: it exists, is open, and has no queues below it."""
    at = ("spec", "queue")
    if name == ROOT_QUEUE:
        yield RULES.fault("queue-is-root", at)
        return
    known = {queue["metadata"]["name"]: queue for queue in queues}
    if name not in known:
        yield RULES.fault("queue-missing", at, found=show(name), queues=", ".join(sorted(known)))
        return
    state = known[name].get("status", {"state": "Open"}).get("state", "")
    if state != "Open":
        yield RULES.fault("queue-not-open", at, found=state or "not open yet", queue=name)
    below = [other for other, queue in known.items() if queue.get("spec", {}).get("parent") == name]
    if below:
        yield RULES.fault("queue-not-leaf", at, found=name, queues=", ".join(sorted(below)))


def go_int(text: str) -> int | None:
    """Return the number that Go's package flag reads in a text; None where it reads none, as in ``08``."""
    match = _GO_INT(text)
    if match is None:
        return None
    digits, base = next((digits, base) for digits, base in zip(match.groups()[1:], _BASES, strict=True) if digits)
    number = int(match[1] + digits.replace("_", ""), base)
    return number if -(1 << 63) <= number < 1 << 63 else None


def _judge_plugins(plugins: Mapping[str, Sequence[str]], tasks: Sequence[Json], at: Route) -> Iterator[Fault]:
    """Judge the plugins' names, and the task that the mpi plugin starts from."""
    for name in plugins:
        if name not in KNOWN:
            yield RULES.fault("plugin-unknown", (*at, name), found=show(name), known=", ".join(KNOWN))
    if "mpi" in plugins:
        master = _mpi_master(plugins["mpi"])
        tasknames = [task.get("name", "") for task in tasks]
        if master not in tasknames:
            yield RULES.fault("plugin-mpi-no-master", (*at, "mpi"), found=show(master), tasks=", ".join(tasknames))


def _mpi_master(arguments: Sequence[str]) -> str:
    """Read the flag --master as Go's flag package does: it stops at the first word that it cannot read."""
    master = "master"
    words = iter(arguments)
    for word in words:
        match = _FLAG(word)
        if not match or match["name"] not in _MPI_FLAGS:
            break
        value = match["value"] if match["value"] is not None else next(words, None)
        if value is None or (match["name"] == "port" and go_int(value) is None):
            break
        if match["name"] == "master":
            master = value
    return master


_NAMES = {
    "name": ("meta-name-required", names.SUBDOMAIN_MAX, names.is_dns_subdomain, "dns-subdomain"),
    "namespace": ("namespace-missing", names.LABEL_MAX, names.is_dns_label, "dns-label"),
}


def judge_metadata(metadata: Mapping[str, Any], *, namespaced: bool) -> Iterator[Fault]:
    """Judge the name, the namespace, the size of annotations, and the owners; the schema limits what is in the rest."""
    for field in ("name", "namespace") if namespaced else ("name",):
        yield from _judge_object_name(field, metadata.get(field, ""))
    if (size := annotations_size(metadata.get("annotations", {}))) > ANNOTATIONS_MAX:
        yield RULES.fault("meta-annotations-too-long", ("metadata", "annotations"), found=size)
    if metadata.get("ownerReferences"):
        yield RULES.fault("meta-owner-references", ("metadata", "ownerReferences"))


def _judge_object_name(field: str, name: str) -> Iterator[Fault]:
    missing, most, is_legal, form = _NAMES[field]
    if not name:
        yield RULES.fault(missing, ("metadata", field))
    elif len(name) > most:
        yield RULES.fault(f"meta-{field}-too-long", ("metadata", field), found=len(name))
    elif not is_legal(name):
        yield RULES.fault(f"meta-{field}-{form}", ("metadata", field), found=show(name))
