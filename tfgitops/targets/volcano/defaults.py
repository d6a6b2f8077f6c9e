"""What the server stores of an object: its defaults, how `kubectl apply` merges, and where that differs from Git."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from operator import is_
from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes.fault import Fault, Rules, show
from tfgitops.targets.kubernetes.goform import rewritten
from tfgitops.targets.kubernetes.quantity import parse
from tfgitops.targets.kubernetes.shape import Notes, Shape, settle, shape_of
from tfgitops.targets.routes import MISSING, reach
from tfgitops.targets.volcano.identity import is_mutable
from tfgitops.targets.volcano.queuetree import ROOT_QUEUE, rooted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfgitops.targets.routes import Route

    Json = dict[str, Any]

SCHEDULER = "volcano"
NOT_IN_PODS = {
    "hostname": "Volcano names the pods, and their peers find them by it",
    "subdomain": "the job's Service has this name, and the pods' addresses end with it",
    "schedulerName": "the job's own scheduler, volcano, schedules the gang",
    "nodeName": "the pods would go past the scheduler and its queues; `nodeSelector` chooses nodes",
    "ephemeralContainers": "they are added to running pods, never written in a template",
}
"""Fields of a pod that nobody may give, each with the reason."""
MAX_RETRY = 3
DEFAULT_QUEUE = "default"
NEEDS = {"tensorflow": ["svc"], "pytorch": ["svc"], "mpi": ["ssh", "svc"], "ray": ["svc"]}
"""Job plugins that need others, which the webhook then adds."""
_SHOWN_MAX = 60
DRIFT_RULES = Rules.read("""
    drift-added: {place} is left out, and the server would store {after} | write {after} there
    drift-dropped: {place} is {found}, and the server would drop it | leave it out
    drift-changed: {place} is {found}, and the server would store {after} | write {after}
""")


@dataclass(frozen=True, kw_only=True)
class Stored:
    """An object as the server would store it, and what was noted on the way; empty where its shape is wrong."""

    manifest: Json
    notes: Notes


def stored(manifest: object, *, tasks: bool = True) -> Stored:
    """Return what the server would make of a manifest that it creates: the same object where it changes nothing.

    Without ``tasks``, tasks are taken to be stored as they are.
    """
    settled = _settled(manifest, tasks=tasks)
    if settled.notes.faults:
        return settled
    mutate = _mutate_queue if settled.manifest.get("kind") == "Queue" else _mutate_job
    return Stored(manifest=mutate(settled.manifest), notes=settled.notes)


def applied(old: Json, new: Json) -> tuple[Json, Stored]:
    """Give the stored object before and after `kubectl apply` of `new` over the applied manifest `old`.

    The webhook adds its defaults only on CREATE; the schema's own come back in each update.
    """
    live = stored(old).manifest
    return live, _settled(three_way(live, old, new))


def drift(manifest: Json) -> list[Route]:
    """List where the stored object would differ from the manifest: defaults, rewriting, pruning."""
    return difference(manifest, stored(manifest).manifest)


def noop(old: Json, new: Json) -> bool:
    """Tell whether applying `new` over `old` writes nothing at all."""
    live, after = applied(old, new)
    return not difference(live, after.manifest)


def _settled(manifest: object, *, tasks: bool = True) -> Stored:
    kind = manifest.get("kind") if isinstance(manifest, dict) else None
    notes = Notes()
    if isinstance(manifest, dict) and "status" in manifest:
        manifest = {key: value for key, value in manifest.items() if key != "status"}
    result = settle(_shape("Queue" if kind == "Queue" else "Job", tasks=tasks), manifest, (), notes)
    if notes.faults:
        return Stored(manifest={}, notes=notes)
    given = result.get("metadata", {})
    # The server leaves out what is empty, and the namespace of what has none.
    metadata = {key: value for key, value in given.items() if value and (kind != "Queue" or key != "namespace")}
    if len(metadata) < len(given):
        result = {**result, "metadata": metadata}
    return Stored(manifest=result, notes=notes)


@cache
def _shape(kind: str, *, tasks: bool) -> Shape:
    """Give the shape of a Job or a Queue; without tasks, one in which they may be anything."""
    shape = shape_of("volcano.schema.json", kind)
    if tasks or kind == "Queue":
        return shape
    assert shape.fields is not None
    spec = shape.fields["spec"]
    assert spec.fields is not None
    anything = replace(spec.fields["tasks"], every=Shape(kind="any"))
    return replace(shape, fields={**shape.fields, "spec": replace(spec, fields={**spec.fields, "tasks": anything})})


def _mutate_queue(queue: Json) -> Json:
    metadata, spec = queue.get("metadata", {}), queue.get("spec")
    annotations = metadata.get("annotations", {})
    if annotations != (places := rooted(annotations)):
        queue = {**queue, "metadata": {**metadata, "annotations": places}}
    if spec is None:
        return queue
    defaults: Json = {"reclaimable": True}
    if metadata.get("name") != ROOT_QUEUE:
        defaults["parent"] = ROOT_QUEUE
    missing = {key: value for key, value in defaults.items() if key not in spec}
    return {**queue, "spec": {**spec, **missing}} if missing else queue


def _mutate_job(job: Json) -> Json:
    spec = job.get("spec")
    if spec is None:
        return job
    tasks = spec.get("tasks", [])
    full = [with_defaults(task, i) for i, task in enumerate(tasks)]
    changes: Json = {}
    if not all(map(is_, full, tasks)):
        shape = shape_of("volcano.schema.json", "TaskSpec")
        changes["tasks"] = full = [settle(shape, rewritten(shape, task), (), Notes()) for task in full]
    defaults = {
        "schedulerName": SCHEDULER,
        "queue": DEFAULT_QUEUE,
        "maxRetry": MAX_RETRY,
        "minAvailable": sum(task["minAvailable"] for task in full),
    }
    changes.update({key: value for key, value in defaults.items() if not spec.get(key)})
    plugins = spec.get("plugins", {})
    missing = [need for plugin in plugins for need in NEEDS.get(plugin, ()) if need not in plugins]
    if missing:
        changes["plugins"] = {**plugins, **{need: [] for need in missing}}
    return {**job, "spec": {**spec, **changes}} if changes else job


def with_defaults(task: Json, position: int) -> Json:
    """Give a task with the webhook's defaults; the same object where it has them all."""
    changes: Json = {}
    if not task.get("name"):
        changes["name"] = f"default{position}"
    if "minAvailable" not in task:
        changes["minAvailable"] = task.get("replicas", 0)
    if not task.get("maxRetry"):
        changes["maxRetry"] = MAX_RETRY
    pod = task.get("template", {}).get("spec", {})
    if pod.get("hostNetwork") and not pod.get("dnsPolicy"):
        changes["template"] = {**task["template"], "spec": {**pod, "dnsPolicy": "ClusterFirstWithHostNet"}}
    return {**task, **changes} if changes else task


