"""What the loss of pods does to a Job: the policies that answer it, and so the effect of a scale-down.

Volcano deletes the pods of a scale-down without the mark that its restarts leave (`deleteJobPod`), so it treats them as
evicted. Before that, a kubelet reports a pod that ends with an error as failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfgitops.targets.volcano.defaults import MAX_RETRY
from tfgitops.targets.volcano.tasks import action_on, replicas_of

if TYPE_CHECKING:
    from tfgitops.targets.routes import Json

_ENDS = "ends the job"
_DISTURBS = {
    "RestartJob": "restarts all pods of the job", "RestartTask": "restarts all pods of the task",
    "AbortJob": _ENDS, "TerminateJob": _ENDS, "CompleteJob": _ENDS,
}  # fmt: skip
_TAKEN = {"PodEvicted": "Volcano treats {pods} of {task} as evicted", "PodFailed": "{pods} of {task} may end in error"}


def scale_down(before: Json, after: Json) -> tuple[bool, str]:
    """Return whether fewer pods disturb the others of a Job that changes in place, and in which way; "" for none.

    A restart of all takes one of the job's retries, and RestartPod one for each pod. With none left the job fails.
    """
    old = {task.get("name"): replicas_of(task) for task in before["spec"].get("tasks") or ()}
    most = after["spec"].get("maxRetry") or MAX_RETRY
    told = []
    for task in after["spec"].get("tasks") or ():
        gone = old.get(task.get("name"), 0) - replicas_of(task)
        for event in _TAKEN if gone > 0 else ():
            action = action_on(event, (*(task.get("policies") or ()), *(after["spec"].get("policies") or ())))
            spent = {"RestartPod": gone, "RestartJob": 1, "RestartTask": 1}.get(action, 0)
            does = [_DISTURBS[action]] if action in _DISTURBS else []
            does += [f"takes {spent} of the job's {most} retries" + ", which ends it" * (spent >= most)] * bool(spent)
            if does:
                pods = f"{gone} removed pods" if gone > 1 else "the removed pod"
                taken = _TAKEN[event].format(pods=pods, task=task.get("name"))
                disturbs = action in _DISTURBS or spent >= most
                told.append((disturbs, f"{taken}, and {event} → {action} {' and '.join(does)}"))
    return max(told, key=lambda one: one[0], default=(False, ""))
