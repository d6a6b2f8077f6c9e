"""Every key of the schema, wherever it may stand, is named by the fields that move with it.

The keys come from the schema, the bundled plugins' among them, and the values from what the schema says of them. So a
key that is new is tried here without anybody remembering it: it fails if `explain` does not name its line, if no value
can be made for it (then give it one in `VALUES`), and if no field moves with it (then say so in `NO_FIELD`).
"""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tfgitops import discover
from tfgitops.planning.plan import Planner
from tfgitops.provenance.experiment import moved
from tfgitops.provenance.fields import written
from tfgitops.provenance.origins import Provenance
from tfgitops.provenance.replanned import JOB
from tfgitops.spec.disk import Disk
from tfgitops.spec.load import load
from tfgitops.spec.resolve import resolve
from tfgitops.spec.textfiles import completed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tfgitops.planning.plan import Planned
    from tfgitops.spec.model import Environment

Steps = tuple[str | int, ...]

PLUGINS = discover()
SCHEMA = PLUGINS.schema
HEAD = {"apiVersion": "tfgitops/v1alpha1", "kind": "Environment", "namespace": {"name": "ml"}, "gitops": "flux"}
VOLUMES = {"data": {"claim": "data", "path": "/data"}, "more": {"claim": "more", "path": "/more"}}
CONFIGS = {"data": {"files": ["one"]}, "more": {"files": ["two"]}}
QUEUES: dict[str, Any] = {"first": {}, "second": {}}

NAMES = {
    "env-name": "ONE", "resource-name": "cpu", "quota-name": "secrets", "extended-resource": "nvidia.com/gpu",
    "job-name": "train", "task-name": "feeder", "dns-label": "data",
}  # fmt: skip
"""Names in maps, by the format that the schema asks of them; all others are `one`."""

FORMATS = {
    "amount": ("1Gi", "2Gi"), "cpu-amount": ("1", "2"), "positive-amount": ("1Gi", "2Gi"), "dns-label": ("one", "two"),
    "dns-subdomain": ("one", "two"), "duration": ("10s", "20s"), "extended-resource": ("amd.com/gpu", "x.io/gpu"),
    "image": ("registry/a:1", "registry/b:1"), "label-value": ("one", "two"), "path": ("/one", "/two"),
    "queue-name": ("first", "second"), "config-key": ("one", "two"), "sub-path": ("one", "two"), "int64": (1, 2),
    "peer": ("namespace",),
}  # fmt: skip
"""Two values of each format."""

VALUES: dict[str, Any] = {
    "extends": None, "pin": None,  # files beside the spec
    "configMaps.*.files.0.text": None, "script.file.text": None,  # read, and never written in a spec
    "configMaps.0.name": ("data", "more"),
    "allow": None, "nodes": None, "policy": None,  # read by checks alone
    "bootstrap": None,  # for files beside the manifests
    "from": ("other", "another"), "strategy": ("parameter-server", "none"),
    "completes": ("ps", "all"), "dependsOn.0": ("ps", "loader"),
    "replicas": (10, 11),
    "gpu.mig": ("1g.5gb", "2g.10gb"), "gpu.vgpu.memory": (1000, 2000), "volumes.0.name": ("data", "more"),
    "gpu.product": ("NVIDIA-A100", "NVIDIA-H100"), "queues.*.parent": ("root", "top"),
    "notebooks.*.job": ("train", "base"), "notebooks.*.volumes.0.name": ("data", "more"),
    "plugins.*.0": ("--a=1", "--a=2"), "monitoring.port": ("one", "two"), "tolerations.0.operator": ("Exists", "Equal"),
    "tolerations.0.effect": ("NoSchedule", "NoExecute"),
    "tensorboards.*.volume": ("data", "more"),
}  # fmt: skip
"""Values of keys that the schema says too little of, by the key and what leads to it within its block."""

