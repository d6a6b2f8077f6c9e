"""Monitoring: an existing Prometheus finds the metrics of jobs, by annotations of their pods or by one PodMonitor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops import Object, Patch, Problem, SchemaFragment, did_you_mean, hookimpl, read_schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfgitops import Environment, Job, Role

tfgitops_api = 1

CODES = {
    "METRIC01": "a metrics port that no role of the job has",
    "METRIC02": "a metrics port that Prometheus cannot reach",
}
_JOB = "tfgitops/job"
_RUN = ("volcano.sh/job-name", "volcano.sh/task-spec", "volcano.sh/task-index")
"""Labels that Volcano gives pods: the run, the role and the replica."""


@hookimpl
def tfgitops_schema() -> Iterator[SchemaFragment]:
    """Own `monitoring` at the top, which says how pods are found, and in jobs, which says what is scraped."""
    schema = read_schema(__name__)
    yield SchemaFragment("environment", "monitoring", schema["finder"])
    yield SchemaFragment("job", "monitoring", schema["target"])


@hookimpl
def tfgitops_check_environment(environment: Environment) -> Iterator[Problem]:
    """Refuse a port that no role has, and warn of one that only the job's own pods reach."""
    for job in environment.jobs:
        if target := job.get("monitoring"):
            found = _monitored(job)
            if not found:
                yield _undeclared(job, target["port"])
            closed = [(role, port["port"]) for role, port in found if not port.get("from")]
            if closed and not job.is_open:
                yield _unreachable(target["port"], *closed[0])


@hookimpl
def tfgitops_contribute(job: Job) -> Iterator[Patch]:
    """Annotate the pods that have the port, unless a PodMonitor finds them."""
    if not _pod_monitor(job.environment):
        for role, port in _monitored(job):
            values = {"scrape": "true", **job.get("monitoring"), "port": str(port["port"])}
            annotations = {f"prometheus.io/{key}": value for key, value in values.items()}
            yield Patch(("pod", role.name), {"metadata": {"annotations": annotations}}, (*job.route, "monitoring"))


@hookimpl
def tfgitops_objects(environment: Environment) -> Iterator[Object]:
    """Write one PodMonitor, which selects the pods of all monitored jobs by the names of the jobs.

    It also selects pinned jobs: it changes in place, and their pods have the label of their job, too.
    """
    jobs = {job.name: job.get("monitoring") for job in environment.jobs if _monitored(job)}
    if jobs and (wanted := _pod_monitor(environment)):
        spec = {
            "jobLabel": _JOB, "podTargetLabels": _RUN,
            "selector": {"matchExpressions": [{"key": _JOB, "operator": "In", "values": sorted(jobs)}]},
            "podMetricsEndpoints": _endpoints(jobs, {key: wanted[key] for key in ("interval",) if key in wanted}),
        }  # fmt: skip
        metadata: dict[str, Any] = {"name": wanted["name"]}
        if labels := wanted.get("labels"):
            metadata["labels"] = {label: str(value) for label, value in labels.items()}
        manifest = {"apiVersion": "monitoring.coreos.com/v1", "kind": "PodMonitor", "metadata": metadata, "spec": spec}
        yield Object(manifest, ("monitoring", "podMonitor"))


def _endpoints(jobs: Mapping[str, Mapping[str, str]], common: Mapping[str, str]) -> Sequence[Mapping[str, Any]]:
    """Return an endpoint for all jobs, or one for each target: every endpoint counts for every selected pod."""
    names: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for name in sorted(jobs):
        names.setdefault(tuple(sorted(jobs[name].items())), []).append(name)
    if len(names) == 1:
        return [{**dict(target), **common} for target in names]
    label = f"__meta_kubernetes_pod_label_{_JOB.replace('/', '_')}"
    keep = {"action": "keep", "sourceLabels": [label]}
    return [
        {**dict(target), **common, "relabelings": [{**keep, "regex": "|".join(names[target])}]}
        for target in sorted(names)
    ]


def _pod_monitor(environment: Environment) -> Any:
    return (environment.get("monitoring") or {}).get("podMonitor")


def _monitored(job: Job) -> list[tuple[Role, Mapping[str, Any]]]:
    """Return the roles that have the metrics port, each with this port; none if the job is not monitored."""
    name = (job.get("monitoring") or {}).get("port")
    return [(role, ports[name]) for role in job.roles if name in (ports := role.get("ports") or {})]


def _undeclared(job: Job, name: str | int) -> Problem:
    known = {port: value["port"] for role in job.roles for port, value in (role.get("ports") or {}).items()}
    named = [f"write its name: `monitoring: {{port: {port}}}`" for port in sorted(known) if known[port] == name]
    port = f"{name}: 9090" if isinstance(name, str) else f"metrics: {name}"
    hint = did_you_mean(str(name), known) or f"declare it, and use its name: `ports: {{{port}}}`"
    return Problem(
        code="METRIC01", message=f"no role of the job '{job.name}' has a port '{name}'", found=str(name),
        at=(*job.route, "monitoring", "port"), expected=", ".join(sorted(known)), hint=(named or [hint])[0],
    )  # fmt: skip


def _unreachable(name: str, role: Role, number: int) -> Problem:
    message = f"Prometheus cannot reach the port '{name}': Volcano's NetworkPolicy admits only pods of the job"
    door = f"`{name}: {{port: {number}, from: {{namespace: NAMESPACE}}}}`"
    hint = f"write {door}, with the namespace of your Prometheus"
    at = (*role.route, "ports", name)
    return Problem(code="METRIC02", message=message, at=at, severity="warning", hint=hint)
