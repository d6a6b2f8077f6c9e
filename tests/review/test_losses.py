"""A scale-down in place restarts what the policies say: guard and review call it a restart."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING

import pytest
from commandline import run

if TYPE_CHECKING:
    from repository import Repository

ROW = "{replicas: 4, cpu: 2, minAvailable: 1}"
RESTART = "{event: PodEvicted, action: RestartJob}"
RESUME = "{event: PodEvicted, action: ResumeJob}"


def _policies(repository: Repository, job: str, task: str) -> None:
    """Give the job `shards` and its task policies, each of which replaces the defaults of its events."""
    policies = [f"    policies: [{job}]\n" if job else "", f", policies: [{task}]" if task else ""]
    repository.prod(("    minAvailable: 1\n", f"    minAvailable: 1\n    maxRetry: 3\n{policies[0]}"))
    repository.prod((ROW, f"{ROW[:-1]}{policies[1]}}}"))
    repository.keep()


def _scale(repository: Repository, replicas: int) -> None:
    repository.prod(("replicas: 4, cpu: 2", f"replicas: {replicas}, cpu: 2"))


def _review(repository: Repository) -> tuple[str, str]:
    document = json.loads(repository.review("--format", "json").stdout)
    (change,) = document["environments"][0]["changes"]
    return change["verdict"], change["reason"] or ""


@pytest.mark.parametrize(
    ("job", "task", "replicas", "told"),
    [
        (
            RESTART,
            RESTART,
            3,
            "PodEvicted → RestartJob restarts all pods of the job and takes 1 of the job",
        ),
        (
            RESTART,
            "{event: PodEvicted, action: RestartTask}",
            2,
            "RestartTask restarts all pods of the task",
        ),
        (RESUME, "{event: '*', action: RestartJob}", 3, "RestartJob restarts all pods of the job"),
        (RESTART, "{event: PodEvicted, action: TerminateJob}", 3, "PodEvicted → TerminateJob ends the job"),
        (
            "{event: PodFailed, action: RestartJob}",
            RESUME,
            3,
            "the removed pod of shard may end in error",
        ),
        (RESTART, "{event: PodEvicted, action: RestartPod}", 1, "takes 3 of the job's 3 retries, which ends it"),
    ],
)
def test_a_scale_down_that_restarts_is_told_by_guard_and_review(
    repository: Repository, job: str, task: str, replicas: int, told: str
) -> None:
    """The case upd-1."""
    _policies(repository, job, task)
    _scale(repository, replicas)
    verdict, reason = _review(repository)
    assert verdict == "restart"
    assert told in reason
    text = " ".join(repository.review().stdout.split())
    assert text.startswith("1 training restarts, 2 keep running")
    assert "changes in place, and restarts shards" in text
    assert "**Change in place, and restart**" in repository.review("--format", "markdown").stdout
    result = run("build")
    assert result.exit_code == 1
    assert "`jobs.shards.tasks.shard.replicas` would restart a training of environments/prod" in result.stderr
    assert "although it changes in place: shards" in result.stderr
    assert told in result.stderr
    assert re.search(r"job-shards\.yaml  shards-[0-9a-f]{8}, in place$", result.stdout, re.MULTILINE)
    repository.build("--restart", "shards")
    assert run("build", "--check").exit_code == 0


@pytest.mark.parametrize(
    ("job", "task", "replicas"),
    [(RESTART, RESUME, 1), ("", RESUME, 3), (RESTART, RESTART, 6), (RESUME, "", 3)],
)
def test_a_scale_that_disturbs_no_other_pod_is_in_place(
    repository: Repository, job: str, task: str, replicas: int
) -> None:
    _policies(repository, job, task)
    _scale(repository, replicas)
    verdict, reason = _review(repository)
    assert verdict == "in place"
    assert "→" not in reason
    repository.build()


def test_pods_that_count_are_told(repository: Repository) -> None:
    _policies(repository, RESTART, "{event: PodEvicted, action: RestartPod}")
    _scale(repository, 2)
    verdict, reason = _review(repository)
    assert verdict == "in place"
    assert "PodEvicted → RestartPod takes 2 of the job's 3 retries" in reason
    repository.build()


def test_a_scale_down_from_elsewhere_asks_too_and_a_pin_keeps_the_number(repository: Repository) -> None:
    _policies(repository, RESTART, RESTART)
    repository.prod(
        ("replicas: 4, cpu: 2", "cpu: 2"), ("  volumes: [logs]\n", "  volumes: [logs]\n  tasks: {shard: 4}\n")
    )
    repository.keep()
    repository.prod(("tasks: {shard: 4}", "tasks: {shard: 3}"))
    result = run("build")
    assert "`defaults.tasks.shard.replicas` would restart" in result.stderr or "`defaults.tasks.shard`" in result.stderr
    before = repository.manifest("shards")
    repository.build("--pin-rest")
    assert repository.manifest("shards") == before


@pytest.mark.parametrize(
    ("known", "edited", "asks"),
    [("to Git", True, True), ("to nobody else", False, True), ("to nobody else", True, False)],
)
def test_the_number_in_a_manifest_counts_if_that_manifest_may_have_run(
    repository: Repository, known: str, edited: bool, asks: bool
) -> None:
    """The manifest was edited by hand, or not, and Git knows it, or there is no Git."""
    _policies(repository, RESTART, RESTART)
    if edited:
        repository.edit("environments/prod/manifests/workloads/job-shards.yaml", ("replicas: 4", "replicas: 5"))
        repository.commit("edited by hand")
    else:
        _scale(repository, 3)
    if known != "to Git":
        shutil.rmtree(repository.top / ".git")
    result = run("build")
    assert result.exit_code == asks
    assert ("although it changes in place: shards" in result.stderr) is asks


def test_a_committed_null_is_no_pod(repository: Repository) -> None:
    path = "environments/prod/manifests/workloads/job-shards.yaml"
    repository.edit(path, ("replicas: 4", "replicas: ~"))
    repository.commit("edited by hand")
    _scale(repository, 2)
    assert run("build").exit_code == 0
    assert repository.review().exit_code == 0
