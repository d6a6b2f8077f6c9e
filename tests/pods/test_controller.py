"""Whether the controller of `conformance/pods/` counts and ends as Volcano does: docs/volcano.md, section 5."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pods.controller import Controller, Pod
from pods.job import Job, job_of

if TYPE_CHECKING:
    from tfgitops.testing import Bench

Json = dict[str, Any]


class Fake:
    """A kubelet that starts and stops nothing; a test tells when a pod ends and when its object goes."""

    def __init__(self) -> None:
        self.created: list[str] = []
        self.deleted: list[Pod] = []

    def create(self, pod: Pod) -> None:
        self.created.append(pod.short)

    def delete(self, pod: Pod) -> None:
        self.deleted.append(pod)


class Game:
    """A Job, its controller, and what a test does to its pods."""

    def __init__(self, job: Job) -> None:
        self.kubelet = Fake()
        self.said: list[str] = []
        self.controller = Controller(job, self.kubelet, self.said.append)
        self.kubelet.created.clear()

    def pod(self, name: str) -> Pod:
        return next(pod for pod in self.controller.pods.values() if pod.short == name)

    def end(self, name: str, code: int = 0) -> None:
        self.controller.handle(self.pod(name), "ended", code)

    def settle(self) -> list[str]:
        """Let all pods that Volcano stops go, and return the pods that were created since."""
        while leaving := [pod for pod in self.kubelet.deleted if pod in self.controller.pods.values()]:
            for pod in leaving:
                if pod.phase == "Running":
                    self.controller.handle(pod, "ended", 143)
                self.controller.handle(pod, "gone")
        created = sorted(self.kubelet.created)
        self.kubelet.created.clear()
        return created


def game(*policies: Json, worker: Json | None = None, **spec: Any) -> Game:
    """Return a job of a ps and two workers; the workers' end completes it."""
    ended: Json = {"event": "TaskCompleted", "action": "CompleteJob"}
    tasks: list[Json] = [
        {"name": "ps", "replicas": 1, "template": {"spec": {}}},
        {"name": "worker", "replicas": 2, "policies": [ended], "template": {"spec": {}}} | (worker or {}),
    ]
    whole = {"minAvailable": 3, "maxRetry": 3, "policies": list(policies), "tasks": tasks} | spec
    return Game(job_of({"metadata": {"name": "train-1"}, "spec": whole}))


def on(event: str, action: str) -> Json:
    return {"event": event, "action": action}


ALL = ["ps-0", "worker-0", "worker-1"]


def test_all_pods_are_created_at_once_and_the_job_runs() -> None:
    played = game()
    assert (played.said, len(played.controller.pods)) == (["phase Running"], 3)


def test_a_job_completes_when_all_replicas_of_its_task_have_succeeded() -> None:
    played = game()
    played.end("worker-0")
    assert played.controller.phase == "Running"
    played.end("worker-1")
    assert [pod.short for pod in played.kubelet.deleted] == ["ps-0"]
    assert (played.controller.phase, played.controller.over) == ("Completing", False)
    played.settle()
    assert (played.controller.phase, played.controller.over) == ("Completed", True)


# What docs/volcano.md says of an evicted worker-1, by the policies of the job and those of the task.
EVICTED: list[tuple[list[Json], list[Json], list[str], int]] = [
    ([], [], ["worker-1"], 0),
    ([on("PodEvicted", "RestartJob")], [], ALL, 1),
    ([on("PodEvicted", "RestartTask")], [], ["worker-0", "worker-1"], 1),
    ([on("PodEvicted", "RestartPod")], [], ["worker-1"], 1),
    ([on("PodEvicted", "RestartJob")], [on("PodEvicted", "ResumeJob")], ["worker-1"], 0),
    ([on("PodEvicted", "RestartJob")], [on("TaskCompleted", "CompleteJob")], ALL, 1),
    # The exit code comes first. A pod that Volcano restarts for it is not counted again when its object goes.
    ([on("PodEvicted", "RestartJob"), on("PodFailed", "RestartJob")], [], ALL, 1),
    ([on("PodEvicted", "RestartJob")], [on("PodFailed", "RestartPod")], ["worker-1"], 1),
    ([on("PodEvicted", "RestartJob")], [on("PodFailed", "RestartPod"), on("PodEvicted", "ResumeJob")], ["worker-1"], 1),
    ([on("*", "RestartJob")], [], ALL, 1),
]


