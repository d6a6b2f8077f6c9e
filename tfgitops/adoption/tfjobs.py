"""Read a TFJob of Kubeflow as a Volcano Job: its replicas are tasks, and its run policy is spread over both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.adoption.remarks import Remark
from tfgitops.targets.routes import MISSING, reach
from tfgitops.targets.tensorflow import ROLE_NAMES

if TYPE_CHECKING:
    from tfgitops.adoption.sourcefiles import SourceObject
    from tfgitops.targets.routes import Route

    Json = dict[str, Any]

_ROLES = {**dict(zip(ROLE_NAMES, ROLE_NAMES, strict=True)), "master": "chief", "eval": "evaluator"}
_REPLICAS = ("spec", "tfReplicaSpecs")
_ENDS: Json = {"event": "PodFailed", "action": "TerminateJob"}
_SCHEDULING = {"minAvailable": "minAvailable", "queue": "queue", "priorityClass": "priorityClassName"}

NO_COUNTERPART = {
    "ttlSecondsAfterFinished": "a finished Job that is deleted runs again at the next sync; it goes when you remove it "
    "from the spec",
    "activeDeadlineSeconds": "let the program end itself: `command: timeout 6h python train.py`, with a policy for its "
    "exit code 124",
    "suspend": "a job that is not to run is not in the spec",
    "managedBy": "Volcano's controller manages its Jobs",
    "scheduleTimeoutSeconds": "a gang waits until it has room; a policy for PodPending can end it",
    "minResources": "Volcano adds up the requests of the pods",
    "enableDynamicWorker": "change `replicas`: a change of TensorFlow's cluster is a new run",
    "successPolicy": "",
    "cleanPodPolicy": "",
}
"""Fields of a TFJob, or of a Job, that the spec has no key for, each with what to do."""


class TFJobReader:
    """Reads one TFJob: the Volcano Job, the way back from its routes, and the remarks."""

    def __init__(self, source: SourceObject) -> None:
        self._value = source.value
        self.remarks: list[Remark] = []
        self.places: dict[Route, Route] = {}
        self._run: Route = (
            ("spec", "runPolicy") if reach(self._value, ("spec", "runPolicy")) is not MISSING else ("spec",)
        )

    def read(self) -> Json:
        """Return the Volcano Job; what has a wrong shape in the TFJob has it there, too."""
        policy = self._policy()
        self._unknown(policy)
        scheduling = _map(policy.get("schedulingPolicy"))
        spec: Json = {"schedulerName": "volcano", "plugins": {"svc": []}}
        for key, field in _SCHEDULING.items():
            if scheduling.get(key):
                spec[field] = scheduling[key]
                self.places["spec", field] = (*self._run, "schedulingPolicy", key)
        if type(limit := policy.get("backoffLimit")) is int:
            spec["maxRetry"] = limit + 1
            self.places["spec", "maxRetry"] = (*self._run, "backoffLimit")
            text = f"backoffLimit {limit} is maxRetry {limit + 1}, which counts starts, of single pods too"
            self._say("changed", text, (*self._run, "backoffLimit"))
        for where, holder in ((self._run, policy), ((*self._run, "schedulingPolicy"), scheduling)):
            for key in holder:
                if NO_COUNTERPART.get(key) and holder[key] not in (None, False):
                    self._say("lost", f"{key}: {NO_COUNTERPART[key]}", (*where, key))
        self._clean(str(policy.get("cleanPodPolicy") or "Running"))
        spec["tasks"] = self._tasks()
        self._success({task["name"]: task["replicas"] for task in spec["tasks"]})
        job = {key: value for key, value in self._value.items() if key != "spec"}
        return {**job, "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "spec": spec}

    def _policy(self) -> Json:
        """Return the run policy; in early versions its fields stood in the spec."""
        spec = _map(self._value.get("spec"))
        early = {key: value for key, value in spec.items() if key in {*NO_COUNTERPART, "backoffLimit"}}
        return {**early, **_map(spec.get("runPolicy"))}

    def _unknown(self, policy: Json) -> None:
        known = {*NO_COUNTERPART, "backoffLimit", "runPolicy", "schedulingPolicy", "tfReplicaSpecs"}
        fields = [("spec", key) for key in _map(self._value.get("spec"))] + [(*self._run, key) for key in policy]
        for at in (at for at in dict.fromkeys(fields) if at[-1] not in known):
            self._say("lost", f"{at[-1]}: a TFJob of kubeflow.org/v1 has no such field", at)

    def _tasks(self) -> list[Any]:
        replicas = reach(self._value, _REPLICAS)
        if not isinstance(replicas, dict) or not replicas:
            return []
        tasks: list[Json] = []
        for kind, block in replicas.items():
            role = _ROLES.get(kind.lower(), kind.lower())
            at, base = ("spec", "tasks", len(tasks)), (*_REPLICAS, kind)
            self.places[at] = base
            if kind.lower() == "master":
                self._say("changed", "Master is `chief`, as TensorFlow 2 calls it", base)
            known = _map(block)
            task = {"name": role, "replicas": known.get("replicas", 1), "template": known.get("template", {})}
            for key in known.keys() - {"replicas", "template", "restartPolicy"}:
                self._say("lost", f"{key}: a task of Volcano has no such field", (*base, key))
            self._restart(str(known.get("restartPolicy") or ""), task, base)
            tasks.append(task)
        return tasks

    def _restart(self, policy: str, task: Json, base: Route) -> None:
        """Write what happens after a failure: a TFJob says it beside the pod, and overrides the pod's own."""
        pod = reach(task, ("template", "spec"))
        at = (*base, "restartPolicy")
        if isinstance(pod, dict):
            wanted = "OnFailure" if policy in ("OnFailure", "Always") else "Never"
            rest = {key: value for key, value in pod.items() if key != "restartPolicy"}
            if pod.get("restartPolicy", wanted) != wanted:
                text = (
                    "restartPolicy of the pod: a TFJob overrides it by that of the replica, which is Never by default"
                )
                self._say("lost", text, (*base, "template", "spec", "restartPolicy"))
            task["template"] = {**task["template"], "spec": {**rest, "restartPolicy": wanted} if policy else rest}
        if policy == "Never":
            task["policies"] = [dict(_ENDS)]
            self._say("changed", "restartPolicy Never: a failed pod ends the job, by a policy", at)
        elif policy == "Always":
            self._say("changed", "restartPolicy Always is OnFailure: with Always a task never completes", at)
        elif policy == "ExitCode":
            text = "restartPolicy ExitCode: policies have no ranges of exit codes, so every failure restarts"
            self._say(
                "changed", f"{text}; name codes that end the job, as in {{exitCode: 1, action: TerminateJob}}", at
            )

    def _clean(self, policy: str) -> None:
        if policy == "None":
            text = "cleanPodPolicy None: Volcano ends the pods that still run when the job completes"
            self._say("lost", text, (*self._run, "cleanPodPolicy"))

    def _success(self, names: dict[str, Any]) -> None:
        said = str(reach(self._value, ("spec", "successPolicy")) or "")
        if names.get("worker", 1) != 1 and "chief" not in names and "AllWorkers" not in said:
            text = "the job ends when all workers have completed; the TFJob ended with worker 0"
            self._say("changed", text, _REPLICAS)

    def _say(self, sort: Any, text: str, at: Route) -> None:
        self.remarks.append(Remark(sort, text, at))


def _map(value: Any) -> Json:
    return value if isinstance(value, dict) else {}
