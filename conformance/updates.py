"""What a change of each key of a spec does to the cluster: tried on pairs of specs, not written by hand.

    python conformance/updates.py        prints the table that stands in docs/updates.md

For each key that the joined schema has, specs are compiled that differ in it alone. A change under the same name must
be one that Volcano takes, and a new name must be needed: there is a field that cannot change in place.
"""

from __future__ import annotations

import copy
import json
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import yaml
from fields import Draw, spec_value

from tfgitops import Compiled, Plugins, compile_environment, discover
from tfgitops.changes import VERDICTS, Change, changes_of
from tfgitops.volcano.update import immutable_changes, judge_update

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Json = dict[str, Any]
    Path_ = tuple[str, ...]

VALUES = 3  # values of a key that must compile, beside its absence
DRAWS = 60
_JOB = "train"
_HEAD: Json = {
    "apiVersion": "tfgitops/v1alpha1", "kind": "Environment", "namespace": {"name": "ml", "create": True},
    "gitops": "argocd",
    "queues": {
        "research": {"capability": {"cpu": 1000}, "deserved": {"cpu": 100}},
        "vision": {"parent": "research", "deserved": {"cpu": 50}},
    },
    "volumes": {
        "data": {"claim": "data", "path": "/data"},
        "logs": {"size": "1Gi", "path": "/logs", "storageClass": "fast", "access": "ReadWriteMany"},
    },
}  # fmt: skip
CONTEXTS: dict[str, Json] = {
    "a TensorFlow cluster": {"image": "tf:2.21", "ps": {"replicas": 1}, "worker": {"replicas": 2}},
    "tasks without discovery": {"image": "tf:2.21", "tasks": {"extra": {"replicas": 2, "minAvailable": 1}}},
}
for _job in CONTEXTS.values():
    _job["volumes"] = [{"name": "data"}, {"name": "logs"}]
"""Two jobs that a key may be of: pods that know each other, and pods that do not."""

# What stands for the name in a map of blocks, and where a key of the schema's part stands in our specs.
_NAMED = {"queues": "vision", "volumes": "logs", "nodes": "pool"}
_SKIPPED = {
    "apiVersion": "a constant", "kind": "a constant", "volcano": "names one version so far",
    "extends": "brings keys, which do what stands here", "defaults": "brings keys to jobs, which do what stands here",
    "jobs": "the jobs themselves", "from": "brings the keys of another job", "pin": "freezes a job",
}  # fmt: skip


@dataclass(kw_only=True)
class Tried:
    """What was seen of one key: by the holder's name, what became of which kind of object."""

    seen: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    wrong: list[str] = field(default_factory=list)
    pairs: list[tuple[Json, Json]] = field(default_factory=list)
    possible: bool = False


class Trial:
    """Compiles specs that differ in one key, and compares what comes out."""

    def __init__(self, plugins: Plugins, folder: Path) -> None:
        self._plugins = plugins
        self._folder = folder
        self._known: dict[str, Compiled] = {}

    def paths(self) -> Iterator[tuple[str, Path_]]:
        """Yield each key of the joined schema with its context, as a path in a spec."""
        schema = self._plugins.schema
        for key in _keys(schema.environment):
            yield from (("", path) for path in _paths(schema.environment, key))
        for context, job in CONTEXTS.items():
            for key in _keys(schema.job):
                if key not in ("chief", "ps", "worker", "evaluator", "tasks"):
                    yield from ((context, ("jobs", _JOB, *path)) for path in _paths(schema.job, key))
            role: Path_ = ("worker",) if "worker" in job else ("tasks", "extra")
            for key in _keys(schema.role):
                yield from ((context, ("jobs", _JOB, *role, *path)) for path in _paths(schema.role, key))

    def compiled(self, spec: Json) -> Compiled:
        """Compile a spec, each once."""
        text = json.dumps(spec, sort_keys=True)
        if text not in self._known:
            path = self._folder / "environment.yaml"
            path.write_text(yaml.safe_dump(spec, allow_unicode=True, sort_keys=False), encoding="utf-8")
            self._known[text] = compile_environment(self._folder, self._plugins)
        return self._known[text]

    def try_key(self, context: str, path: Path_) -> Tried:
        """Compile specs with some values of a key and with none, and compare each with each."""
        tried = Tried()
        jobs = [context] if context else list(CONTEXTS)
        for name in jobs:
            base = {**copy.deepcopy(_HEAD), "jobs": {_JOB: copy.deepcopy(CONTEXTS[name])}}
            results = [
                found for value in self._values(base, path) if (found := self.compiled(_with(base, path, value))).ok
            ]
            tried.possible |= len(results) > 1
            for one, other in combinations(results, 2):
                self._compare(one, other, tried)
                self._compare(other, one, tried)
        return tried

    def _values(self, base: Json, path: Path_) -> Iterator[Any]:
        """Yield the key's value as it stands, none, and values drawn by its schema of which enough compile."""
        yield _at(base, path)
        yield None
        draw, good, seen = Draw(Random("/".join(path))), 0, set()  # noqa: S311 - repeatable, not secret
        for _ in range(DRAWS):
            value = spec_value(draw, self._schema(path), path[-1])
            text = json.dumps(value, sort_keys=True)
            if text not in seen and self.compiled(_with(base, path, value)).ok:
                good += 1
                yield value
            seen.add(text)
            if good == VALUES:
                return

    def _schema(self, path: Path_) -> Mapping[str, Any]:
        schema: Any = self._plugins.schema.environment
        for key in path:
            schema = schema.get("then", schema)
            schema = schema.get("properties", {}).get(key) or schema["additionalProperties"]
        found: Mapping[str, Any] = schema.get("then", schema)
        return found

    def _compare(self, one: Compiled, other: Compiled, tried: Tried) -> None:
        was = {planned.path: planned.manifest for planned in one.objects}
        now = {planned.path: planned.manifest for planned in other.objects}
        for path in sorted(was | now):
            for change in changes_of(path, was.get(path), now.get(path)):
                if change.verdict != "unchanged":
                    tried.seen["job" if change.is_job else change.kind].add(change.verdict)
                if change.is_job and change.before and change.after:
                    tried.wrong += [f"{path}: {wrong}" for wrong in disagreements(change)]
                    tried.pairs.append((change.before, change.after))


