"""Take a Volcano Job as its author meant it: with the right types and depths, without the server's fields.

Where Kubernetes would refuse or drop a field, and what was meant is clear, the field is mended and a remark says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tfgitops.adoption.remarks import Remark
from tfgitops.spec.diagnostics import Diagnostic
from tfgitops.spec.model import JOB_LABEL
from tfgitops.spec.schema.unknownkeys import brought
from tfgitops.targets.kubernetes.goform import rewritten
from tfgitops.targets.kubernetes.names import suggest_label
from tfgitops.targets.kubernetes.schemafile import schema_file
from tfgitops.targets.kubernetes.shape import Notes, Shape, settle, shape_of
from tfgitops.targets.routes import MISSING, reach, replaced
from tfgitops.targets.volcano.tasks import RULES as TASK_RULES
from tfgitops.targets.volcano.tasks import judge_policies

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfgitops.adoption.sourcefiles import SourceObject
    from tfgitops.targets.kubernetes.fault import Fault
    from tfgitops.targets.routes import Route

_SERVERS = (
    ("status",),
    *(
        ("metadata", key)
        for key in (
            "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "selfLink",
            "managedFields", "ownerReferences", "finalizers", "deletionGracePeriodSeconds",
        )
    ),
    ("metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"),
    ("metadata", "annotations", "argocd.argoproj.io/tracking-id"),
)  # fmt: skip
"""Fields that the server, a controller or a client writes; none belongs into Git."""

_TRUE, _FALSE = ("true", "yes", "on", "y"), ("false", "no", "off", "n")
_WHOLE = re.compile(r"([+-]?)(0[xX][0-9a-fA-F]+|0o?[0-7]+|[0-9][0-9_]*)(?:\.0+)?").fullmatch
_BITS = 64


@dataclass(kw_only=True, eq=False)
class Taken:
    """One Job of a source, with what is said of it; ``places`` lead from its routes to those of the source.

    ``renamed`` are the new names of tasks.
    """

    source: SourceObject
    manifest: dict[str, Any]
    places: Mapping[Route, Route] = field(default_factory=dict)
    remarks: list[Remark] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    renamed: dict[str, str] = field(default_factory=dict)
    framework: str = ""

    @property
    def spec(self) -> dict[str, Any]:
        """The spec of the Job."""
        found: dict[str, Any] = self.manifest["spec"]
        return found

    @property
    def ours(self) -> bool:
        """Whether tfgitops wrote the Job: it then has all of our defaults, and means nothing by what is not there."""
        return JOB_LABEL in (self.manifest["metadata"].get("labels") or {})

    @property
    def name(self) -> str:
        """The name of the job in a spec."""
        metadata = self.manifest["metadata"]
        labels: dict[str, str] = metadata.get("labels") or {}
        return labels.get(JOB_LABEL) or str(metadata.get("name", "")).rstrip("-.") or "job"

    def place(self, route: Route) -> Route:
        """Return the route in the source of a route in the Job."""
        for length in range(len(route), -1, -1):
            if route[:length] in self.places:
                return (*self.places[route[:length]], *route[length:])
        return route

    def say(self, sort: Any, text: str, at: Route | None = None) -> None:
        """Note a remark, at a route of the Job."""
        self.remarks.append(Remark(sort, text, None if at is None else self.place(at)))


def without_servers(value: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return an object without the fields that the server writes, and the names of those that it had."""
    gone = [route for route in _SERVERS if reach(value, route) is not MISSING]
    for route in gone:
        value = replaced(value, route, MISSING)
    return value, [".".join(map(str, route)) for route in gone]


def take(source: SourceObject, value: dict[str, Any], places: Mapping[Route, Route], remarks: list[Remark]) -> Taken:
    """Return a Job settled as the server would store it, but without its defaults; a problem is in its ``problems``.

    ``value`` is a Volcano Job: the source's own, or what a Job of another kind is as one.
    """
    taken = Taken(source=source, manifest={}, places=places, remarks=remarks)
    value, gone = without_servers(value)
    if gone:
        taken.say("dropped", f"the server's own: {', '.join(gone)}")
    shape, notes = shape_of("volcano.schema.json", "Job"), Notes()
    value = _named(taken, value)
    typed = _lifted(shape, meant(shape, value, (), taken), (), taken)
    settled = settle(shape, typed, (), notes)
    for route in notes.pruned:
        taken.say("lost", f"{route[-1]}: Kubernetes knows no such field{_answer(route)}", route)
    if not notes.faults:
        written = _written(settled, typed)
        taken.manifest = {"metadata": {}, **_written(rewritten(shape, written), written)}
        taken.manifest.setdefault("spec", {}).setdefault("tasks", [])
        _keep_timeouts(taken.spec, written.get("spec", {}))
        notes.faults += _faults(taken.spec)
    taken.problems += [_problem(taken, fault) for fault in notes.faults]
    if not taken.problems:
        _name_tasks(taken.spec["tasks"])
        _mount_volumes(taken)
    return taken


def meant(shape: Shape, value: Any, at: Route, taken: Taken | None) -> Any:
    """Give the scalars of a value the types of its shape: YAML 1.1's booleans and integers, and text without quotes."""
    if isinstance(value, dict):
        fields = shape.fields if shape.fields is not None else {}
        return {
            key: meant(inner, item, (*at, key), taken) if (inner := fields.get(key) or shape.every) else item
            for key, item in value.items()
        }
    if isinstance(value, list):
        inner = shape.every
        return [meant(inner, item, (*at, index), taken) if inner else item for index, item in enumerate(value)]
    if shape.kind == "boolean" and isinstance(value, str) and value.lower() in (*_TRUE, *_FALSE):
        return value.lower() in _TRUE
    if shape.kind == "integer" and isinstance(value, str) and (number := _WHOLE(value)):
        return _integer(number)
    if shape.kind == "string" and isinstance(value, bool | int):
        if taken:
            text = "true" if value is True else "false" if value is False else str(value)
            taken.say("mended", f"{at[-1]}: Kubernetes wants text here, and {text} without quotes is none", at)
        return str(value).lower() if isinstance(value, bool) else str(value)
    return value


