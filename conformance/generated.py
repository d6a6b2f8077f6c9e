"""Generates specs across the whole schema, compiles them, and lets Kubernetes's own code judge what compiles.

    python conformance/generated.py [--examples N] [--seed N]

Whatever compiles must be admitted, with nothing pruned, defaulted or rewritten. Of each disagreement a smallest spec is
printed; the exit status is 1 if there are some. The same seed generates the same specs.
"""

from __future__ import annotations

import argparse
import copy
import json
import re
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import readers
import yaml
from fields import Draw, pod_keys, pod_value, spec_value
from oracle import KINDS, Judge, NoJudgeError

from tfgitops import Compiled, Plugins, compile_environment, discover
from tfgitops.project import Project

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfgitops.schema import SpecSchema

Json = dict[str, Any]

EXAMPLES = 300
READ_EVERY = 25  # of so many specs that compile, the files of one are given to all readers
_ROLES: tuple[Json, ...] = (
    {"worker": {"replicas": 2}},
    {"ps": {"replicas": 1}, "worker": {"replicas": 2}},
    {"chief": {}, "ps": {"replicas": 1}, "worker": {"replicas": 2}, "evaluator": {}},
    {"worker": {}},
    {"strategy": "none", "tasks": {"extra": {"replicas": 2}}},
)
# Left as they stand: without them there is nothing to judge.
_FIXED = ("apiVersion", "kind", "extends", "jobs", "volcano")
_ROLE_KEYS = ("chief", "ps", "worker", "evaluator", "tasks", "strategy")
_ODD = (0, 1, 1, 1, 1, 2, 5)  # in how many places a spec is odd; one is drawn for each


def nearly_sound(random: Random, schema: SpecSchema) -> Json:
    """Draw an environment twice by the same numbers: soundly, to count the places, then with a few of them odd."""
    number = random.getrandbits(64)
    sound = Draw(Random(number))  # noqa: S311 - repeatable, not secret
    generate(sound, schema)
    odd = {random.randint(1, sound.places) for _ in range(random.choice(_ODD))}
    return generate(Draw(Random(number), odd), schema)  # noqa: S311


def generate(draw: Draw, schema: SpecSchema) -> Json:
    """Draw an environment: a sound one, with a few keys and raw Kubernetes fields drawn anew."""
    job: Json = {"image": "tf:2.21", **copy.deepcopy(draw.random.choice(_ROLES))}
    environment: Json = {
        "apiVersion": "tfgitops/v1alpha1", "kind": "Environment", "namespace": "ml",
        "queues": {"research": {}, "vision": {"parent": "research"}},
        "volumes": {"data": {"claim": "data", "path": "/data"}, "logs": {"size": "1Gi", "path": "/logs"}},
        "jobs": {"train": job, "other": {"image": "tf:2.21", "worker": 1}},
    }  # fmt: skip
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
        _complete(job)
    return environment


def _vary(draw: Draw, target: Json, schema: Any, left: Sequence[str]) -> None:
    """Draw one or two keys of a part of the spec anew."""
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


def _complete(job: Json) -> None:
    """Add the volumes, claims and images that the drawn fields need, so that more of the specs compile."""
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


