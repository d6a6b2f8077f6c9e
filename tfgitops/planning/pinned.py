"""Find and judge the committed manifests of pinned jobs, and of the objects that these jobs need."""

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
    """One committed file that nobody edited: its path below ``manifests/``, its text, and the object in it."""

    path: str
    text: str
    own: str
    manifest: dict[str, Any]

    @property
    def reference(self) -> Reference:
        """The kind and the name of the object."""
        return self.manifest["kind"], self.manifest["metadata"]["name"]


class RefusedError(Exception):
    """Raised for a committed file that cannot stay in force; ``complaint`` says why."""

    def __init__(self, message: str, hint: str = _RESTORE, expected: str = "") -> None:
        super().__init__(message)
        self.complaint = Problem(code="TF306", message=message, at=(), expected=expected, hint=hint)


def as_it_runs(environment: Environment, manifests: Mapping[str, Mapping[str, Any]]) -> Environment:
    """Return an environment in which each pinned job has a role for each task of its committed manifest.

    ``manifests`` has the manifests by the names of the jobs. A role keeps the keys that the spec gives to its name.
    """
    changed = replace(environment, jobs=())
    jobs = []
    for job in environment.jobs:
        manifest = manifests.get(job.name)
        roles = tuple(_role(job, task) for task in manifest["spec"]["tasks"]) if manifest else job.roles
        jobs.append(replace(job, environment=changed, roles=roles))
    object.__setattr__(changed, "jobs", tuple(jobs))  # the one circle, closed as `resolve` does
    return changed


def _role(job: Job, task: Mapping[str, Any]) -> Role:
    name, replicas = task["name"], task.get("replicas", 1)
    training = task["template"]["spec"]["containers"][0]
    # With `strategy: none`, other tasks may have the names of TensorFlow's roles.
    is_tensorflow = any(entry.get("name") == "TF_CONFIG" for entry in training.get("env") or ())
    kind = name if name in ROLE_NAMES and is_tensorflow else "task"
    written = next((role.data for role in job.roles if role.name == name), {})
    data = {**written, "minAvailable": task.get("minAvailable", replicas)}
    return Role(name=name, kind=kind, replicas=replicas, data=data, route=(*job.route, "pin"))


def job_path(job: str) -> str:
    """Return the path of a job's manifest below ``manifests/``."""
    return f"workloads/{file_name('Job', job)}"


def committed_job(job: str, namespace: str, texts: Mapping[str, str], pin: str = "") -> Committed:
    """Return the committed manifest of a job, exactly as the compiler wrote it.

    ``texts`` has the committed manifests by path. Without ``pin``, any name of the Job will do. Raises RefusedError if
    there is no such manifest, someone edited it, or it is not of this job.
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
    """Return one committed file, exactly as the compiler wrote it.

    ``text`` has LF line ends. ``sources`` are the routes that the header may name; without any, it may name all.
    Raises RefusedError if the file is not ours, someone edited it, or it does not hold the object of its name.
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
    if not holds_its_object(path, manifest):
        raise RefusedError(f"{shown} does not hold the object that its name promises")
    return Committed(path=path, text=text, own=header.own, manifest=manifest)


class Needs:
    """The committed objects that pinned jobs need. Each object goes to the first job that needs it."""

    def __init__(self, texts: Mapping[str, str], made: Iterable[Reference], namespace: str) -> None:
        self._texts = texts
        self._namespace = namespace
        self._known = set(made)
        self._files = {path.rpartition("/")[2]: path for path in sorted(texts, reverse=True)}
        self._others = [path for path in texts if not path.startswith(_JOBS)]

    def of(self, job: Committed) -> Iterator[Committed]:
        """Yield the committed files that a job needs, unless the compile makes the object or an earlier job got it.

        An object that is neither made nor committed is not the spec's business: the cluster may have it.
        Raises RefusedError if a file cannot stay in force.
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
    """Return the error for a job without a committed manifest; the hint names the job that has the pinned Job."""
    message = f"the job '{job}' has no committed manifest, {MANIFESTS}/{job_path(job)}"
    other = pin.rpartition("-")[0]
    if other != job and job_path(other) in texts:
        return RefusedError(message, f"'{pin}' is a Job of '{other}': a pinned job keeps its name, or gives up its pin")
    return RefusedError(message, _RESTORE if pin else "build it first, and commit it")


def holds_its_object(path: str, value: Any) -> bool:
    """Tell whether a file holds the object of its name. The name of a Job has a digest, which is checked later."""
    metadata = value.get("metadata") if type(value) is dict else None
    kind, name = (value.get("kind"), metadata.get("name")) if type(metadata) is dict else (None, None)
    if type(kind) is not str or type(name) is not str:
        return False
    names = (name, name.rpartition("-")[0]) if kind == "Job" else (name,)
    return path.rpartition("/")[2] in [file_name(kind, one) for one in names]


def _judge_job(manifest: dict[str, Any]) -> None:
    """Refuse an object without the shape of a Job, since later stages rely on this shape."""
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
    """Refuse an object without the shape of a Queue, since admission judges all queues together."""
    if kept.manifest["kind"] == "Queue":
        faults = stored(kept.manifest).notes.faults
        if faults or "spec" not in kept.manifest:
            message = faults[0].message if faults else "it has no spec"
            raise RefusedError(f"Volcano would refuse {MANIFESTS}/{kept.path}: {message}")


def _has_containers(task: Mapping[str, Any]) -> bool:
    return bool(task.get("name")) and bool(((task.get("template") or {}).get("spec") or {}).get("containers"))