BESIDE: dict[str, tuple[str, dict[str, Any]]] = {
    "configMaps.*": ("configMaps.*", {"files": [{"path": "one"}]}),
    "configMaps.0": ("configMaps.0", {"name": "data"}),
    "container.env.0": ("container.env.0", {"name": "ONE"}),
    "env.*.configMap": ("env.*", {"key": "k"}),
    "env.*.key": ("env.*", {"secret": "s"}),
    "env.*.optional": ("env.*", {"secret": "s", "key": "k"}),
    "env.*.secret": ("env.*", {"key": "k"}),
    "gpu": ("gpu", {"count": 1}),
    "gpu.count": ("gpu", {}),
    "monitoring.path": ("monitoring", {"port": "one"}),
    "monitoring.podMonitor": ("monitoring.podMonitor", {"name": "one"}),
    "monitoring.scheme": ("monitoring", {"port": "one"}),
    "namespace": ("namespace", {"name": "ml", "create": True}),
    "notebooks.*": ("notebooks.*", {"image": "lab", "token": {"secret": "one"}}),
    "notebooks.*.gpu.resource": ("notebooks.*", {"image": "lab", "gpu": {"count": 1}}),
    "notebooks.*.volumes.0": ("notebooks.*", {"image": "lab", "volumes": [{"name": "data"}]}),
    "policies.0": ("policies.0", {"event": "PodPending", "action": "AbortJob"}),
    "policies.0.events": ("policies.0", {"action": "AbortJob"}),
    "policies.0.exitCode": ("policies.0", {"action": "AbortJob"}),
    "script.image": ("script", {"url": "https://example.com/one.py", "sha256": "one"}),
    "script.sha256": ("script", {"url": "https://example.com/one.py"}),
    "script.url": ("script", {"sha256": "one"}),
    "ports.*.from": ("ports.*", {"port": 6006}),
    "tensorboards.*": ("tensorboards.*", {"volume": "data"}),
    "tolerations.0": ("tolerations.0", {"key": "one", "operator": "Exists"}),
    "tolerations.0.value": ("tolerations.0", {"key": "one", "operator": "Equal"}),
    "volumes.*": ("volumes.*", {"claim": "data", "path": "/data"}),
    "volumes.*.access": ("volumes.*", {"claim": None, "size": "1Gi"}),
    "volumes.*.retain": ("volumes.*", {"claim": None, "size": "1Gi"}),
    "volumes.*.size": ("volumes.*", {"claim": None}),
    "volumes.*.storageClass": ("volumes.*", {"claim": None, "size": "1Gi"}),
    "volumes.0": ("volumes.0", {"name": "data"}),
}
"""What must stand in the holder of a key, by the key or what leads to it: the longest that fits."""

OVERLAYS = {
    "pod": [("pod", "spec", "terminationGracePeriodSeconds"), ("pod", "spec", "hostNetwork"),
            ("pod", "metadata", "labels", "one")],
    "container": [("container", "imagePullPolicy"), ("container", "env", 0, "value"), ("container", "stdin")],
}  # fmt: skip
"""Raw fields of Kubernetes's that are tried; there are thousands, and one way for all of them."""

NO_FIELD = {
    "apiVersion", "kind", "volcano",  # one value each
    "cluster", "kustomization",  # where the manifests land, and the file beside them
}  # fmt: skip
"""Keys with which no field moves."""


class Key(NamedTuple):
    """A key of the schema: the site, what leads to it there, how the tables here call it, and two of its values."""

    site: str
    route: Steps
    name: str
    values: tuple[Any, ...]
    holder: Steps


