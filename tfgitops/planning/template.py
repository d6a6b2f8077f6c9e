"""Plan the pods of one role in four layers, each over the one before: the core, the plugins, the spec, its overlays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tfgitops.spec.model import JOB_LABEL
from tfgitops.targets.kubernetes import quantity
from tfgitops.targets.kubernetes.goform import without_empty
from tfgitops.targets.kubernetes.merge import merge
from tfgitops.targets.kubernetes.schemafile import prepare
from tfgitops.targets.kubernetes.shape import shape_of
from tfgitops.targets.memo import by_content
from tfgitops.targets.shell.command import shell_command
from tfgitops.targets.tensorflow import SERVER_PORT, TRAINING_CONTAINER
from tfgitops.targets.volcano.tasks import action_on

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tfgitops.spec.model import Job, Role
    from tfgitops.targets.kubernetes.merge import Conflict

RERUN_ANNOTATION = "tfgitops/rerun"

_JOB_KEYS = ("workdir", "serviceAccount", "imagePullSecrets", "rerun", "pod", "container")
"""Keys of a job that its pods follow, and that its roles do not inherit."""

_OWN_KEYS = ("image", "command", "args", "env")
"""Keys that often differ between roles whose other keys are equal."""


@dataclass(frozen=True, eq=False, slots=True)
class United:
    """The joined patches of one target, and the fields for which plugins want different values.

    Equal patches share one object of this class, so a memo may know it by its identity.
    """

    value: Mapping[str, Any]
    conflicts: Sequence[Conflict] = ()


def plan_template(job: Job, role: Role, pod: United, container: United) -> dict[str, Any]:
    """Return the PodTemplateSpec of a role, without the variables of `Discovery`.

    ``pod`` and ``container`` are the patches of plugins. You may change the template and its containers, but not what
    is in them: similar roles share that.
    """
    own = _own_keys(job, role)
    about_job = {key: job.data[key] for key in _JOB_KEYS if key in job.data}
    about_role = {key: value for key, value in role.data.items() if key not in own}
    port = job.port if role.has_server else 0
    frame = _frame((port, _restart_policy(role), about_job, about_role), pod, container)
    return _filled(frame, job.name, _container_fields({key: role.data[key] for key in own}))


def _restart_policy(role: Role) -> str:
    """Return the default: an evaluator restarts in its pod, at no retry, unless a policy of its own is for failures."""
    policies = role.data.get("policies") or ()
    answered = action_on("PodFailed", policies) or any("exitCode" in policy for policy in policies)
    return "OnFailure" if role.kind == "evaluator" and not answered else "Never"


def _own_keys(job: Job, role: Role) -> list[str]:
    """Return those `_OWN_KEYS` of a role that no overlay sets."""
    overlaid: set[str] = set()
    for holder in (job, role):
        if "containers" in ((holder.data.get("pod") or {}).get("spec") or ()):
            return []
        overlaid.update(holder.data.get("container") or ())
    return [key for key in _OWN_KEYS if key in role.data and key not in overlaid]


def _filled(frame: Mapping[str, Any], name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the template of a frame with the name of a job, and with some fields of the training container."""
    metadata, spec = frame["metadata"], dict(frame["spec"])
    training, *others = spec["containers"]
    spec["containers"] = [_lay_over(training, fields), *map(dict, others)]
    if "initContainers" in spec:
        spec["initContainers"] = [*map(dict, spec["initContainers"])]
    return {**frame, "metadata": {**metadata, "labels": {**metadata["labels"], JOB_LABEL: name}}, "spec": spec}


@by_content(1 << 12)
def _frame(keys: tuple[Any, ...], pod: United, container: United) -> dict[str, Any]:
    """Plan the part of a template that many roles share; ``keys`` are what it follows from."""
    port, restart, job, role = keys
    said = job | role
    training: dict[str, Any] = {"name": TRAINING_CONTAINER}
    if port:
        training["ports"] = [{"name": SERVER_PORT, "containerPort": port, "protocol": "TCP"}]
    training = _lay_over(_lay_over(training, container.value), _container_fields(said))
    spec: dict[str, Any] = {"restartPolicy": restart, **pod.value.get("spec", {})}
    spec |= _pod_fields(said, spec)
    spec["containers"] = [training, *spec.get("containers", ())]
    template = {"metadata": _metadata(job, pod.value.get("metadata", {})), "spec": spec}
    for data in (job, role):
        template = _overlaid(template, data)
    if any(overlay in data for data in (job, role) for overlay in ("container", "pod")):
        template["spec"] = without_empty(shape_of("pod.schema.json", "PodSpec"), template["spec"])
    _write_defaults(template["spec"])
    return template


