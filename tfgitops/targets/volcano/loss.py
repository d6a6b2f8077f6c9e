"""What the loss of pods does to a Job: the policies that answer it, and so the effect of a scale-down.

Volcano deletes the pods of a scale-down without the mark that its restarts leave (`deleteJobPod`), so it takes them for
evicted. Before that, a kubelet reports a pod that ends with an error as failed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfgitops.targets.volcano.defaults import MAX_RETRY
from tfgitops.targets.volcano.tasks import ANY, events_of, replicas_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops.targets.routes import Json

_ENDS = "ends the job"
_DISTURBS = {
    "RestartJob": "restarts all pods of the job", "RestartTask": "restarts all pods of the task",
    "AbortJob": _ENDS, "TerminateJob": _ENDS, "CompleteJob": _ENDS,
}  # fmt: skip
_COUNTED = ("RestartJob", "RestartTask", "RestartPod")
_TAKEN = {"PodEvicted": "Volcano takes {pods} of {task} for evicted", "PodFailed": "{pods} of {task} may end in error"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Removal:
    """The removal of some pods of a task, and an action that answers it; ``most`` is the job's `maxRetry`."""

    task: str
    pods: int
    event: str
    action: str
    most: int

    @property
    def retries(self) -> int:
        """The number of retries that it takes: RestartPod counts each pod, and a restart of others happens once."""
        return (self.pods if self.action == "RestartPod" else 1) if self.action in _COUNTED else 0

    @property
    def disturbs(self) -> bool:
        """Whether other pods do not run on."""
        return self.action in _DISTURBS or 0 < self.most <= self.retries

    def __str__(self) -> str:
        pods = f"{self.pods} removed pods" if self.pods > 1 else "the removed pod"
        taken = f"takes {self.retries} of the job's {self.most} retries" if self.retries else ""
        does = " and ".join(filter(None, (_DISTURBS.get(self.action, ""), taken)))
        end = ", which ends it" if self.retries >= self.most else ""
        return f"{_TAKEN[self.event].format(pods=pods, task=self.task)}, and {self.event} → {self.action} {does}{end}"


def answer(job: Json, task: Json, event: str) -> str:
    """Return the action on an event in a task: the first policy that names it, the task's own before the job's."""
    policies = (*(task.get("policies") or ()), *(job["spec"].get("policies") or ()))
    return next((policy.get("action", "") for policy in policies if {event, ANY} & {*events_of(policy)}), "")


def removals(before: Json, after: Json) -> Iterator[Removal]:
    """Yield what is lost by a scale-down between two manifests of one Job, a disturbance first."""
    old = {task.get("name"): replicas_of(task) for task in before["spec"].get("tasks") or ()}
    most = after["spec"].get("maxRetry") or MAX_RETRY
    found = [
        Removal(task=task.get("name", ""), pods=pods, event=event, action=answer(after, task, event), most=most)
        for task in after["spec"].get("tasks") or ()
        for event in _TAKEN
        if (pods := old.get(task.get("name"), 0) - replicas_of(task)) > 0
    ]
    yield from sorted((one for one in found if one.disturbs or one.retries), key=lambda one: not one.disturbs)