@pytest.mark.parametrize(("of_job", "of_task", "again", "retries"), EVICTED)
def test_an_evicted_pod(of_job: list[Json], of_task: list[Json], again: list[str], retries: int) -> None:
    played = game(*of_job, worker={"policies": of_task})
    worker = played.pod("worker-1")
    played.controller.evict(worker)
    played.controller.handle(worker, "ended", 143)
    played.controller.handle(worker, "gone")
    assert played.settle() == again
    assert (played.controller.phase, played.controller.retries) == ("Running", retries)


def test_max_retry_is_the_number_of_starts() -> None:
    played = game(on("PodFailed", "RestartJob"))
    for again in (ALL, ALL):
        played.end("worker-1", 1)
        assert played.settle() == again
    played.end("worker-1", 1)
    assert played.settle() == []
    assert (played.controller.phase, played.controller.retries) == ("Failed", 3)
    # The last retry keeps the pods that have ended, and their logs.
    assert [pod.short for pod in played.controller.pods.values()] == ["worker-1"]


def test_pods_that_fail_one_after_the_other_count_one_retry_each_by_restart_pod() -> None:
    played = game(worker={"policies": [on("PodFailed", "RestartPod")]})
    for name in ("worker-0", "worker-1"):
        played.end(name, 1)
        assert played.settle() == [name]
    assert played.controller.retries == 2


def test_a_pod_of_an_older_start_is_not_answered() -> None:
    played = game(on("PodFailed", "RestartJob"))
    first, second = played.pod("worker-0"), played.pod("worker-1")
    played.controller.handle(first, "ended", 1)
    played.controller.handle(second, "ended", 1)
    assert played.settle() == ALL
    assert played.controller.retries == 1


def test_a_restart_waits_for_the_gang() -> None:
    played = game(on("PodFailed", "RestartJob"))
    ps, first, second = (played.pod(name) for name in ALL)
    played.controller.handle(second, "ended", 1)
    for pod in (second, first):
        played.controller.handle(pod, "gone")
    assert (played.kubelet.created, played.controller.phase) == ([], "Restarting")
    played.controller.handle(ps, "gone")
    assert (sorted(played.kubelet.created), played.controller.phase) == (ALL, "Running")


def test_resume_job_restarts_all_while_another_restart_is_under_way() -> None:
    policies = [on("PodFailed", "RestartPod"), on("PodEvicted", "ResumeJob")]
    played = game(worker={"policies": policies})
    evicted, failed = played.pod("worker-0"), played.pod("worker-1")
    played.controller.evict(evicted)
    played.controller.handle(failed, "ended", 1)
    assert played.controller.phase == "Restarting"
    played.controller.handle(evicted, "gone")
    assert played.settle() == ALL
    assert played.controller.retries == 1


def test_a_failed_pod_stays_without_a_policy_and_ends_the_job_with_the_others() -> None:
    played = game(worker={"policies": [on("PodFailed", "ResumeJob")]})
    played.end("worker-1", 1)
    assert played.settle() == []
    played.end("worker-0")
    played.end("ps-0")
    assert played.controller.phase == "Failed"


def test_a_job_with_fewer_min_available_completes_without_all_pods() -> None:
    played = game(worker={"policies": [], "minAvailable": 1}, minAvailable=2)
    played.end("worker-1", 1)
    played.end("worker-0")
    assert played.controller.phase == "Running"
    played.end("ps-0")
    assert played.controller.phase == "Completed"


def test_a_task_starts_after_the_tasks_that_it_depends_on() -> None:
    template: Json = {"spec": {}}
    tasks = [
        {"name": "launcher", "replicas": 1, "dependsOn": {"name": ["worker"]}, "template": template},
        {"name": "worker", "replicas": 2, "template": template},
    ]
    played = Game(job_of({"metadata": {"name": "train-1"}, "spec": {"minAvailable": 2, "tasks": tasks}}))
    assert [pod.short for pod in played.controller.pods.values()] == ["worker-0", "worker-1", "launcher-0"]
    played.controller.evict(played.pod("worker-0"))
    launcher = played.pod("launcher-0")
    played.controller.evict(launcher)
    played.controller.handle(launcher, "gone")
    assert [pod.short for pod in played.controller.pods.values()] == ["worker-0", "worker-1"]


