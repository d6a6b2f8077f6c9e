"""Plan the pods of one role: core, plugins, spec and overlays, each over the one before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tfgitops.spec.model import JOB_LABEL
from tfgitops.targets.kubernetes import quantity
from tfgitops.targets.kubernetes.merge import merge
from tfgitops.targets.kubernetes.schemafile import prepare
from tfgitops.targets.kubernetes.shape import shape_of
from tfgitops.targets.memo import by_content
from tfgitops.targets.shell.command import shell_command
from tfgitops.targets.tensorflow import SERVER_PORT, TRAINING_CONTAINER
from tfgitops.targets.volcano.defaults import without_empty

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tfgitops.spec.model import Job, Role
    from tfgitops.targets.kubernetes.merge import Conflict

RERUN_ANNOTATION = "tfgitops/rerun"

_JOB_KEYS = ("workdir", "serviceAccount", "imagePullSecrets", "rerun", "pod", "container")
"""What a job says of all its pods beside what its roles inherit."""

_OWN_KEYS = ("image", "command", "args", "env")
"""In what roles differ that are alike in all else."""


@dataclass(frozen=True, eq=False, slots=True)
class United:
    """What patches of equal rank say together of one target, and where they disagree.

    Equal patches have one object of this class, so that what follows from it is remembered by its identity.
    """

    value: Mapping[str, Any]
    conflicts: Sequence[Conflict] = ()


def plan_template(job: Job, role: Role, pod: United, container: United) -> dict[str, Any]:
    """Return the PodTemplateSpec of a role, still without its discovery.

    ``pod`` and ``container`` are what the plugins want. The template and its containers are the role's own; what is in
    them is shared with roles that are like it, and not to be changed.
    """
    own = _own_keys(job, role)
    about_job = {key: job.data[key] for key in _JOB_KEYS if key in job.data}
    about_role = {key: value for key, value in role.data.items() if key not in own}
    port = job.port if role.in_cluster else 0
    frame = _frame((port, about_job, about_role), pod, container)
    return _filled(frame, job.name, _own_fields({key: role.data[key] for key in own}))


def _own_keys(job: Job, role: Role) -> list[str]:
    """Name the keys in which a role differs from those that are like it, but for those that an overlay speaks of."""
    overlaid: set[str] = set()
    for holder in (job, role):
        if "containers" in (overlay_source(holder, "pod").get("spec") or ()):
            return []
        overlaid.update(overlay_source(holder, "container"))
    return [key for key in _OWN_KEYS if key in role.data and key not in overlaid]


def _filled(frame: Mapping[str, Any], name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a frame's template for the job of a name, the fields of its training container laid over the frame's."""
    metadata, spec = frame["metadata"], dict(frame["spec"])
    training, *others = spec["containers"]
    spec["containers"] = [_lay_over(training, fields), *map(dict, others)]
    if "initContainers" in spec:
        spec["initContainers"] = [*map(dict, spec["initContainers"])]
    return {**frame, "metadata": {**metadata, "labels": {**metadata["labels"], JOB_LABEL: name}}, "spec": spec}


@by_content(1 << 12)
def _frame(keys: tuple[Any, ...], pod: United, container: United) -> dict[str, Any]:
    """Plan all of a template that is the same for many roles; ``keys`` are their port and the keys that say it."""
    port, job, role = keys
    training: dict[str, Any] = {"name": TRAINING_CONTAINER}
    if port:
        training["ports"] = [{"name": SERVER_PORT, "containerPort": port, "protocol": "TCP"}]
    training = _lay_over(training, container.value)
    training = _lay_over(training, _own_fields(role) | _shared_fields(job | role))
    template = {
        "metadata": _metadata(job, pod.value.get("metadata", {})),
        "spec": {"restartPolicy": "Never", **pod.value.get("spec", {})},
    }
    template["spec"] |= _pod_fields(job | role, template["spec"])
    template["spec"]["containers"] = [training, *template["spec"].get("containers", ())]
    for data in (job, role):
        template = _overlaid(template, data)
    if any(overlay in data for data in (job, role) for overlay in ("container", "pod")):
        template["spec"] = without_empty(shape_of("pod.schema.json", "PodSpec"), template["spec"])
    _write_defaults(template)
    return template


