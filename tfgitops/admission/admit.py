"""Judge the planned manifests as Volcano and Kubernetes would, and say it where the spec says it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.spec.diagnostics import Problem
from tfgitops.targets import gitops
from tfgitops.targets.gitops import judge_steering
from tfgitops.targets.memo import by_content
from tfgitops.targets.volcano import useless
from tfgitops.targets.volcano.defaults import DRIFT_RULES, judge_drift, stored
from tfgitops.targets.volcano.job import judge_stored
from tfgitops.targets.volcano.lookalikes import frame, is_clean
from tfgitops.targets.volcano.queue import SAID_TWICE, judge_queue
from tfgitops.targets.volcano.stricter import ADMITTED, NOT_CARRIED
from tfgitops.targets.volcano.useless import WARNINGS, judge_use

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tfgitops.planning.plan import Planned
    from tfgitops.plugins.door import Plugins
    from tfgitops.spec.model import Environment, Job
    from tfgitops.targets.kubernetes.fault import Fault
    from tfgitops.targets.routes import Route

_BUILT_IN = ("root", "default")
_OURS = {*ADMITTED, *NOT_CARRIED, *useless.RULES, *DRIFT_RULES, *gitops.RULES}
_WARNINGS = WARNINGS | gitops.WARNINGS
"""Rules that the cluster has not: without them the object would hang, drift, rerun or fail later."""


def admit(environment: Environment, objects: Iterable[Planned], plugins: Plugins) -> Iterator[Problem]:
    """Yield a problem for each rule of Volcano or Kubernetes that a planned manifest breaks."""
    objects = list(objects)
    jobs = {job.route: job for job in environment.jobs}
    queues = _queues(objects)
    for planned in objects:
        manifest = planned.manifest
        if planned.text:
            at = (*planned.because[:2], "pin")
            yield from (_problem(fault, at) for fault in _judge_kept(manifest, queues))
        elif planned.own and (job := jobs.get(planned.because)):  # a plugin may add objects because of a job, too
            yield from _judge(job, manifest, plugins)
        else:
            queue = judge_queue(manifest, queues, "create") if manifest["kind"] == "Queue" else ()
            for fault in (*queue, *judge_steering(manifest)):
                if fault.rule not in SAID_TWICE:
                    yield _problem(fault, _block_route(planned, fault.at))


def _judge_kept(manifest: dict[str, Any], queues: list[Mapping[str, Any]]) -> list[Fault]:
    """Judge what was committed and is kept: it has no line in the spec but that of the pin."""
    if manifest["kind"] == "Job":
        return [*_judge_job(manifest, tasks=True), *judge_steering(manifest)]
    return judge_queue(manifest, queues, "create") if manifest["kind"] == "Queue" else []


def _judge(job: Job, manifest: dict[str, Any], plugins: Plugins) -> Iterator[Problem]:
    faults = [*_faults(manifest), *judge_steering(manifest)]
    if not faults:
        return
    from tfgitops.provenance.origins import Provenance  # noqa: PLC0415 - for manifests with faults alone

    provenance = Provenance(job.environment, plugins)
    for fault in faults:
        yield _problem(fault, provenance.place(job, manifest, fault.at))


def _faults(manifest: dict[str, Any]) -> list[Fault]:
    """Judge one Job; those alike in all that is judged, as most of a thousand are, only once."""
    if not all(map(is_clean, manifest["spec"]["tasks"])):
        return _judge_job(manifest, tasks=True)
    return _judge_job(manifest, tasks=False) if _has_faults(frame(manifest)) else []


@by_content(1 << 12)
def _has_faults(manifest: dict[str, Any]) -> bool:
    return bool(_judge_job(manifest, tasks=False))


def _judge_job(manifest: dict[str, Any], *, tasks: bool) -> list[Fault]:
    """Judge a Job as it would be stored; that its queue exists is the queue plugin's to say, which knows all of them.

    ``tasks`` is whether to judge each task's policies and pod, too.
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
    )  # fmt: skip


def _queues(objects: Iterable[Planned]) -> list[Mapping[str, Any]]:
    """Return the Queues as they will stand together; parents that are not ours are there, with amounts unknown.

    None of the rules that are not `SAID_TWICE` asks more of a queue above than its limit, where it has one.
    """
    ours = [planned.manifest for planned in objects if planned.manifest["kind"] == "Queue"]
    known = {queue["metadata"]["name"] for queue in ours}
    parents = {queue["spec"].get("parent", "root") for queue in ours}
    return [*ours, *({"metadata": {"name": name}, "spec": {}} for name in sorted({*_BUILT_IN, *parents} - known))]


def _block_route(planned: Planned, at: Route) -> Route:
    """Turn a route in an object into one of its block: both say the same, but for `spec` and `resource`."""
    return (*planned.because, *(key for key in at if key not in ("spec", "metadata", "name", "resource")))