@pytest.mark.parametrize(("iteration", "starts"), [("any", True), ("all", False), (None, False)])
def test_a_task_that_waits_for_any_of_its_tasks(iteration: str | None, starts: bool) -> None:
    template: Json = {"spec": {}}
    after = {"name": ["worker", "late"], "iteration": iteration}
    tasks = [
        {"name": "worker", "replicas": 1, "template": template},
        {"name": "late", "replicas": 1, "minAvailable": 2, "template": template},
        {"name": "launcher", "replicas": 1, "dependsOn": after, "template": template},
    ]
    played = Game(job_of({"metadata": {"name": "train-1"}, "spec": {"minAvailable": 1, "tasks": tasks}}))
    assert any(pod.short == "launcher-0" for pod in played.controller.pods.values()) == starts


def test_a_pod_that_has_succeeded_counts_for_the_tasks_that_wait() -> None:
    template: Json = {"spec": {}}
    tasks = [
        {"name": "launcher", "replicas": 1, "dependsOn": {"name": ["worker"]}, "template": template},
        {"name": "worker", "replicas": 1, "template": template},
    ]
    played = Game(job_of({"metadata": {"name": "train-1"}, "spec": {"minAvailable": 1, "tasks": tasks}}))
    played.end("worker-0")
    launcher = played.pod("launcher-0")
    played.controller.evict(launcher)
    played.controller.handle(launcher, "gone")
    assert played.settle() == ["launcher-0"]


def test_a_failed_pod_is_no_part_of_the_gang() -> None:
    """The scheduler counts pods that run or have succeeded (`ReadyTaskNum`), so a lost pod cannot come back."""
    played = game(worker={"policies": []})
    played.end("worker-0", 1)
    lost = played.pod("worker-1")
    played.controller.evict(lost)
    played.controller.handle(lost, "gone")
    assert (played.settle(), played.controller.phase) == ([], "Running")


def test_min_success() -> None:
    played = game(worker={"policies": []}, minSuccess=1)
    played.end("worker-0")
    assert played.controller.phase == "Completed"


def test_an_exit_code_has_an_action_of_its_own() -> None:
    played = game({"exitCode": 3, "action": "AbortJob"}, on("PodFailed", "RestartJob"))
    played.end("worker-0", 3)
    played.settle()
    assert (played.controller.phase, played.controller.retries) == ("Aborted", 0)


@pytest.mark.parametrize(("action", "phase"), [("AbortJob", "Aborted"), ("TerminateJob", "Terminated")])
def test_an_end_by_an_action(action: str, phase: str) -> None:
    played = game(on("PodFailed", action))
    played.end("worker-0", 1)
    played.settle()
    assert (played.controller.phase, played.controller.over) == (phase, True)


def test_restarts_of_containers_fail_their_task_at_the_tasks_max_retry() -> None:
    played = game(on("TaskFailed", "TerminateJob"), worker={"maxRetry": 3})
    for name in ("worker-0", "worker-1"):
        played.controller.handle(played.pod(name), "restarted")
    assert (played.controller.phase, played.controller.retries) == ("Running", 0)
    played.controller.handle(played.pod("worker-0"), "restarted")
    assert played.controller.phase == "Terminating"


def test_a_max_retry_of_minus_one_is_no_limit() -> None:
    played = game(on("TaskFailed", "TerminateJob"), worker={"maxRetry": -1})
    for _ in range(9):
        played.controller.handle(played.pod("worker-0"), "restarted")
    assert played.controller.phase == "Running"


def test_a_deleted_job_takes_its_pods_with_it() -> None:
    played = game(on("PodEvicted", "RestartJob"))
    played.controller.abort()
    assert played.settle() == []
    assert (played.controller.over, len(played.kubelet.deleted)) == (True, 3)


def test_servers_that_end_complete_no_job_whose_client_is_elsewhere(compile_spec: Bench) -> None:
    """In-graph without a client in the job: it runs until it is removed from the spec (docs/spec.md, Failure)."""
    job = compile_spec("jobs: {lab: {image: a, strategy: in-graph, ps: 1, worker: 2}}").job()
    played = Game(job_of(job))
    played.end("worker-0")
    played.end("worker-1")
    assert (played.controller.phase, played.kubelet.deleted) == ("Running", [])