def _integer(match: re.Match[str]) -> int:
    sign, digits = match[1], match[2].replace("_", "").lower()
    base = 16 if digits.startswith("0x") else 8 if digits != "0" and digits.startswith("0") else 10
    if len(digits) > _BITS:
        return 1 << _BITS  # too large, whatever it is; the shape says so
    return int(sign + digits.removeprefix("0o"), base)


def _named(taken: Taken, value: dict[str, Any]) -> dict[str, Any]:
    """Give a Job with `generateName` a name."""
    metadata = value.get("metadata")
    if not isinstance(metadata, dict) or "generateName" not in metadata:
        return value
    generated = metadata["generateName"]
    rest = {key: inner for key, inner in metadata.items() if key != "generateName"}
    if not rest.get("name") and isinstance(generated, str):
        rest["name"] = suggest_label(generated.rstrip("-."))
        told = (
            "generateName: no object in Git has one; here each change of the job is a new run, with a name of its own"
        )
        taken.say("mended", told, ("metadata", "generateName"))
    return {**value, "metadata": rest}


def _lifted(shape: Shape, value: Any, at: Route, taken: Taken) -> Any:
    """Move fields that stand one level too high to where they belong, as `restartPolicy` beside a pod's `spec`."""
    if isinstance(value, list) and shape.every:
        return [_lifted(shape.every, item, (*at, index), taken) for index, item in enumerate(value)]
    if not isinstance(value, dict) or shape.fields is None:
        return value
    moved = dict(value)
    for key in value.keys() - shape.fields.keys():
        inner = value.get("spec")
        fields = shape.fields["spec"].fields if "spec" in shape.fields else None
        if fields and key in fields and isinstance(inner, dict) and key not in inner:
            moved["spec"] = {**moved["spec"], key: moved.pop(key)}
            text = f"{key} stands one level too high, where Kubernetes drops it; it belongs into `spec`"
            taken.say("mended", text, (*at, key))
    return {
        key: _lifted(shape.fields[key], item, (*at, key), taken) if key in shape.fields else item
        for key, item in moved.items()
    }


def _written(settled: Any, given: Any) -> Any:
    """Return a settled value without the defaults of the schema."""
    if isinstance(settled, dict) and isinstance(given, dict):
        return {key: _written(item, given[key]) for key, item in settled.items() if key in given}
    if isinstance(settled, list) and isinstance(given, list):
        return [_written(item, said) for item, said in zip(settled, given, strict=False)]
    return settled


def _keep_timeouts(spec: Mapping[str, Any], written: Mapping[str, Any]) -> None:
    """Write the durations of policies as their author did: 10m, and not 10m0s."""
    pairs = [(spec, written), *zip(spec["tasks"], written.get("tasks", ()), strict=False)]
    for after, before in pairs:
        for policy, said in zip(after.get("policies", ()), before.get("policies", ()), strict=False):
            policy.update({key: said[key] for key in ("timeout",) if key in said})


def _answer(route: Route) -> str:
    """Return what the spec answers to a field of this name, if it has an answer."""
    definitions = schema_file("core.schema.json")["$defs"]
    said = next((said for name in ("job", "role") if (said := brought(str(route[-1]), definitions[name]))), "")
    return f" ({said})" if said else ""


def _faults(spec: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield what Volcano would refuse and no spec could say: two tasks of one name, two policies for one event."""
    yield from judge_policies(spec.get("policies", ()), ("spec", "policies"))
    seen: set[str] = set()
    for index, task in enumerate(spec["tasks"]):
        at: Route = ("spec", "tasks", index)
        yield from judge_policies(task.get("policies", ()), (*at, "policies"))
        if (name := task.get("name")) and name in seen:
            yield TASK_RULES.fault("task-name-duplicate", (*at, "name"), found=name)
        seen.add(str(name))


def _problem(taken: Taken, fault: Fault) -> Diagnostic:
    place = taken.place(fault.at)
    return Diagnostic(
        code="TF501", message=fault.message, span=taken.source.span(place), found=fault.found,
        expected=fault.expected, hint=fault.hint,
    )  # fmt: skip


def _name_tasks(tasks: list[dict[str, Any]]) -> None:
    for index, task in enumerate(tasks):
        task["name"] = task.get("name") or f"default{index}"


def _mount_volumes(taken: Taken) -> None:
    """Put the volumes of the Job into its pods, where a spec has them (docs/volcano.md 5)."""
    volumes = taken.spec.pop("volumes", ())
    for index, volume in enumerate(volumes):
        at: Route = ("spec", "volumes", index)
        claim = volume.get("volumeClaimName")
        if not claim:
            text = "a claim that Volcano makes for each Job, which goes with it: declare a volume with a `size` instead"
            taken.say("lost", text, at)
            continue
        taken.say("mended", f"the Job's volume {claim} is now a volume of its pods", at)
        for task in taken.spec["tasks"]:
            pod = task.setdefault("template", {}).setdefault("spec", {})
            pod.setdefault("volumes", []).append({"name": claim, "persistentVolumeClaim": {"claimName": claim}})
            for container in pod.get("containers", ()):
                mount = {"name": claim, "mountPath": volume.get("mountPath", "")}
                container.setdefault("volumeMounts", []).append(mount)