def _leaves(schema: dict[str, Any], steps: Steps = (), names: Steps = ()) -> Iterator[tuple[Steps, str, Any]]:
    """Yield each key that has no others in it: its route with names in place of `*`, its name, and its schema."""
    if names[:1] and names[0] in OVERLAYS:
        for overlay in OVERLAYS[str(names[0])]:
            yield overlay, ".".join(map(str, overlay)), _overlay_schema(overlay)
        return
    if "then" in schema:
        yield from _leaves(schema["then"], steps, names)
        yield from _leaves(schema["else"], steps, names)
    elif schema.get("properties"):
        for key, inner in schema["properties"].items():
            yield from _leaves(inner, (*steps, key), (*names, key))
    elif isinstance(others := schema.get("additionalProperties"), dict):
        name = NAMES.get(schema.get("propertyNames", {}).get("format", ""), "one")
        yield from _leaves(others, (*steps, name), (*names, "*"))
    elif isinstance(items := schema.get("items"), dict):
        yield from _leaves(items, (*steps, 0), (*names, 0))
    else:
        yield steps, ".".join(map(str, names)), schema


def _overlay_schema(route: Steps) -> dict[str, Any]:
    if route[-1] in ("hostNetwork", "stdin"):
        return {"type": "boolean"}
    if route[-1] == "imagePullPolicy":
        return {"enum": ["Always", "Never"]}
    return {"type": "integer", "minimum": 6} if route[-1] == "terminationGracePeriodSeconds" else {"type": "string"}


def _values(name: str, schema: dict[str, Any]) -> tuple[Any, ...] | None:
    """Return two values of a key, or none where none can be made; None where there are not two."""
    for known, values in VALUES.items():
        if name == known or name.startswith(f"{known}."):
            return values
    kinds = [schema["type"]] if isinstance(schema.get("type"), str) else schema.get("type", [])
    least = schema.get("minimum", 1)
    found: tuple[Any, ...] = ()
    if schema.get("format") in FORMATS:
        found = FORMATS[schema["format"]]
    elif "enum" in schema or "const" in schema:
        found = tuple(schema.get("enum", ())[:2])
    elif "boolean" in kinds:
        found = (True, False)
    elif "string" in kinds and not schema.keys() & {"format", "pattern"}:
        found = ("one", "two")
    elif "integer" in kinds:
        found = (least + 1, least + 2)
    return None if len(found) == 1 or "const" in schema else found


SITES: dict[str, tuple[Steps, ...]] = {
    "environment": ((),),
    "job": (("jobs", "train"), ("defaults",), ("jobs", "base")),
    "role": (
        ("jobs", "train", "worker"), ("jobs", "train", "tasks", "feeder"), ("defaults", "worker"),
        ("jobs", "base", "worker"),
    ),
}  # fmt: skip
"""Where the keys of each part of the schema may stand; `train` starts from `base`."""
_HOLDERS = {"jobs", "defaults", "chief", "ps", "worker", "evaluator", "tasks"}
_JOB_ONLY = {"from", "pin", "rerun"}


def _keys() -> Iterator[Any]:
    for site, holders in SITES.items():
        schema = getattr(SCHEMA, site)
        properties = {key: value for key, value in schema["properties"].items() if key not in _HOLDERS}
        for route, name, inner in _leaves({"properties": properties}):
            values = {("job", "minAvailable"): (14, 15), ("role", "minAvailable"): (9, 10)}.get((site, name))
            values = values or _values(name, inner)
            for holder in holders:
                if values is None or (route[0] in _JOB_ONLY and holder != ("jobs", "train")):
                    continue
                key = Key(site, route, name, values, holder)
                yield pytest.param(key, id=f"{'.'.join(map(str, holder)) or 'top'}:{name}")


