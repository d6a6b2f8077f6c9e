"""Compare the Job of a source with the one that its spec compiles to, both as the cluster would store them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from tfgitops.planning.jobmanifest import API_VERSION
from tfgitops.spec.model import JOB_LABEL
from tfgitops.targets.kubernetes import duration
from tfgitops.targets.kubernetes.complete import complete_template
from tfgitops.targets.kubernetes.merge import RULES, Rule, identity_of
from tfgitops.targets.routes import MISSING, reach, replaced
from tfgitops.targets.tensorflow import TRAINING_CONTAINER
from tfgitops.targets.volcano.defaults import difference, stored
from tfgitops.targets.volcano.tasks import events_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfgitops.adoption.remarks import Sort
    from tfgitops.targets.routes import Route

    Json = dict[str, Any]

_READ_ONLY = ("persistentVolumeClaim", "readOnly")


class FieldDifference(NamedTuple):
    """A field that two Jobs do not have alike; ``before`` is the source's, ``after`` the compiled one's."""

    sort: Sort
    route: Route
    before: Any
    after: Any


def compare(source: Json, compiled: Json, configs: Iterable[str] = ()) -> list[FieldDifference]:
    """List what differs between a Job of a source, without defaults, and the Job that tfgitops makes of it.

    ``configs`` are the names of ConfigMaps that each job has copies of, named by their content.
    """
    if names := "|".join(map(re.escape, configs)):
        job = re.escape(compiled["metadata"]["labels"][JOB_LABEL])
        copies = re.compile(rf'("configMap": \{{[^{{}}]*"name": "){job}-({names})-[0-9a-f]{{8}}"')
        compiled = json.loads(copies.sub(r'\1\2"', json.dumps(compiled)))
    said, before, after = likeness(source, defaults=False), likeness(source), likeness(compiled)
    return [*_differences(said, before, after)]


def _differences(said: Json, before: Json, after: Json) -> Iterator[FieldDifference]:
    for route in difference(before, after):
        old, new, written = (reach(one, route) for one in (before, after, said))
        if new is MISSING:
            if written is not MISSING:
                yield FieldDifference("lost", route, old, None)
        else:
            yield FieldDifference(
                "added" if written is MISSING else "changed", route, None if old is MISSING else old, new
            )


def likeness(job: Json, *, defaults: bool = True) -> Json:
    """Return a Job in a form in which the order of lists, and names that nobody sees, do not count."""
    name = job["metadata"].get("name", "")
    if defaults:
        job = stored({"apiVersion": API_VERSION, "kind": "Job", **job}).manifest or job
    spec = {key: value for key, value in job["spec"].items() if value not in ({}, [])}
    metadata = {key: dict(job["metadata"].get(key) or {}) for key in ("labels", "annotations")}
    metadata["labels"].pop(JOB_LABEL, None)
    if "plugins" in spec:
        spec["plugins"] = {key: dict.fromkeys(flags, True) for key, flags in spec["plugins"].items()}
    if "policies" in spec:
        spec["policies"] = _by_event(spec["policies"])
    spec["tasks"] = {task["name"]: _task(task, str(name), defaults=defaults) for task in spec.get("tasks", ())}
    return {"metadata": {key: value for key, value in metadata.items() if value}, "spec": spec}


def _task(task: Json, run: str, *, defaults: bool) -> Json:
    task = {key: value for key, value in task.items() if key != "name" and value not in ({}, [])}
    template = complete_template(task.get("template") or {}, defaults=defaults)
    metadata = {
        key: value for key, value in (template.get("metadata") or {}).items() if key in ("labels", "annotations")
    }
    labels = {key: value for key, value in metadata.pop("labels", {}).items() if key != JOB_LABEL}
    spec = dict(template.get("spec") or {})
    spec.pop("schedulerName", None)
    spec.pop("serviceAccount", None)  # of old, the same as serviceAccountName
    read_only = {one.get("name") for one in spec.get("volumes", ()) if reach(one, _READ_ONLY) is True}
    volumes = [replaced(one, _READ_ONLY, MISSING) for one in spec.get("volumes", ())]
    renamed = _volume_names(volumes)
    for key in ("containers", "initContainers"):
        if key in spec:
            spec[key] = [_container(_for_reading(one, read_only), renamed, run, defaults=defaults) for one in spec[key]]
    if spec.get("containers"):
        training, *others = spec["containers"]
        spec["containers"] = [{**training, "name": TRAINING_CONTAINER}]
        sidecars = [{**one, "restartPolicy": "Always"} for one in others]  # it is told where they are read
        if sidecars:
            spec["initContainers"] = [*spec.get("initContainers", ()), *sidecars]
    if volumes:
        spec["volumes"] = [{**volume, "name": renamed[volume["name"]]} for volume in volumes]
    whole = {"metadata": {**metadata, **({"labels": labels} if labels else {})}, "spec": spec}
    task["template"] = _keyed({key: value for key, value in whole.items() if value}, RULES["PodTemplateSpec"])
    if "policies" in task:
        task["policies"] = _by_event(task["policies"])
    if "dependsOn" in task:
        task["dependsOn"] = {**task["dependsOn"], "name": sorted(task["dependsOn"].get("name", ()))}
    return task


def _for_reading(container: Json, volumes: set[Any]) -> Json:
    """Return a container whose mounts of some volumes are read-only: a claim may say so, or each of its mounts."""
    if "volumeMounts" not in container:
        return container
    mounts = [{**one, "readOnly": True} if one.get("name") in volumes else one for one in container["volumeMounts"]]
    return {**container, "volumeMounts": mounts}


def _volume_names(volumes: Iterable[Json]) -> dict[str, str]:
    """Return a name for each volume by what it is: the one in the pod is nobody's but the pod's."""
    names: dict[str, str] = {}
    for volume in volumes:
        what = json.dumps({key: value for key, value in volume.items() if key != "name"}, sort_keys=True)
        same = sum(1 for name in names.values() if name.partition("#")[0] == what)
        names[str(volume.get("name"))] = f"{what}#{same}" if same else what
    return names


def _container(container: Json, volumes: dict[str, str], run: str, *, defaults: bool) -> Json:
    container = dict(container)
    for key in ("command", "args"):
        if key in container:
            container[key] = tuple(_by_run(word, run) for word in container[key])
    for key in ("volumeMounts", "volumeDevices"):
        if key in container:
            container[key] = [{**one, "name": volumes.get(one.get("name"), one.get("name"))} for one in container[key]]
    if "env" in container:
        container["env"] = [
            {**one, "value": _by_run(one["value"], run)} if "value" in one else one for one in container["env"]
        ]
    resources = container.get("resources") or {}
    if defaults and (limits := resources.get("limits")):
        container["resources"] = {**resources, "requests": {**limits, **(resources.get("requests") or {})}}
    return container


def _by_run(text: str, run: str) -> str:
    """Return a text with hosts that begin, or end, with the reference to the name of the Job."""
    if not run or run not in text:
        return text
    name = re.escape(run)
    return re.sub(rf"(?<![\w.-]){name}(?=-[a-z0-9-]+-\d)|(?<=\.){name}(?![\w-])", "$(RUN)", text)


def _by_event(policies: Iterable[Json]) -> Json:
    """Return the first policy for each event and exit code."""
    found: Json = {}
    for policy in policies:
        events = events_of(policy) or [f"exit code {policy.get('exitCode')}"]
        for event in events:
            rest = {key: value for key, value in policy.items() if key not in ("event", "events", "exitCode")}
            if "timeout" in rest:
                rest["timeout"] = duration.canonical(rest["timeout"])
            found.setdefault(event, rest)
    return found


def _keyed(value: Any, rule: Rule) -> Any:
    """Return a value with the elements of its lists by their keys."""
    if isinstance(value, dict):
        return {key: _keyed(item, rule.of(key)) for key, item in value.items()}
    if isinstance(value, list) and rule.unite:
        return {json.dumps(item, sort_keys=True): True for item in value}
    if isinstance(value, list) and rule.keys and all(isinstance(item, dict) for item in value):
        return {"/".join(str(part) for part in identity_of(item, rule)): _keyed(item, rule) for item in value}
    return value
