"""What the labels of a namespace do to the pods of its Jobs: Pod Security Standards, and sidecars of service meshes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes.fault import Rules
from tfgitops.targets.kubernetes.schemafile import schema_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfgitops.targets.kubernetes.fault import Fault
    from tfgitops.targets.routes import Json

_ENFORCE = "pod-security.kubernetes.io/enforce"
_STANDARDS = {"baseline": ("baseline",), "restricted": ("baseline", "restricted")}
RULES = Rules.read("""
    namespace-security:
        the namespace admits no pod of {names}: {broken}
        | set it for all jobs by `defaults: {{pod: {{spec: …}}, container: …}}`, or enforce another standard
    namespace-sidecar:
        {mesh} puts a sidecar into the pods of {names}, which may never end, so their tasks would never complete
        | keep it out: `defaults: {{pod: {{metadata: {{annotations: {{{out}: '{stays}'}}}}}}}}`
""")
WARNINGS = frozenset({"namespace-sidecar"})
"""Rules whose breach may be meant."""


def judge_namespace(namespace: Json, jobs: Sequence[Json]) -> Iterator[Fault]:
    """Yield a fault for each label or annotation of a namespace that its own Jobs do not stand."""
    metadata = namespace["metadata"]
    jobs = [job for job in jobs if job["metadata"]["namespace"] == metadata["name"]]
    standard = (metadata.get("labels") or {}).get(_ENFORCE, "")
    broken = {_name(job): found for job in jobs if standard in _STANDARDS and (found := _broken(standard, job))}
    if broken:
        said = "; ".join(dict.fromkeys(message for messages in broken.values() for message in messages))
        yield RULES.fault("namespace-security", ("metadata", "labels", _ENFORCE), names=_listed([*broken]), broken=said)
    for mesh in schema_file("metadata.rules.json")["meshes"]:
        given = str((metadata.get(mesh["in"]) or {}).get(mesh["key"], ""))
        inside = [_name(job) for job in jobs if not all(_stays_out(task, mesh) for task in job["spec"]["tasks"])]
        if inside and given and mesh["value"] in ("", given):
            yield RULES.fault("namespace-sidecar", ("metadata", mesh["in"], mesh["key"]), names=_listed(inside), **mesh)


def _name(job: Json) -> str:
    return str(job["metadata"]["labels"]["tfgitops/job"])


def _listed(names: list[str]) -> str:
    return f"'{names[0]}'" + (f" and {len(names) - 1} more" if names[1:] else "")


def _stays_out(task: Json, mesh: Json) -> bool:
    metadata = task["template"].get("metadata") or {}
    return any((metadata.get(field) or {}).get(mesh["out"]) == mesh["stays"] for field in ("labels", "annotations"))


def _broken(standard: str, job: Json) -> list[str]:
    """Return what the pods of a Job lack of a standard, by the rules of `schemas/podsecurity.rules.json`."""
    rules = [rule for part in _STANDARDS[standard] for rule in schema_file("podsecurity.rules.json")[part]]
    specs = [task["template"]["spec"] for task in job["spec"]["tasks"]]
    return [rule["message"] for rule in rules if not all(_keeps(rule, spec) for spec in specs)]


def _keeps(rule: Json, spec: Json) -> bool:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - for namespaces with a standard alone

    def fits(part: str, *values: Any) -> bool:
        return part not in rule or all(map(Draft202012Validator(rule[part]).is_valid, values))

    containers = [*spec["containers"], *spec.get("initContainers", ())]
    own = spec.get("securityContext", {})
    inner = [container.get("securityContext", {}) for container in containers]
    free = rule.get("ownUsers") and spec.get("hostUsers") is False
    keeps = fits("pod", spec) and fits("container", *containers) and fits("context", own, *inner)
    return bool(free or (keeps and (fits("either", own) or fits("either", *inner))))