def immutable_changes(old: Json, new: Json) -> list[Route]:
    """List the fields that differ between two manifests, both Jobs or both Queues, and cannot change in place."""
    live, after = applied(old, new)
    return immutable_fields(live, after.manifest)


def immutable_fields(live: Json, after: Json) -> list[Route]:
    """List what differs between two stored manifests and cannot change in place; as in Go, an empty field is none."""
    if live.get("kind") == "Queue":  # all of it may change
        return []
    shape = shape_of("volcano.schema.json", "Job")
    routes = difference(rewritten(shape, live, parse), rewritten(shape, after, parse))
    return [route for route in routes if not is_mutable(route)]


def three_way(live: Mapping[str, Any], old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Merge `new` into `live`, dropping what `old` had and `new` has no more; lists replace each other whole."""
    merged: dict[str, Any] = {**{key: live[key] for key in live if key in new or key not in old}, **new}
    for key in live.keys() & new.keys():
        if isinstance(live[key], dict) and isinstance(new[key], dict):
            before = old.get(key)
            merged[key] = three_way(live[key], before if isinstance(before, dict) else {}, new[key])
    return merged


def difference(before: Any, after: Any, at: Route = ()) -> list[Route]:
    """List the outermost places at which two JSON values differ."""
    if before is after:
        return []
    if isinstance(before, dict) and isinstance(after, dict):
        pairs = [(key, before.get(key, MISSING), after.get(key, MISSING)) for key in {**before, **after}]
        return [route for key, old, new in pairs for route in difference(old, new, (*at, key))]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [
            route for i, pair in enumerate(zip(before, after, strict=True)) for route in difference(*pair, (*at, i))
        ]
    return [] if type(before) is type(after) and before == after else [at]


def judge_drift(manifest: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Fault]:
    """Judge a manifest beside the object that the server would store."""
    for at in difference(manifest, after):
        given, kept = reach(manifest, at), reach(after, at)
        rule = "drift-added" if given is MISSING else "drift-dropped" if kept is MISSING else "drift-changed"
        place = ".".join(map(str, at))
        yield DRIFT_RULES.fault(rule, at, found=_show(given), expected=_show(kept), place=place, after=_show(kept))


def _show(value: Any) -> str:
    if value is MISSING:
        return ""
    text = json.dumps(value) if isinstance(value, dict | list) else show(value)
    return text if len(text) <= _SHOWN_MAX else show(value)