def _overlaid(template: dict[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """Lay the overlays of a job or a role over a template: first ``container``, then ``pod``."""
    if written := data.get("container"):
        training, *others = template["spec"]["containers"]
        containers = [merge(training, prepare(written, "Container"), "Container"), *others]
        template = {**template, "spec": {**template["spec"], "containers": containers}}
    if written := data.get("pod"):
        template = merge(template, prepare(written, "PodTemplateSpec"), "PodTemplateSpec")
    return template


def _metadata(job: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata that the pods of similar jobs share: the plugins', and the annotation for `rerun`."""
    metadata = {**wanted, "labels": wanted.get("labels", {})}
    if (rerun := job.get("rerun")) is not None:
        metadata["annotations"] = {**wanted.get("annotations", {}), RERUN_ANNOTATION: str(rerun)}
    return metadata


def _container_fields(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the training container that the keys of a job or a role stand for."""
    fields: dict[str, Any] = {}
    if "image" in data:
        fields["image"] = data["image"]
    if command := data.get("command"):
        fields["command"] = shell_command(command) if type(command) is str else [*map(str, command)]
    if args := data.get("args"):
        fields["args"] = [*map(str, args)]
    if env := data.get("env"):
        fields["env"] = [_variable(name, value) for name, value in env.items()]
    if "workdir" in data:
        fields["workingDir"] = data["workdir"]
    if ports := data.get("ports"):
        fields["ports"] = [
            {"name": name, "containerPort": port["port"], "protocol": "TCP"} for name, port in sorted(ports.items())
        ]
    if resources := _resources(data):
        fields["resources"] = resources
    return fields


def _variable(name: str, value: Any) -> dict[str, Any]:
    if type(value) is not dict:
        return {"name": name, "value": str(value)}
    if "field" in value:
        return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": value["field"]}}}
    kind, source = ("secretKeyRef", "secret") if "secret" in value else ("configMapKeyRef", "configMap")
    reference = {"name": value[source], "key": value["key"]}
    if "optional" in value:
        reference["optional"] = value["optional"]
    return {"name": name, "valueFrom": {kind: reference}}


def _resources(data: Mapping[str, Any]) -> dict[str, Any]:
    resources: dict[str, dict[str, str]] = {}
    for name in ("cpu", "memory"):
        for bound, value in (data.get(name) or {}).items():
            resources.setdefault(f"{bound}s", {})[name] = quantity.canonical(value)
    return resources


def _lay_over(container: dict[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Lay fields without nulls over a container. Only fields that both have are merged, because a merge is slow."""
    both = {key: fields[key] for key in fields if key in container}
    return {**container, **fields, **(merge({k: container[k] for k in both}, both, "Container") if both else {})}


def _pod_fields(data: Mapping[str, Any], below: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the pods that the keys of a job and a role stand for.

    Lists and selectors begin with those of the plugins, which are in ``below``.
    """
    spec: dict[str, Any] = {}
    if "restartPolicy" in data:
        spec["restartPolicy"] = data["restartPolicy"]
    if "serviceAccount" in data:
        spec["serviceAccountName"] = data["serviceAccount"]
    if secrets := data.get("imagePullSecrets"):
        spec["imagePullSecrets"] = _joined(below.get("imagePullSecrets", ()), [{"name": name} for name in secrets])
    if selector := data.get("nodeSelector"):
        spec["nodeSelector"] = {**below.get("nodeSelector", {}), **{k: str(v) for k, v in selector.items()}}
    if tolerations := data.get("tolerations"):
        written = [{key: value for key, value in item.items() if value != ""} for item in tolerations]
        spec["tolerations"] = _joined(below.get("tolerations", ()), written)
    return spec


def _joined(already: Sequence[Any], further: list[Any]) -> list[Any]:
    return [*already, *(item for item in further if item not in already)]


def _write_defaults(spec: dict[str, Any]) -> None:
    """Write the defaults that Volcano's webhook and CRD would add to a pod (docs/volcano.md 1)."""
    if spec.get("hostNetwork"):
        spec.setdefault("dnsPolicy", "ClusterFirstWithHostNet")
    for key in ("containers", "initContainers"):
        if key in spec:
            spec[key] = [_with_defaults(container) for container in spec[key]]


def _with_defaults(container: Mapping[str, Any]) -> dict[str, Any]:
    whole = dict(container)
    if ports := whole.get("ports"):
        whole["ports"] = [{"protocol": "TCP", **port} for port in ports]
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        probe = whole.get(name)
        if probe and probe.get("grpc"):
            whole[name] = {**probe, "grpc": {"service": "", **probe["grpc"]}}
    return whole