def _overlaid(template: dict[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """Lay the overlays of a job, or of a role, over a template: what they say of all of the pod comes last."""
    if patch := _prepared(data, "container"):
        training, *others = template["spec"]["containers"]
        containers = [merge(training, patch, "Container"), *others]
        template = {**template, "spec": {**template["spec"], "containers": containers}}
    if patch := _prepared(data, "pod"):
        template = merge(template, patch, "PodTemplateSpec")
    return template


def overlay_source(holder: Job | Role, key: str) -> Mapping[str, Any]:
    """Return the raw Kubernetes fields, ``pod`` or ``container``, that a job or a role writes itself."""
    return holder.data.get(key) or {}


def _prepared(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return the raw Kubernetes fields in the keys of a job or a role, ready to be merged."""
    written = data.get(key)
    if not written:
        return {}
    prepared: dict[str, Any] = prepare(written, "PodTemplateSpec" if key == "pod" else "Container")
    return prepared


def _metadata(job: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the labels and annotations of a job's pods, but for our label with its name: the plugins' and ours."""
    metadata = {**wanted, "labels": wanted.get("labels", {})}
    if (rerun := job.get("rerun")) is not None:
        metadata["annotations"] = {**wanted.get("annotations", {}), RERUN_ANNOTATION: str(rerun)}
    return metadata


def _own_fields(data: Mapping[str, Any]) -> dict[str, Any]:
    """Say in Kubernetes's words what a role's own keys say of its container."""
    fields: dict[str, Any] = {}
    if "image" in data:
        fields["image"] = data["image"]
    if command := data.get("command"):
        fields["command"] = shell_command(command) if type(command) is str else _texts(command)
    if args := data.get("args"):
        fields["args"] = _texts(args)
    if env := data.get("env"):
        fields["env"] = [_variable(name, value) for name, value in env.items()]
    return fields


def _shared_fields(data: Mapping[str, Any]) -> dict[str, Any]:
    """Say in Kubernetes's words what the other keys of a job and a role say of its container."""
    fields: dict[str, Any] = {}
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
    """Lay a partial container without nulls over another; only what both have needs to be merged."""
    both = {key: fields[key] for key in fields if key in container}
    return {**container, **fields, **(merge({k: container[k] for k in both}, both, "Container") if both else {})}


def _pod_fields(data: Mapping[str, Any], below: Mapping[str, Any]) -> dict[str, Any]:
    """Say in Kubernetes's words what the keys of a job and a role say of its pods.

    Selectors and tolerations join those of the plugins, ``below``.
    """
    spec: dict[str, Any] = {}
    if "restartPolicy" in data:
        spec["restartPolicy"] = data["restartPolicy"]
    if "serviceAccount" in data:
        spec["serviceAccountName"] = data["serviceAccount"]
    if secrets := data.get("imagePullSecrets"):
        spec["imagePullSecrets"] = _joined(below.get("imagePullSecrets"), [{"name": name} for name in secrets])
    if selector := data.get("nodeSelector"):
        spec["nodeSelector"] = {**below.get("nodeSelector", {}), **{k: str(v) for k, v in selector.items()}}
    if tolerations := data.get("tolerations"):
        written = [{key: value for key, value in item.items() if value != ""} for item in tolerations]
        spec["tolerations"] = _joined(below.get("tolerations"), written)
    return spec


def _joined(already: list[Any] | None, further: list[Any]) -> list[Any]:
    return [*(already or ()), *(item for item in further if item not in (already or ()))]


def _texts(values: list[Any]) -> list[str]:
    return [str(value) for value in values]


def _write_defaults(template: dict[str, Any]) -> None:
    """Write out what Volcano's webhook and CRD would add to a pod template (docs/volcano.md 1)."""
    spec = template["spec"]
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
