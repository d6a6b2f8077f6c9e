"""What a plugin may add to a job: fields that Kubernetes or Volcano knows, and not those that the core writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.plugins.plain import AnswerError, brief, check_route, expect, place_of, plain_map
from tfgitops.spec.model import JOB_LABEL, Patch
from tfgitops.spec.schema.formats import RESERVED_ENV
from tfgitops.targets.kubernetes.shape import Notes, settle, shape_of
from tfgitops.targets.memo import by_content
from tfgitops.targets.routes import MISSING, reach
from tfgitops.targets.tensorflow import TRAINING_CONTAINER

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SHAPES = {
    "job": ("volcano.schema.json", "Job"),
    "pod": ("pod.schema.json", "PodTemplateSpec"),
    "container": ("pod.schema.json", "Container"),
}
_WRITTEN_BY_CORE = {
    "job": {
        ("apiVersion",): "it is a Volcano Job",
        ("kind",): "it is a Volcano Job",
        ("status",): "it is the controller's to write",
        ("metadata", "name"): "the job's name and a digest make it",
        ("metadata", "namespace"): "it is the environment's",
        ("metadata", "finalizers"): "of a Job's metadata a plugin adds labels and annotations",
        ("metadata", "ownerReferences"): "of a Job's metadata a plugin adds labels and annotations",
        ("metadata", "labels", JOB_LABEL): "it is the job's name",
        ("spec", "tasks"): "they are the roles; patch them with role.pod(…) and role.container(…)",
        ("spec", "minAvailable"): "the roles decide it",
        ("spec", "policies"): "the strategy and the spec's `policies` decide them",
        ("spec", "schedulerName"): "it is always volcano",
    },
    "pod": {
        ("metadata", "labels", JOB_LABEL): "it is the job's name",
        ("metadata", "annotations", "tfgitops/rerun"): "it is the spec's `rerun`",
        ("spec", "hostname"): "Volcano names the pods, and TF_CONFIG names them by it",
        ("spec", "subdomain"): "the job's Service has this name, and TF_CONFIG names it",
        ("spec", "schedulerName"): "it is always volcano",
        ("spec", "ephemeralContainers"): "they are added to running pods, never written in a template",
    },
    "container": {},
}
"""What a patch cannot say: it would have no effect, or break discovery or identity."""


def plain_patch(answer: Patch) -> Patch:
    """Return a patch in plain values; its value may be shared with equal patches, and is not to be changed.

    Raises:
        AnswerError: it is none, or says what no plugin may say.
    """
    target, because = answer.target, answer.because
    kind, *roles = target if type(target) is tuple and target and type(target[0]) is str else ("",)
    right = not roles if kind == "job" else kind in ("pod", "container") and [*map(type, roles)] == [str]
    expect(right, "target", target, "('job',), ('pod', ROLE) or ('container', ROLE)")
    check_route(because, "because")
    return Patch(target, _partial(plain_map(answer.value, "value"), kind), because)


@by_content(1 << 14)
def _partial(value: dict[str, Any], kind: str) -> dict[str, Any]:
    for route, reason in _WRITTEN_BY_CORE[kind].items():
        if reach(value, route) is not MISSING:
            raise AnswerError(f"`{place_of(('value', *route))}` cannot be patched: {reason}")
    _check_containers(kind, value)
    notes = Notes()
    settle(shape_of(*_SHAPES[kind]), value, (), notes)
    for fault in notes.faults:
        if fault.rule != "crd-required":  # a patch is a part
            raise AnswerError(f"`{place_of(('value', *fault.at))}`: {fault.message}", fault.found, fault.expected)
    for pruned in notes.pruned:
        raise AnswerError(f"`{place_of(('value', *pruned))}` is no field that Kubernetes or Volcano knows")
    return value


def _check_containers(kind: str, value: Mapping[str, Any]) -> None:
    """Refuse what would rename the training container, stand beside it for ever, or speak in discovery's place."""
    if kind == "container":
        if value.get("name", TRAINING_CONTAINER) != TRAINING_CONTAINER:
            raise AnswerError("`value.name` cannot be patched", value["name"], TRAINING_CONTAINER)
        for name in _names(value.get("env")):
            if type(name) is str and RESERVED_ENV.fullmatch(name):
                raise AnswerError(f"the variable {name} is reserved: the compiler writes it")
    spec = value.get("spec") if kind == "pod" else None
    if type(spec) is not dict:
        return
    for name in _names(spec.get("containers")):
        if name == TRAINING_CONTAINER:
            raise AnswerError("`value.spec.containers` holds the training container: patch it with role.container(…)")
        message = f"it adds the sidecar '{brief(name)}', which never ends, and so its task never completes"
        raise AnswerError(message, expected="an init container with restartPolicy: Always, a native sidecar")


def _names(elements: Any) -> Iterator[Any]:
    if type(elements) is list:
        yield from (element.get("name", "") for element in elements if type(element) is dict)
