"""Check the overlays of a job, ``pod`` and ``container``: they may not break its discovery or its identity."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tfgitops.planning.tfconfig import hosts_variable
from tfgitops.spec.diagnostics import Problem
from tfgitops.spec.schema.formats import RESERVED_ENV, reserved_variable
from tfgitops.targets.kubernetes.merge import repeated
from tfgitops.targets.memo import by_content
from tfgitops.targets.routes import reach, value_at
from tfgitops.targets.tensorflow import SERVER_PORT, TRAINING_CONTAINER
from tfgitops.targets.volcano.defaults import NOT_IN_PODS
from tfgitops.targets.volcano.jobmetadata import OWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfgitops.spec.model import Job, Role
    from tfgitops.targets.routes import Route

_RESERVED: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("labels", "label", {"volcano.sh/": "Volcano", "tfgitops/": "the compiler"}),
    ("annotations", "annotation", {"tfgitops/": "the compiler"}),
)


def check_overlays(job: Job) -> Iterator[Problem]:
    """Yield the problems in the overlays of a job and its roles, and a problem for each ``env`` key that sets hosts."""
    hosts = frozenset([hosts_variable(role.name) for role in job.roles])
    holders: list[tuple[Job | Role, bool]] = [(role, role.has_server) for role in job.roles]
    for holder, in_cluster in [(job, any(clustered for _, clustered in holders)), *holders]:
        for name in sorted(hosts & (holder.data.get("env") or {}).keys()):
            yield _reserved_variable((*holder.route, "env", name), name)
        for kind in ("container", "pod"):
            if written := holder.data.get(kind):
                for problem in _judge(written, kind, job.port if in_cluster else None, hosts):
                    yield replace(problem, at=(*holder.route, kind, *problem.at))


@by_content(1024)
def _judge(written: dict[str, Any], kind: str, port: int | None, hosts: frozenset[str]) -> tuple[Problem, ...]:
    """Return the problems of an overlay, at routes within it. Many jobs inherit one overlay from `defaults`."""
    rules = _Rules(port, hosts)
    found = [*(rules.pod if kind == "pod" else rules.container)(written, ())]
    twice = repeated(written, "PodTemplateSpec" if kind == "pod" else "Container")
    return (*found, *(_given_twice(route, value_at(written, route)) for route in twice))


class _Rules:
    """Rules for overlays of a job whose servers have ``port``, and whose lists of hosts are the variables ``hosts``."""

    def __init__(self, port: int | None, hosts: frozenset[str]) -> None:
        self._port = port
        self._hosts = hosts

    def container(self, container: Mapping[str, Any], at: Route) -> Iterator[Problem]:
        """Yield the problems in fields of the training container."""
        name = container.get("name", TRAINING_CONTAINER)
        if name != TRAINING_CONTAINER:
            message = f"the training container is called '{TRAINING_CONTAINER}', not '{name}'"
            yield _refused((*at, "name"), message, "leave it out")
        yield from self._variables(container, at)
        if self._port is None:
            return
        if "ports" in container and container["ports"] is None:
            message = f"without its ports the servers on port {self._port} cannot be named"
            yield _refused((*at, "ports"), message, "leave it out")
        for index, entry in enumerate(container.get("ports") or ()):
            if entry and (entry.get("containerPort") == self._port or entry.get("name") == SERVER_PORT):
                message = f"port {self._port} is the TensorFlow servers' own"
                yield _refused((*at, "ports", index), message, "change it with the job's `port`, for all roles")

    def pod(self, pod: Mapping[str, Any], at: Route) -> Iterator[Problem]:
        """Yield the problems in fields of the pod template."""
        for route in (("metadata",), ("metadata", "labels"), ("metadata", "annotations"), ("spec",)):
            if reach(pod, route) is None:
                message = f"null would remove all of {route[-1]}, and with it what the job needs"
                yield _refused((*at, *route), message, "remove single fields, or leave it out", on_key=True)
        for field, what, owners in _RESERVED:
            for key in (pod.get("metadata") or {}).get(field) or ():
                owner = next((owner for prefix, owner in owners.items() if key.startswith(prefix)), "")
                if owner and key not in OWN:
                    message = f"the {what} '{key}' is reserved: {owner} writes it"
                    yield _refused((*at, "metadata", field, key), message, "leave it out", on_key=True)
        yield from self._spec(pod.get("spec") or {}, (*at, "spec"))

    def _spec(self, spec: Mapping[str, Any], at: Route) -> Iterator[Problem]:
        for field, reason in NOT_IN_PODS.items():
            if field in spec:
                message = f"'{field}' cannot be given: {reason}"
                yield _refused((*at, field), message, "leave it out", on_key=True)
        policy = spec.get("restartPolicy", "Never")
        if policy not in ("Never", "OnFailure"):
            message = f"restartPolicy {policy or 'null, which means Always'}: the task would never complete"
            expected, hint = "Never or OnFailure", "leave it out; Never is the default"
            yield Problem(code="TF502", message=message, at=(*at, "restartPolicy"), expected=expected, hint=hint)
        if "containers" in spec and spec["containers"] is None:
            yield _refused((*at, "containers"), "a pod needs its training container", "leave it out", on_key=True)
        for index, container in enumerate(spec.get("containers") or ()):
            place = (*at, "containers", index)
            if container.get("name") == TRAINING_CONTAINER:
                yield from self.container(container, place)
            else:
                yield _sidecar((*place, "name"), str(container.get("name", "")))
        for index, container in enumerate(spec.get("initContainers") or ()):
            place = (*at, "initContainers", index)
            if container.get("name") == TRAINING_CONTAINER:
                message = f"'{TRAINING_CONTAINER}' is the training container's name"
                yield _refused((*place, "name"), message, "give the init container another name")
            yield from self._variables(container, place)

    def _variables(self, container: Mapping[str, Any], at: Route) -> Iterator[Problem]:
        for index, entry in enumerate(container.get("env") or ()):
            name = str(entry.get("name", "")) if entry else ""
            if name in self._hosts or RESERVED_ENV.fullmatch(name):
                yield _reserved_variable((*at, "env", index, "name"), name)


def _sidecar(at: Route, name: str) -> Problem:
    return Problem(
        code="TF403", message=f"the sidecar '{name}' never ends, and so its task never completes", at=at,
        hint="make it a native sidecar: `pod: {spec: {initContainers: [{name: …, restartPolicy: Always, …}]}}`",
    )  # fmt: skip


def _reserved_variable(at: Route, name: str) -> Problem:
    return replace(reserved_variable(name), at=at, on_key=at[-1] == name)


def _given_twice(at: Route, element: Any) -> Problem:
    name = next((str(element[key]) for key in ("name", "mountPath", "containerPort", "ip") if key in element), "")
    message = f"'{name}' is in this list twice, and Kubernetes would merge the two"
    return Problem(code="TF104", message=message, at=at, hint="keep one of the two")


def _refused(at: Route, message: str, hint: str, *, on_key: bool = False) -> Problem:
    return Problem(code="TF402", message=message, at=at, hint=hint, on_key=on_key)