def disagreements(change: Change) -> Iterator[str]:
    """Yield what is wrong with a job's change: Volcano refuses it under its name, or it could keep its name."""
    assert change.before is not None
    assert change.after is not None
    old, new = change.old_name, change.new_name
    if change.before["metadata"]["namespace"] != change.after["metadata"]["namespace"]:
        return  # another object, whatever its name
    if old == new:
        faults = judge_update(change.before, change.after)
        yield from (f"{old} keeps its name, and Volcano would refuse it: {fault.message}" for fault in faults)
    else:
        renamed = json.loads(json.dumps(change.after).replace(new, old))
        if not immutable_changes(change.before, renamed):
            yield f"{old} becomes {new}, and nothing differs that could not change in place"


def _keys(schema: Mapping[str, Any]) -> list[str]:
    return sorted(key for key in schema["properties"] if key not in _SKIPPED and not key.startswith("x-"))


def _paths(schema: Mapping[str, Any], key: str) -> Iterator[Path_]:
    """Yield the path of a key, or of the keys in its block where it is one."""
    inner = schema["properties"][key]
    block = inner.get("then", inner)
    if key in _NAMED and isinstance(block.get("additionalProperties"), dict):
        named = block["additionalProperties"]
        named = named.get("then", named)
        yield (key,)
        for name in sorted(named.get("properties", ())):
            yield key, "data" if name == "claim" else _NAMED[key], name
    elif block.get("properties") and key not in ("pod", "container"):
        yield (key,)
        yield from ((key, name) for name in sorted(block["properties"]))
    else:
        yield (key,)


def _at(spec: Any, path: Path_) -> Any:
    for key in path:
        spec = spec.get(key) if isinstance(spec, dict) else None
    return spec


def _with(base: Json, path: Path_, value: Any) -> Json:
    """Return a spec with one key changed, or taken out for None."""
    spec = copy.deepcopy(base)
    holder = spec
    for key in path[:-1]:
        inner = holder.get(key)
        holder[key] = holder = inner if isinstance(inner, dict) else {}
    if value is None:
        holder.pop(path[-1], None)
    else:
        holder[path[-1]] = value
    return spec


def run(plugins: Plugins) -> dict[str, dict[str, Tried]]:
    """Try every key; returns what was seen by the key and the context."""
    found: dict[str, dict[str, Tried]] = defaultdict(dict)
    with TemporaryDirectory() as folder:
        trial = Trial(plugins, Path(folder))
        for context, path in trial.paths():
            found[".".join(_shown(path))][context] = trial.try_key(context, path)
    return found


def _shown(path: Path_) -> Sequence[str]:
    """Name a key as people do: the job is any job, and a role any role."""
    if path[:2] == ("jobs", _JOB):
        rest = path[2:]
        role = 2 if rest[0] == "tasks" else 1 if rest[0] == "worker" else 0
        return ("role" if role else "job", *rest[role:])
    return [path[0], "*", *path[2:]] if path[0] in _NAMED and len(path) > 1 else path


def said(tried: Tried | None) -> str:
    """Write what was seen of a key in one cell."""
    if tried is None:
        return ""
    if not tried.possible:
        return "not possible"
    if not tried.seen:
        return "nothing"
    order = {verdict: index for index, verdict in enumerate(reversed(VERDICTS))}
    parts = []
    for kind in sorted(tried.seen, key=lambda kind: (kind != "job", kind)):
        verdicts = " or ".join(sorted(tried.seen[kind], key=lambda verdict: order.get(verdict, 0)))
        parts.append(verdicts if kind == "job" else f"{kind}: {verdicts}")
    return "; ".join(parts)


def table(found: Mapping[str, Mapping[str, Tried]]) -> Iterator[str]:
    """Yield the rows of the table in Markdown."""
    first, second = CONTEXTS
    yield f"| key | of {first} | of {second} |"
    yield "|---|---|---|"
    for key, by_context in found.items():
        cells = [said(by_context.get(context, by_context.get(""))) for context in CONTEXTS]
        yield f"| `{key}` | {cells[0]} | {cells[1]} |"


def main() -> int:
    """Print the table, and what is wrong; 1 if anything is."""
    found = run(discover())
    wrong = [
        f"{key}: {problem}"
        for key, by_context in found.items()
        for tried in by_context.values()
        for problem in dict.fromkeys(tried.wrong)
    ]
    sys.stdout.write("\n".join([*table(found), *wrong]) + "\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