class Search:
    """Compiles and judges one spec after another, and keeps one smallest spec for each kind of disagreement."""

    def __init__(self, judge: Judge, plugins: Plugins, folder: Path, counts: Counter[str]) -> None:
        self._judge = judge
        self._plugins = plugins
        self._folder = folder
        self._counts = counts
        self.found: dict[str, tuple[str, Json]] = {}
        self.codes: Counter[str] = Counter()

    def look(self, spec: Json) -> None:
        """Compile one spec, judge what comes of it, and note what is new."""
        self._counts["specs"] += 1
        for pattern, message in self.disagreements(spec, count=True).items():
            if pattern not in self.found:
                self.found[pattern] = message, spec

    def disagreements(self, spec: Json, *, count: bool = False) -> dict[str, str]:
        """Return what the judge has against the manifests of a spec: the messages by their pattern."""
        try:
            compiled = self._compile(spec)
        except Exception as error:  # noqa: BLE001 - a compile never raises
            place = traceback.extract_tb(error.__traceback__)[-1]
            message = f"crash: {type(error).__name__} in {Path(place.filename).name}, {place.name}: {error}"
            return {pattern(message): message}
        if count:
            self._counts["compiled"] += compiled.ok
            self.codes.update(
                {diagnostic.code for diagnostic in compiled.diagnostics if diagnostic.severity == "error"}
            )
        messages = self._objections(compiled) if compiled.ok else _plugin_failures(compiled)
        return {pattern(message): message for message in messages}

    def _compile(self, spec: Json) -> Compiled:
        (self._folder / "environment.yaml").write_text(json.dumps(spec), encoding="utf-8")
        return compile_environment(self._folder, self._plugins, Project(root=self._folder))

    def _objections(self, compiled: Compiled) -> Iterator[str]:
        for planned, file in zip(compiled.objects, compiled.files, strict=False):
            if planned.manifest["kind"] in KINDS:
                written = yaml.load(file.text, yaml.CSafeLoader)
                for objection in self._judge.objections(written):
                    for message in re.split(r"; (?=spec\.)", objection.message):
                        yield f"{objection.kind}: {message}"
            if self._counts["compiled"] % READ_EVERY == 0:
                self._counts["files"] += 1
                yield from readers.differences(file.text, self._judge)

    def smallest(self, spec: Json, wanted: str) -> Json:
        """Take out of a spec all that a disagreement does not need."""
        while (smaller := next((s for s in _smaller(spec) if wanted in self.disagreements(s)), None)) is not None:
            spec = smaller
        return spec


def _plugin_failures(compiled: Compiled) -> Iterator[str]:
    """Yield what bundled plugins raised: the compiler catches it, and they never should."""
    return (f"crash: {found.message}" for found in compiled.diagnostics if found.code == "TF901")


def _smaller(value: Any) -> Iterator[Any]:
    """Yield a value again and again, each time with another part left out."""
    if isinstance(value, dict):
        for key in value:
            yield {name: inner for name, inner in value.items() if name != key}
        for key, inner in value.items():
            yield from ({**value, key: less} for less in _smaller(inner))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield value[:index] + value[index + 1 :]
        for index, inner in enumerate(value):
            yield from ([*value[:index], less, *value[index + 1 :]] for less in _smaller(inner))


def pattern(message: str) -> str:
    """Return what messages of one kind share: no values, no indices, no numbers."""
    message = re.sub(r"""'[^']*'|"(?:[^"\\]|\\.)*\"""", "…", message)
    message = re.sub(r"(?s)(Invalid value|Unsupported value|Duplicate value): .*?(?=: |$)", r"\1", message)
    return re.sub(r"\d+", "N", message)[:160]


def search(judge: Judge, counts: Counter[str], *, examples: int = EXAMPLES, seed: int = 0) -> Search:
    """Judge so many generated specs, and print each disagreement with a smallest spec."""
    plugins, random = discover(), Random(seed)  # noqa: S311 - repeatable, not secret
    with TemporaryDirectory() as folder:
        searched = Search(judge, plugins, Path(folder), counts)
        for _ in range(examples):
            searched.look(nearly_sound(random, plugins.schema))
        for wanted, (message, spec) in searched.found.items():
            counts["disagreements"] += 1
            print(f"{message}\n    {json.dumps(searched.smallest(spec, wanted), ensure_ascii=False)}")
    return searched


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return the options that `judge.py` has too."""
    options = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    options.add_argument("--examples", type=int, default=EXAMPLES, help="how many specs are generated (%(default)s)")
    options.add_argument("--seed", type=int, default=0, help="another number generates other specs (%(default)s)")
    return options


def main(arguments: Sequence[str]) -> int:
    """Search for disagreements; 1 if there are some, 2 if the judge cannot be asked."""
    options = parser(__doc__).parse_args(arguments)
    started, counts = time.perf_counter(), Counter[str]()
    try:
        with Judge() as judge:
            searched = search(judge, counts, examples=options.examples, seed=options.seed)
    except NoJudgeError as error:
        print(f"conformance: {error}", file=sys.stderr)
        return 2
    print(f"refused by the compiler, by code: {dict(sorted(searched.codes.items()))}")
    print(
        f"{counts['specs']} specs generated, {counts['compiled']} compiled, {counts['disagreements']} disagreements, "
        f"{time.perf_counter() - started:.0f} s"
    )
    return int(bool(counts["disagreements"]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
