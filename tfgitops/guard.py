"""Keep overlays from what discovery and identity need: the last word is theirs over all but that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.diagnostics import Problem
from tfgitops.formats import RESERVED_ENV
from tfgitops.template import PORT_NAME
from tfgitops.tensorflow.discovery import TRAINING_CONTAINER

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfgitops.diagnostics import Route
    from tfgitops.model import Job, Role

_RESERVED_PREFIXES = ("volcano.sh/", "tfgitops/")
_POD_FIELDS = {
    "hostname": "Volcano names the pods, and TF_CONFIG names them by it",
    "subdomain": "the job's Service has this name, and TF_CONFIG names it",
    "schedulerName": "the job's own scheduler, volcano, schedules the gang",
    "ephemeralContainers": "they are added to running pods, never written in a template",
}


def check_overlays(job: Job) -> Iterator[Problem]:
    """Yield a problem for each raw Kubernetes field of a job that would break its discovery or its identity."""
    in_cluster = any(role.in_cluster for role in job.roles)
    holders: list[tuple[Job | Role, bool]] = [(job, in_cluster), *((role, role.in_cluster) for role in job.roles)]
    for holder, clustered in holders:
        port = job.port if clustered else None
        if container := holder.data.get("container"):
            yield from _check_container(container, (*holder.route, "container"), port)
        if pod := holder.data.get("pod"):
            yield from _check_pod(pod, (*holder.route, "pod"), port)


def _check_container(container: Mapping[str, Any], at: Route, port: int | None) -> Iterator[Problem]:
    name = container.get("name", TRAINING_CONTAINER)
    if name != TRAINING_CONTAINER:
        yield _refused(
            (*at, "name"),
            f"the training container is called '{TRAINING_CONTAINER}', not '{name}'",
            "leave it out",
        )
    yield from _check_env(container, at)
    if port is None:
        return
    if "ports" in container and container["ports"] is None:
        yield _refused((*at, "ports"), f"without its ports the servers on port {port} cannot be named", "leave it out")
    for index, entry in enumerate(container.get("ports") or ()):
        if entry and (entry.get("containerPort") == port or entry.get("name") == PORT_NAME):
            message = f"port {port} is the TensorFlow servers' own"
            yield _refused((*at, "ports", index), message, "change it with the job's `port`, for all roles")


def _check_env(container: Mapping[str, Any], at: Route) -> Iterator[Problem]:
    for index, entry in enumerate(container.get("env") or ()):
        name = str(entry.get("name", "")) if entry else ""
        if RESERVED_ENV.fullmatch(name):
            message = f"the variable {name} is reserved"
            yield _refused((*at, "env", index, "name"), message, "the compiler writes it; leave it out")


def _check_pod(pod: Mapping[str, Any], at: Route, port: int | None) -> Iterator[Problem]:
    yield from _check_metadata(pod.get("metadata") or {}, (*at, "metadata"))
    spec = pod.get("spec") or {}
    for field, reason in _POD_FIELDS.items():
        if field in spec:
            yield _refused((*at, "spec", field), f"'{field}' cannot be given: {reason}", "leave it out")
    if spec.get("restartPolicy") not in (None, "Never", "OnFailure"):
        message = f"restartPolicy {spec['restartPolicy']}: the task would never complete"
        yield Problem(
            code="TF502", message=message, at=(*at, "spec", "restartPolicy"), expected="Never or OnFailure",
            hint="leave it out; Never is the default",
        )  # fmt: skip
    if "containers" in spec and spec["containers"] is None:
        yield _refused((*at, "spec", "containers"), "a pod needs its training container", "leave it out")
    for index, container in enumerate(spec.get("containers") or ()):
        place = (*at, "spec", "containers", index)
        if container.get("name") == TRAINING_CONTAINER:
            yield from _check_container(container, place, port)
        else:
            yield sidecar(place, str(container.get("name", "")))
    for index, container in enumerate(spec.get("initContainers") or ()):
        yield from _check_env(container, (*at, "spec", "initContainers", index))


def _check_metadata(metadata: Mapping[str, Any], at: Route) -> Iterator[Problem]:
    for kind in ("labels", "annotations"):
        for key in metadata.get(kind) or ():
            if key.startswith(_RESERVED_PREFIXES):
                owner = "Volcano" if key.startswith("volcano") else "the compiler"
                yield _refused((*at, kind, key), f"'{key}' is reserved: {owner} writes it", "leave it out")


def sidecar(at: Route, name: str) -> Problem:
    """Say that a second container never ends, and how Kubernetes has it."""
    return Problem(
        code="TF403", message=f"the sidecar '{name}' never ends, and so its task never completes", at=at,
        hint="make it a native sidecar: `pod: {spec: {initContainers: [{name: …, restartPolicy: Always, …}]}}`",
    )  # fmt: skip


def _refused(at: Route, message: str, hint: str) -> Problem:
    return Problem(code="TF402", message=message, at=at, hint=hint)
