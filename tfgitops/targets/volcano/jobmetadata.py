"""Labels and annotations of a Job and its pods that others read: Volcano's own, and those that pods alone can have."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from tfgitops.targets.kubernetes.duration import is_duration, seconds
from tfgitops.targets.kubernetes.fault import Rules
from tfgitops.targets.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from tfgitops.targets.kubernetes.fault import Fault
    from tfgitops.targets.routes import Json, Route

OWN = {
    row[0]: row[1:]
    for row in (
        tuple(cell.strip() for cell in line.split("|"))
        for line in """
        volcano.sh/preemptable              | labels annotations | job pods | true or false
        volcano.sh/cooldown-time            | labels annotations | job pods | a time such as 10m
        volcano.sh/job-type                 | labels             | job      | any text
        volcano.sh/revocable-zone           | annotations        | job pods | '*'
        volcano.sh/jdb-min-available        | annotations        | job pods | a number above 0, or 1% to 99%
        volcano.sh/jdb-max-unavailable      | annotations        | job pods | a number above 0, or 1% to 99%
        volcano.sh/sla-waiting-time         | annotations        | job      | a time such as 10m
        volcano.sh/task-topology-affinity   | annotations        | job      | tasks of the job, as in `ps,worker;chief`
        volcano.sh/task-topology-anti-affinity | annotations     | job      | tasks of the job, as in `ps,worker;chief`
        volcano.sh/task-topology-task-order | annotations        | job      | tasks of the job, as in `ps,worker`
    """.strip().splitlines()
    )
}
"""Volcano's keys for users: where Volcano reads them, and their values (docs/volcano.md 5)."""

_VALUES: dict[str, Callable[[str], object]] = {
    "true or false": re.compile("1|t|T|TRUE|true|True|0|f|F|FALSE|false|False").fullmatch,
    "a time such as 10m": lambda text: is_duration(text) and seconds(text) > 0,
    "'*'": "*".__eq__,
    "a number above 0, or 1% to 99%": re.compile("0*[1-9][0-9]*|[1-9][0-9]?%").fullmatch,
}

PODS_ONLY = (
    "cluster-autoscaler.kubernetes.io/safe-to-evict", "karpenter.sh/do-not-disrupt", "karpenter.sh/do-not-evict",
    "descheduler.alpha.kubernetes.io/*", "k8s.v1.cni.cncf.io/networks", "v1.multus-cni.io/*",
    "cni.projectcalico.org/*", "sidecar.istio.io/*", "traffic.sidecar.istio.io/*", "proxy.istio.io/*",
    "linkerd.io/inject", "config.linkerd.io/*", "kuma.io/*", "prometheus.io/*",
    "container.apparmor.security.beta.kubernetes.io/*", "kubectl.kubernetes.io/default-container",
    "vault.hashicorp.com/*", "gke-gcsfuse/*", "ad.datadoghq.com/*", "admission.datadoghq.com/*",
    "azure.workload.identity/*", "iam.amazonaws.com/role", "io.kubernetes.cri-o.*", "fluentbit.io/*",
    "co.elastic.logs/*", "*cost-cent[er]*", "*cost_cent[er]*",
)  # fmt: skip
"""Patterns of keys that are read from pods: a Job may have them, and does not hand them on."""

RULES = Rules.read("""
    own-value: Volcano cannot read `{found}` | write {form}
    own-task: `{found}` names {task}, so Volcano ignores the whole task topology | the tasks are {tasks}
    own-place: Volcano does not read {found} here | write it in the {fields} of the {objects}
    own-unknown: Volcano knows no {found} | {remedy}
    pods-only: {found} means something on pods, and a Job does not hand it on to them | {remedy}
""")
WARNINGS = frozenset({"own-unknown", "pods-only"})
"""Rules whose breach may be meant."""


def judge_metadata(manifest: Json) -> Iterator[Fault]:
    """Yield a fault for each label and annotation of a Job and of its pods that has no effect where it stands."""
    tasks = manifest["spec"]["tasks"]
    names, pods = [task["name"] for task in tasks], [task["template"].get("metadata") or {} for task in tasks]
    on_pods = [{*metadata.get("labels", ()), *metadata.get("annotations", ())} for metadata in pods]
    for at, value in _entries(manifest["metadata"], ("metadata",)):
        key, field = str(at[-1]), at[-2]
        if any(fnmatchcase(key, pattern) for pattern in PODS_ONLY) and any(key not in keys for keys in on_pods):
            remedy = f"write `pod: {{metadata: {{{field}: {{{key}: …}}}}}}`"
            yield RULES.fault("pods-only", at, found=key, remedy=remedy)
        yield from _judge(at, value, names)
    for index, metadata in enumerate(pods):
        for at, value in _entries(metadata, ("spec", "tasks", index, "template", "metadata")):
            yield from _judge(at, value, names)


def _entries(metadata: Json, at: Route) -> Iterator[tuple[Route, str]]:
    for field in ("labels", "annotations"):
        for key, value in (metadata.get(field) or {}).items():
            yield (*at, field, key), str(value)


def _judge(at: Route, value: str, names: Collection[str]) -> Iterator[Fault]:
    key, where = str(at[-1]), "job" if at[0] == "metadata" else "pods"
    fields, objects, form = OWN.get(key, ("", "", ""))
    if not form:
        prefix, _, name = key.partition("/")
        if prefix == "volcano.sh" and (remedy := did_you_mean(name, [own.partition("/")[2] for own in OWN])):
            yield RULES.fault("own-unknown", at, found=key, remedy=remedy)
    elif str(at[-2]) not in fields or where not in objects:
        yield RULES.fault("own-place", at, found=key, fields=fields, objects=objects.partition(" ")[0])
    elif form.startswith("tasks"):
        yield from _judge_tasks(at, f"{key}: {value}", [group.split(",") for group in value.split(";")], names)
    elif not _VALUES.get(form, bool)(value):
        yield RULES.fault("own-value", at, found=f"{key}: {value}", form=form)


def _judge_tasks(at: Route, found: str, groups: list[list[str]], names: Collection[str]) -> Iterator[Fault]:
    tasks = ", ".join(names)
    for group in groups:
        for name in {name for name in group if name and (name not in names or group.count(name) > 1)}:
            task = f"'{name}' twice" if name in names else f"'{name}', which the job has not"
            yield RULES.fault("own-task", at, found=found, task=task, tasks=tasks)