def _spec(key: Key, value: Any) -> dict[str, Any]:
    """Make a spec in which a key has a value, or is not there, for None, with what must stand beside it."""
    base: dict[str, Any] = {
        "image": "a", "volumes": [{"name": "data"}], "configMaps": [{"name": "data"}],
        "ps": {"replicas": 3}, "worker": {"replicas": 11},
        "tasks": {"feeder": {"replicas": 11, "minAvailable": 1}, "loader": {"dependsOn": ["ps"]}},
    }  # fmt: skip
    if key.route[0] == "monitoring":
        base |= {"ports": {"one": 5001, "two": 5002}, "monitoring": {"port": "one"}}
    if key.holder == ("defaults",):
        base.pop(str(key.route[0]), None)
    if key.site == "role":  # the hosts of a cluster are all there, or none
        base["strategy"] = "none"
        base["worker"].pop(key.name, None)
    others = {name: {"from": "base", "image": name} for name in VALUES["from"] if key.name == "from"}
    jobs = {"base": base, **others, "train": {"from": "base"}}
    spec: dict[str, Any] = json.loads(json.dumps({
        **HEAD, "volumes": VOLUMES, "configMaps": CONFIGS, "queues": QUEUES, "jobs": jobs,
    }))  # fmt: skip
    fitting = [name for name in BESIDE if f"{key.name}.".startswith(f"{name}.")]
    holder, beside = BESIDE[max(fitting, key=len)] if fitting else ("", {})
    for other, one in beside.items():
        _put(spec, (*key.holder, *key.route[: holder.count(".") + 1], other), one)
    if value is not None:
        _put(spec, (*key.holder, *key.route), value)
    return spec


def _put(spec: Any, route: Steps, value: Any) -> None:
    for step, after in pairwise(route):
        empty: Any = [] if isinstance(after, int) else {}
        if isinstance(spec, list):
            spec += [empty] * (len(spec) <= int(step))
            spec = spec[int(step)]
        else:
            spec = spec.setdefault(step, empty)
    if isinstance(spec, list):
        spec[:] = [value]
    else:
        spec[route[-1]] = value


def _plan(spec: dict[str, Any], folder: Path) -> tuple[Environment, dict[str, Planned]]:
    (folder / "environment.yaml").write_text(json.dumps(spec, indent=1))  # a line for each key
    for name in ("one", "two"):
        (folder / name).write_text(name)
    source = load(folder)
    documents, unread = completed(source.documents, SCHEMA, Disk(folder.resolve()))
    assert not unread
    environment, _, problems = resolve(replace(source, documents=documents), SCHEMA)
    assert environment, [problem.message for problem in problems]
    planner = Planner(environment, PLUGINS, {})
    objects = planner.plan()
    assert not [problem.message for problem in planner.problems if problem.severity == "error"]
    return environment, {planned.path: planned for planned in objects}


def _nameless(planned: Planned) -> Any:
    """Return a manifest without the Job's own name, which changes with everything."""
    name = planned.manifest["metadata"]["name"]
    return json.loads(json.dumps(planned.manifest).replace(name, "NAME")) if planned.own else planned.manifest


@pytest.mark.parametrize("key", [*_keys()])
def test_the_fields_that_move_with_a_key_name_its_line(
    key: Key, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert key.values, f"no value of {key.name} can be made from its schema: give it two in VALUES"
    monkeypatch.chdir(tmp_path)
    _, other = _plan(_spec(key, key.values[1]), tmp_path)
    environment, objects = _plan(_spec(key, key.values[0]), tmp_path)
    provenance = Provenance(environment, PLUGINS)
    span = environment.places.documents[0].span((*key.holder, *key.route))
    unnamed = []
    changed = bool(objects.keys() ^ other.keys())
    for path in objects.keys() & other.keys():
        planned = objects[path]
        for at in moved(_nameless(planned), _nameless(other[path]), JOB):
            changed = True
            won = [origin for origin in provenance.origins(planned, at) if origin.won]
            led = [origin.layer for origin in won] == [f"from {key.values[0]}"]  # by `from`, to the line that is named
            if not led and span.line not in [origin.span.line for origin in won]:
                unnamed.append(f"{path} {written(planned.manifest, at)}: {won}, not {span}")
    assert not unnamed, "\n".join(unnamed)
    assert changed is (key.name not in NO_FIELD)
