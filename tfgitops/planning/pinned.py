"""The committed manifests of pinned jobs, and those of what they need: found, judged, and then kept as they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tfgitops.planning.jobmanifest import API_VERSION
from tfgitops.spec.committed import MANIFESTS, read_header
from tfgitops.spec.diagnostics import Problem
from tfgitops.spec.model import JOB_LABEL, Role
from tfgitops.spec.yamltext import TextError, parse
from tfgitops.targets.kubernetes.objectkinds import file_name, references
from tfgitops.targets.tensorflow import ROLE_NAMES
from tfgitops.targets.volcano.defaults import stored
from tfgitops.targets.volcano.identity import digest_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tfgitops.spec.model import Environment, Job
    from tfgitops.targets.kubernetes.objectkinds import Reference

_JOBS = "workloads/job-"
_RESTORE = "restore it from Git as it was, or give up the pin: `tfgitops unpin`"


@dataclass(frozen=True, kw_only=True, slots=True)
class Committed:
    """One committed file of ours that is whole: its path below ``manifests/``, its text, and what it says."""

    path: str
    text: str
    own: str
    manifest: dict[str, Any]

    @property
    def reference(self) -> Reference:
        """The kind and the name of the object."""
        return self.manifest["kind"], self.manifest["metadata"]["name"]


class RefusedError(Exception):
    """A committed file that cannot be kept, for a reason."""

    def __init__(self, message: str, hint: str = _RESTORE, expected: str = "") -> None:
        super().__init__(message)
        self.complaint = Problem(code="TF306", message=message, at=(), expected=expected, hint=hint)


def as_it_runs(environment: Environment, manifests: Mapping[str, Mapping[str, Any]]) -> Environment:
    """Return an environment whose pinned jobs have the roles of their manifests, given by the names of the jobs.

    Who looks at a planned Job finds a role for each of its tasks; what the spec says of a role of that name is kept.
    """
    changed = replace(environment, jobs=())
    jobs = []
    for job in environment.jobs:
        roles = _roles(job, manifests[job.name]) if job.name in manifests else job.roles
        jobs.append(replace(job, environment=changed, roles=roles))
    object.__setattr__(changed, "jobs", tuple(jobs))  # the one circle, closed as `resolve` does
    return changed


def _roles(job: Job, manifest: Mapping[str, Any]) -> tuple[Role, ...]:
    known = {role.name: role for role in job.roles}
    return tuple(_role(job, task, known.get(task["name"])) for task in manifest["spec"]["tasks"])


def _role(job: Job, task: Mapping[str, Any], known: Role | None) -> Role:
    name, replicas = task["name"], task.get("replicas", 1)
    kind = name if name in ROLE_NAMES and _is_tensorflow(task) else "task"
    data = {**(known.data if known else {}), "minAvailable": task.get("minAvailable", replicas)}
    return Role(name=name, kind=kind, replicas=replicas, data=data, route=(*job.route, "pin"))


def _is_tensorflow(task: Mapping[str, Any]) -> bool:
    """Tell whether a task is of TensorFlow: with `strategy: none` others may have the names of its roles."""
    training = task["template"]["spec"]["containers"][0]
    return any(entry.get("name") == "TF_CONFIG" for entry in training.get("env") or ())


def job_path(job: str) -> str:
    """Return where the manifest of a job lies below ``manifests/``."""
    return f"workloads/{file_name('Job', job)}"


def committed_job(job: str, namespace: str, texts: Mapping[str, str], pin: str = "") -> Committed:
    """Return the committed manifest of a job, which must be as the compiler wrote it, and be what ``pin`` names.

    Args:
        job: the job's name in the spec.
        namespace: the environment's.
        texts: of the committed manifests, by path.
        pin: the name of the Job; empty to take the one that is there.

    Raises RefusedError if there is none, it was changed, or it is another's.
    """
    path = job_path(job)
    if path not in texts:
        raise _missing(job, pin, texts)
    found = read_committed(path, texts[path], f"jobs.{job}", f"jobs/{job}.yaml")
    if not found.own:
        raise RefusedError(f"{MANIFESTS}/{path} was edited: its first line has lost its digest")
    _judge_job(found.manifest)
    metadata = found.manifest["metadata"]
    name, there = metadata["name"], metadata.get("namespace")
    if pin and name != pin:
        hint = f"write `pin: {name}`, or restore the manifest of '{pin}' from Git"
        raise RefusedError(f"the committed manifest of '{job}' is '{name}', not '{pin}'", hint, name)
    if there != namespace:
        message = f"the Job '{name}' is in the namespace '{there}', and the environment's is '{namespace}'"
        raise RefusedError(message, "a pinned job cannot move: keep the namespace, or `tfgitops unpin`", namespace)
    if (metadata.get("labels") or {}).get(JOB_LABEL) != job:
        raise RefusedError(f"the Job '{name}' has not the label {JOB_LABEL}: {job}", expected=f"{JOB_LABEL}: {job}")
    hashed = f"{job}-{digest_of(found.manifest)}"
    if hashed != name:
        raise RefusedError(f"the Job '{name}' does not hash to its own name, but to '{hashed}'", expected=hashed)
    return found


def read_committed(path: str, text: str, *sources: str) -> Committed:
    """Read one file as the compiler wrote it.

    Args:
        path: below ``manifests/``.
        text: with LF line ends.
        sources: how the source that its header names may end; anything, if none is given.

    Raises RefusedError if it is not ours, it was edited, or it does not hold the object of its name.
    """
    shown = f"{MANIFESTS}/{path}"
    header = read_header(text)
    if header is None:
        raise RefusedError(f"{shown} has no header of tfgitops")
    if not header.intact:
        raise RefusedError(f"{shown} was edited: it has not the digest that its header names")
    if sources and header.source.rpartition(" ")[2] not in sources:
        message = f"{shown} was edited, or is another's: its first line names {header.source}"
        raise RefusedError(message, expected=f"the source {' or '.join(sources)}")
    try:
        manifest = parse(text)
    except TextError as error:
        raise RefusedError(f"{shown} cannot be read: {error}") from error
    if not _is_object(manifest) or not _has_its_name(path, manifest):
        raise RefusedError(f"{shown} does not hold the object that its name promises")
    return Committed(path=path, text=text, own=header.own, manifest=manifest)


class Needs:
    """What pinned jobs need of what is committed, each object for the first of them that needs it."""

    def __init__(self, texts: Mapping[str, str], made: Iterable[Reference], namespace: str) -> None:
        self._texts = texts
        self._namespace = namespace
        self._known = set(made)
        self._files = {path.rpartition("/")[2]: path for path in sorted(texts, reverse=True)}
        self._others = [path for path in texts if not path.startswith(_JOBS)]

    def of(self, job: Committed) -> Iterator[Committed]:
        """Yield the committed files of ours that a job needs, and that neither the compile nor a job before it has.

        What is neither made nor committed was never the spec's to write: it exists in the cluster, or it does not.
        Raises RefusedError if one of the files cannot be kept.
        """
        label = f"{JOB_LABEL}: {job.manifest['metadata']['labels'][JOB_LABEL]}\n"
        todo = [*references(job.manifest)]
        todo += [self._read(path).reference for path in self._others if label in self._texts[path] and self._ours(path)]
        while todo:
            reference = todo.pop(0)
            path = self._files.get(file_name(*reference), "")
            if reference in self._known or not path or not self._ours(path):
                continue
            self._known.add(reference)
            kept = self._read(path)
            if kept.manifest["metadata"].get("namespace") in (None, self._namespace):
                _judge_queue(kept)
                yield kept
                todo += references(kept.manifest)

    def _ours(self, path: str) -> bool:
        return read_header(self._texts[path]) is not None

    def _read(self, path: str) -> Committed:
        return read_committed(path, self._texts[path])


def _missing(job: str, pin: str, texts: Mapping[str, str]) -> RefusedError:
    """Say that a job has no committed manifest, and where the one that a pin names is, if it has moved."""
    message = f"the job '{job}' has no committed manifest, {MANIFESTS}/{job_path(job)}"
    other = pin.rpartition("-")[0]
    if other != job and job_path(other) in texts:
        return RefusedError(message, f"'{pin}' is a Job of '{other}': a pinned job keeps its name, or gives up its pin")
    return RefusedError(message, _RESTORE if pin else "build it first, and commit it")


def _is_object(value: Any) -> bool:
    """Tell whether a value is an object of Kubernetes with a name."""
    metadata = value.get("metadata") if type(value) is dict else None
    return type(metadata) is dict and all(type(text) is str for text in (value.get("kind"), metadata.get("name")))


def _has_its_name(path: str, manifest: Mapping[str, Any]) -> bool:
    """Tell whether a file holds what its name says; that of a Job has the name of the job, which is checked later."""
    kind, name = manifest["kind"], manifest["metadata"]["name"]
    return kind == "Job" or path.rpartition("/")[2] == file_name(kind, name)


def _judge_job(manifest: dict[str, Any]) -> None:
    """Refuse what has not the shape of a Job, so that all who look into it later find what they look for."""
    name = manifest["metadata"]["name"]
    if (manifest["kind"], manifest.get("apiVersion")) != ("Job", API_VERSION):
        raise RefusedError(f"'{name}' is no Volcano Job", expected=f"a Job of {API_VERSION}")
    if faults := stored(manifest).notes.faults:
        raise RefusedError(f"Volcano would refuse the Job '{name}': {faults[0].message}")
    spec = manifest.get("spec")
    tasks = spec.get("tasks") if type(spec) is dict else None
    if spec is None or not tasks or type(spec.get("queue")) is not str or not all(map(_has_containers, tasks)):
        raise RefusedError(f"the Job '{name}' lacks its queue, or a task its containers")


def _judge_queue(kept: Committed) -> None:
    """Refuse a Queue that has not the shape of one, since all queues are judged beside each other."""
    if kept.manifest["kind"] == "Queue":
        faults = stored(kept.manifest).notes.faults
        if faults or "spec" not in kept.manifest:
            message = faults[0].message if faults else "it has no spec"
            raise RefusedError(f"Volcano would refuse {MANIFESTS}/{kept.path}: {message}")


def _has_containers(task: Mapping[str, Any]) -> bool:
    return bool(task.get("name")) and bool(((task.get("template") or {}).get("spec") or {}).get("containers"))
