"""Draws specs across the whole schema: sound ones with a few odd places."""

from __future__ import annotations

import copy
from random import Random
from typing import TYPE_CHECKING, Any

from fields import Draw, pod_keys, pod_value, spec_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tfgitops.spec.schema.specschema import SpecSchema

Json = dict[str, Any]

_ROLES: tuple[Json, ...] = (
    {"worker": {"replicas": 2}},
    {"ps": {"replicas": 1}, "worker": {"replicas": 2}},
    {"chief": {}, "ps": {"replicas": 1}, "worker": {"replicas": 2}, "evaluator": {}},
    {"worker": {}},
    {"strategy": "none", "tasks": {"extra": {"replicas": 2}}},
)
# Keys that stay as they are: without them there is nothing to judge.
_FIXED = ("apiVersion", "kind", "extends", "jobs", "volcano")
_ROLE_KEYS = ("chief", "ps", "worker", "evaluator", "tasks", "strategy")
_ODD = (0, 1, 1, 1, 1, 2, 5)  # numbers of odd places; one is drawn for each spec


def nearly_sound(random: Random, schema: SpecSchema) -> Json:
    """Draw an environment twice by the same numbers: first sound, to count its places, then with a few odd ones."""
    number = random.getrandbits(64)
    sound = Draw(Random(number))  # noqa: S311 - repeatable, not secret
    generate(sound, schema)
    odd = {random.randint(1, sound.places) for _ in range(random.choice(_ODD))}
    return generate(Draw(Random(number), odd), schema)  # noqa: S311


def generate(draw: Draw, schema: SpecSchema) -> Json:
    """Draw a sound environment, then draw a few keys and raw Kubernetes fields again."""
    job: Json = {"image": "tf:2.21", **copy.deepcopy(draw.random.choice(_ROLES))}
    environment = environment_of(job) | {
        "queues": {"research": {}, "vision": {"parent": "research"}},
        "configMaps": {"settings": {"files": ["train.py"]}},
        "volumes": {"data": {"claim": "data", "path": "/data"}, "logs": {"size": "1Gi", "path": "/logs"}},
        "notebooks": {
            "alice": {"image": "lab:4", "token": {"secret": "alice"}, "volumes": ["data"], "queue": "vision"}
        },
        "jobs": {"train": job, "other": {"image": "tf:2.21", "worker": 1}},
    }
    holders = [job, *(job[key] for key in ("worker", "ps") if key in job)]
    if draw.chance(20):
        _vary(draw, environment, schema.environment, _FIXED)
    if draw.chance(40):
        _vary(draw, job, schema.job, _ROLE_KEYS)
    if draw.chance(20):
        _vary(draw, holders[-1], schema.job if holders[-1] is job else schema.role, _ROLE_KEYS)
    for _ in range(draw.random.randint(0, 2)):
        _overlay(draw, draw.random.choice(holders))
    if not draw.slips():
        complete(job)
    return environment


def put_files(folder: Path) -> None:
    """Write the files that specs name beside their own."""
    for name in ("train.py", "other.py"):
        (folder / name).write_text(f"print({name!r})\n", encoding="utf-8")


def environment_of(job: Json) -> Json:
    """Return the least environment that has a job."""
    return {"apiVersion": "tfgitops/v1alpha1", "kind": "Environment", "namespace": "ml", "jobs": {"train": job}}


def _vary(draw: Draw, target: Json, schema: Any, left: Sequence[str]) -> None:
    """Draw one or two keys of a part of the spec again."""
    keys = sorted(key for key in schema["properties"] if key not in left)
    for key in draw.random.sample(keys, draw.random.randint(1, 2)):
        target[key] = spec_value(draw, schema["properties"][key], key)


def _overlay(draw: Draw, holder: Json) -> None:
    """Draw raw Kubernetes fields of a job or role: of its container, its pods, or their metadata."""
    where = draw.random.choice(["container", "container", "spec", "spec", "spec", "metadata"])
    name = {"container": "Container", "spec": "PodSpec", "metadata": "ObjectMeta"}[where]
    fields = pod_value(draw, name, where, pod_keys(draw, name))
    if not draw.slips():
        fields.pop("name", None)
        fields.pop("containers", None)
    if where == "container":
        holder["container"] = {**(holder.get("container") or {}), **fields}
    else:
        pod = holder.get("pod") or {}
        holder["pod"] = {**pod, where: {**(pod.get(where) or {}), **fields}}


def complete(job: Json) -> None:
    """Add the ports, volumes, claims and images that the drawn fields need, so that more of the specs compile."""
    if isinstance(target := job.get("monitoring"), dict):
        job["monitoring"], job["ports"] = {**target, "port": "metrics"}, {"metrics": 9090}
    wanted: dict[str, Json] = {}
    for container in _containers(job):
        for mount in _maps(container.get("volumeMounts")):
            wanted[str(mount.get("name"))] = {"emptyDir": {}}
        for device in _maps(container.get("volumeDevices")):
            wanted[str(device.get("name"))] = {"persistentVolumeClaim": {"claimName": "data"}}
    if not wanted:
        return
    spec = (job.get("pod") or {}).get("spec", {})
    if not isinstance(spec, dict):
        return
    job["pod"] = {**(job.get("pod") or {}), "spec": spec}
    found = spec.get("volumes")
    volumes: list[Any] = found if isinstance(found, list) else []
    there = {str(volume.get("name")) for volume in _maps(volumes)}
    spec["volumes"] = [*volumes, *({"name": name, **wanted[name]} for name in wanted if name not in there)]


def _containers(job: Json) -> Iterator[Json]:
    for holder in (job, *_maps([job.get("worker"), job.get("ps")])):
        yield from _maps([holder.get("container")])
        for pod in _maps([holder.get("pod")]):
            for spec in _maps([pod.get("spec")]):
                for container in _maps(spec.get("initContainers")):
                    container.setdefault("image", "busybox:1.36")
                    yield container


def _maps(items: Any) -> Iterator[Json]:
    return (item for item in (items if isinstance(items, list) else ()) if isinstance(item, dict))
