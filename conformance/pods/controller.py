"""Counts, restarts and ends a Job as Volcano's job controller does.

Compared with the source of Volcano 1.15.1 and of commit ed72c7c8 (`pkg/controllers/job` with `state/`,
`pkg/controllers/cache`, and `ReadyTaskNum` of the scheduler): the order of policies, events, outdated pods, retries,
restarts, TaskCompleted, TaskFailed, dependsOn, minAvailable and minSuccess. Here a pod runs, and is ready, as soon as
it is created. docs/volcano.md section 5 lists the facts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from .job import INTERNAL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from .job import Job

Phase = Literal["Running", "Succeeded", "Failed"]
Happened = Literal["ended", "restarted", "gone"]
ENDING = {"CompleteJob": "Completing", "AbortJob": "Aborting", "TerminateJob": "Terminating"}
ENDED = {"Completing": "Completed", "Aborting": "Aborted", "Terminating": "Terminated"}
FINISHED = ("Completed", "Failed", "Aborted", "Terminated")


@dataclass(eq=False, kw_only=True)
class Pod:
    """The API object of one pod."""

    task: str
    index: int
    version: int
    phase: Phase = "Running"
    code: int = 0
    restarts: int = 0
    terminating: bool = False
    out_of_sync: bool = False

    @property
    def short(self) -> str:
        """The pod's name without that of its job."""
        return f"{self.task}-{self.index}"


class Kubelet(Protocol):
    """Runs pods. It tells of their ends by events, never at once."""

    def create(self, pod: Pod) -> None:
        """Start a pod."""

    def delete(self, pod: Pod) -> None:
        """Stop a pod: SIGTERM, and SIGKILL after its grace period."""


