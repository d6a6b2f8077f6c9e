"""Judge the planned manifests as Volcano and Kubernetes would, and report each fault at its line of the spec."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from tfgitops.admission.quota import check_quota
from tfgitops.spec import bounds
from tfgitops.spec.diagnostics import Problem
from tfgitops.targets import gitops
from tfgitops.targets.gitops import judge_steering
from tfgitops.targets.kubernetes import furtherobjects
from tfgitops.targets.kubernetes.furtherobjects import judge_object
from tfgitops.targets.kubernetes.resources import judge_amounts
from tfgitops.targets.memo import by_content
from tfgitops.targets.routes import leaves
from tfgitops.targets.volcano import jobmetadata, namespace, useless
from tfgitops.targets.volcano.defaults import DRIFT_RULES, judge_drift, stored
from tfgitops.targets.volcano.job import judge_stored
from tfgitops.targets.volcano.jobmetadata import judge_metadata
from tfgitops.targets.volcano.lookalikes import frame, is_clean
from tfgitops.targets.volcano.namespace import judge_namespace
from tfgitops.targets.volcano.queue import SAID_TWICE, judge_queue
from tfgitops.targets.volcano.queuetree import Tree
from tfgitops.targets.volcano.stricter import ADMITTED, NOT_CARRIED
from tfgitops.targets.volcano.useless import WARNINGS, judge_use

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tfgitops.planning.plan import Planned
    from tfgitops.plugins.door import Plugins
    from tfgitops.spec.model import Environment, Job
    from tfgitops.targets.kubernetes.fault import Fault
    from tfgitops.targets.routes import Route

_TABLES = (useless, gitops, jobmetadata, namespace)
_WARNINGS = frozenset[str]().union(*(table.WARNINGS for table in (*_TABLES, furtherobjects)))
_OURS = {*_WARNINGS, *ADMITTED, *NOT_CARRIED, *DRIFT_RULES}.union(*(table.RULES for table in _TABLES))
"""Rules that the cluster does not check: an object that breaks them would hang, drift, rerun or fail later."""


def admit(environment: Environment, objects: Iterable[Planned], plugins: Plugins) -> Iterator[Problem]:
    """Yield a problem for each rule of Volcano or Kubernetes that a planned manifest breaks."""
    objects = list(objects)
    problems = [*_admit(environment, objects, plugins)]
    yield from problems
    if all(problem.severity != "error" for problem in problems):
        yield from check_quota(environment, objects)


def _admit(environment: Environment, objects: list[Planned], plugins: Plugins) -> Iterator[Problem]:
    jobs = {job.route: job for job in environment.jobs}
    queues, told = Tree(_queues(objects)), 0
    for planned in objects:
        manifest = planned.manifest
        if planned.text:
            at = (*planned.because[:2], "pin")
            yield from (_problem(fault, at) for fault in _judge_kept(manifest, queues))
        elif planned.own and (job := jobs.get(planned.because)):  # a plugin may add objects because of a job, too
            for problem in _judge(job, manifest, plugins, exact=told < bounds.SHOWN):
                told += 1
                yield problem
        else:
            found = judge_queue(manifest, queues) if manifest["kind"] == "Queue" else []
            if manifest["kind"] == "Namespace":
                found += judge_namespace(manifest, [other.manifest for other in objects if other.own])
            for fault in (*found, *judge_object(manifest), *judge_steering(manifest), *judge_amounts(manifest)):
                if fault.rule not in SAID_TWICE:
                    yield _problem(fault, _block_route(planned, fault.at))


def _judge_kept(manifest: dict[str, Any], queues: Tree) -> list[Fault]:
    """Return the faults of a committed manifest that stays in force."""
    if manifest["kind"] == "Job":
        return [*_judge_job(manifest, tasks=True), *judge_steering(manifest)]
    return judge_queue(manifest, queues) if manifest["kind"] == "Queue" else []


def _is_traceable(job: Job) -> bool:
    """Tell whether a job is so small that the lines of its faults can be found in time, by one plan for each value."""
    values = (one for data in (job.data, *(role.data for role in job.roles)) for one in leaves(data))
    return next(islice(values, bounds.TRACED, None), None) is None


def _judge(job: Job, manifest: dict[str, Any], plugins: Plugins, *, exact: bool) -> Iterator[Problem]:
    """Yield the problems of a Job, at the lines that give the values if ``exact``, else at the job."""
    faults = [*_faults(manifest), *judge_steering(manifest), *judge_metadata(manifest)]
    if not faults:
        return
    from tfgitops.provenance.origins import Provenance  # noqa: PLC0415 - for manifests with faults alone

    provenance, exact = Provenance(job.environment, plugins), exact and _is_traceable(job)
    for fault in faults:
        yield _problem(fault, provenance.place(job, manifest, fault.at) if exact else job.route)


def _faults(manifest: dict[str, Any]) -> list[Fault]:
    """Return the faults of a Job. Jobs that the rules cannot tell apart are judged once, and most Jobs are such."""
    if not all(map(is_clean, manifest["spec"]["tasks"])):
        return _judge_job(manifest, tasks=True)
    return _judge_job(manifest, tasks=False) if _has_faults(frame(manifest)) else []


@by_content(1 << 12)
def _has_faults(manifest: dict[str, Any]) -> bool:
    return bool(_judge_job(manifest, tasks=False))


def _judge_job(manifest: dict[str, Any], *, tasks: bool) -> list[Fault]:
    """Return the faults of a Job as the server would store it; with ``tasks``, those of each task and its pod, too.

    The Job's queue counts as existing: the queue plugin, which knows all queues, checks that.
    """
    queue = {"metadata": {"name": manifest["spec"]["queue"]}, "spec": {}}
    after = stored(manifest, tasks=tasks)
    faults = judge_stored(manifest, after, [queue], tasks=tasks)
    if not after.notes.faults:
        faults += judge_use(after.manifest, tasks=tasks)
    if all(fault.rule in WARNINGS for fault in faults):
        faults += judge_drift(manifest, after.manifest)
    return faults


def _problem(fault: Fault, at: Route) -> Problem:
    return Problem(
        code="TF502" if fault.rule in _OURS else "TF501", message=fault.message, at=at, found=fault.found,
        severity="warning" if fault.rule in _WARNINGS else "error", expected=fault.expected, hint=fault.hint,
        on_key=at[-1:] == (fault.found,),
    )  # fmt: skip


def _queues(objects: Iterable[Planned]) -> list[Mapping[str, Any]]:
    """Return the Queues of an environment and their parents. Parents that are not ours have no amounts.

    No rule outside of `SAID_TWICE` reads more of a parent than its limit.
    """
    ours = [planned.manifest for planned in objects if planned.manifest["kind"] == "Queue"]
    parents = {queue["spec"]["parent"] for queue in ours if "parent" in queue["spec"]}
    others = parents - {queue["metadata"]["name"] for queue in ours}
    return [*ours, *({"metadata": {"name": name}, "spec": {}} for name in sorted(others))]


def _block_route(planned: Planned, at: Route) -> Route:
    """Return the route in the spec for a route in an object: the same keys, but for those that only wrap others."""
    keys = (key for key in at if key not in ("spec", "metadata", "name", "resource", "resources", "requests", "hard"))
    return (*planned.because, *("size" if key == "storage" else key for key in keys))