class Controller:
    """The state of one Job. `handle` takes the events of the kubelet, in their order."""

    def __init__(self, job: Job, kubelet: Kubelet, say: Callable[[str], None]) -> None:
        self.job, self.kubelet, self._say = job, kubelet, say
        self.phase, self.retries, self._version = "Pending", 0, 0
        self.pods: dict[tuple[str, int], Pod] = {}
        self.sync()

    @property
    def over(self) -> bool:
        """Whether the job has finished and none of its pods runs."""
        return self.phase in FINISHED and not any(True for _ in self._alive())

    def handle(self, pod: Pod, happened: Happened, code: int = 0) -> None:
        """Take over what happened to a pod, and do what the policies say."""
        event = self._event(pod, happened, code)
        outdated = pod.out_of_sync or pod.version < self._version
        action = self.job.answer(pod.task, INTERNAL if outdated else event, code)
        if event != INTERNAL and not outdated:
            self._say(f"{event} of {pod.short}: {action}")
        self._execute(action, pod)
        self.sync()

    def evict(self, pod: Pod) -> None:
        """Delete a pod as anyone but Volcano does."""
        pod.terminating = True
        self.kubelet.delete(pod)

    def abort(self) -> None:
        """End the Job by hand, which deletes its pods, as the deletion of the Job does."""
        if self.phase not in FINISHED:
            self._enter("Aborting")
        self.sync()

    def _event(self, pod: Pod, happened: Happened, code: int) -> str:
        if happened == "gone":
            if self.pods.get((pod.task, pod.index)) is pod:
                del self.pods[pod.task, pod.index]
            return "PodEvicted"
        if happened == "restarted":
            pod.restarts += 1
            alive = (found.restarts for found in self._of(pod.task) if found.phase == "Running")
            most = self.job.task(pod.task).max_retry
            return "TaskFailed" if 0 < most <= sum(alive) else INTERNAL
        pod.phase, pod.code = ("Failed", code) if code else ("Succeeded", 0)
        if code:
            return "PodFailed"
        succeeded = sum(found.phase == "Succeeded" for found in self._of(pod.task))
        return "TaskCompleted" if succeeded == self.job.task(pod.task).replicas else INTERNAL

    def _execute(self, action: str, pod: Pod) -> None:
        """Do an action. A running job has no case for ResumeJob, which is then no more than a sync."""
        restarting = self.phase == "Restarting"
        if self.phase not in ("Pending", "Running", "Restarting") or action == "SyncJob":
            return
        if action in ("RestartTask", "RestartPod"):
            targets = self._of(pod.task) if action == "RestartTask" else [pod]
            self._restart(targets, counted=not restarting)
        elif action == "RestartJob" or restarting:
            # A job that restarts takes every other action for a restart of all pods, and does not count it.
            self._version += 1
            last = self.retries >= self.job.max_retry - 1
            self._restart(
                [found for found in self.pods.values() if not last or found.phase == "Running"], not restarting
            )
        elif action in ENDING:
            self._enter(ENDING[action])

    def _restart(self, targets: Iterable[Pod], counted: bool) -> None:  # noqa: FBT001 - its two callers name it
        self._kill(targets)
        if counted:
            self.retries += 1
            self._enter("Restarting")
            self._say(f"retry {self.retries} of {self.job.max_retry}")

    def sync(self) -> None:
        """Create the pods that are missing and move the job to its next phase, until nothing changes."""
        while True:
            before = self.phase
            if before in ("Pending", "Running") or (before == "Restarting" and self.retries < self.job.max_retry):
                self._create()
            self._step()
            if self.phase == before:
                return

    def _step(self) -> None:
        """Look once whether the job leaves its phase."""
        terminating = sum(pod.terminating for pod in self.pods.values())
        if self.phase == "Restarting":
            if self.retries >= self.job.max_retry:
                self._enter("Failed")
            elif self.job.replicas - terminating >= self.job.min_available:
                self._enter("Pending")
        elif self.phase == "Pending":
            if len(self.pods) - terminating >= self.job.min_available:
                self._enter("Running")
        elif self.phase == "Running":
            if end := self._end():
                self._enter(end)
        else:
            self._kill(self._alive())
            if self.phase in ENDED and not any(True for _ in self._alive()):
                self._enter(ENDED[self.phase])

    def _end(self) -> str:
        """Return the phase of a job whose pods have all ended, or nothing."""
        there = [pod for pod in self.pods.values() if not pod.terminating]
        succeeded = sum(pod.phase == "Succeeded" for pod in there)
        wanted = self.job.min_success
        if wanted is not None and succeeded >= wanted:
            return "Completed"
        if sum(pod.phase != "Running" for pod in there) < self.job.replicas:
            return ""
        whole = self.job.min_available >= sum(task.min_available for task in self.job.tasks)
        if whole and any(self._succeeded(task.name) < task.min_available for task in self.job.tasks):
            return "Failed"
        return "Completed" if wanted is None and succeeded >= self.job.min_available else "Failed"

    def _create(self) -> None:
        """Create the pods that are missing, if the gang is then whole: the scheduler starts no smaller one.

        A pod that has succeeded is part of the gang, and a pod that has failed is not.
        """
        wanted = [(task.name, index) for task in self.job.tasks for index in range(task.replicas)]
        missing = [place for place in wanted if place not in self.pods]
        there = sum(pod.phase != "Failed" and not pod.terminating for pod in self.pods.values())
        if there + len(missing) < self.job.min_available:
            return
        for place in sorted(missing, key=lambda place: len(self._before(place[0]))):
            task = self.job.task(place[0])
            enough = any if task.depends_on_any else all
            if enough(self._there(name) for name in task.depends_on):
                self.pods[place] = Pod(task=place[0], index=place[1], version=self._version)
                self.kubelet.create(self.pods[place])

    def _before(self, task: str) -> set[str]:
        """Return the tasks that start before a task; the compiler rejects a circle."""
        names = self.job.task(task).depends_on
        return set(names).union(*map(self._before, names))

    def _there(self, task: str) -> bool:
        """Tell whether tasks that wait for a task may start. A pod that runs or has succeeded counts as ready."""
        ready = sum(pod.phase != "Failed" and not pod.terminating for pod in self._of(task))
        return ready >= self.job.task(task).min_available

    def _kill(self, targets: Iterable[Pod]) -> None:
        for pod in list(targets):
            pod.out_of_sync = True
            if not pod.terminating:
                pod.terminating = True
                self.kubelet.delete(pod)

    def _alive(self) -> Iterator[Pod]:
        return (pod for pod in self.pods.values() if pod.phase == "Running" or pod.terminating)

    def _of(self, task: str) -> list[Pod]:
        return [pod for pod in self.pods.values() if pod.task == task]

    def _succeeded(self, task: str) -> int:
        return sum(pod.phase == "Succeeded" for pod in self._of(task))

    def _enter(self, phase: str) -> None:
        self.phase = phase
        self._say(f"phase {phase}")
