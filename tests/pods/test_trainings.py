"""What `make conformance-tensorflow` does beside training: its jobs compile, and it tells a good end from a bad one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
import trainings
from pods import isolation
from pods.containers import unplayable
from pods.faults import fault_of
from pods.play import Outcome, Played
from trainingcases import CASES, Case

ROOT = Path(__file__).parents[2]
CASE = Case(
    job="train",
    retries=1,
    losses=("worker-0",),
    says=(("worker-0", r"step 1[\s\S]*step 2"),),
    events=("a fails", "b starts"),
    codes={"worker-0": 0},
)


def outcome(
    phase: str = "Completed",
    retries: int = 1,
    log: str = "RESULT worker-0: loss 0.000001",
    code: int = 0,
    events: str = "a fails,b starts",
) -> Outcome:
    pods = (Played(name="worker-0", code=137, log="step 1"), Played(name="worker-0", code=code, log=f"step 2\n{log}"))
    return Outcome(phase=phase, retries=retries, pods=pods, events=tuple(events.split(",")), seconds=2)


def test_a_training_that_went_well() -> None:
    assert list(trainings.faults_in(CASE, outcome())) == []
    assert list(trainings.report(CASE, outcome(), [])) == [
        "train: Completed, 1 retries, 2 s",
        "    worker-0: RESULT worker-0: loss 0.000001",
    ]


@pytest.mark.parametrize(
    ("found", "wrong"),
    [
        (outcome(phase="Timeout"), "Timeout after 1 retries, not Completed after 1"),
        (outcome(retries=0), "Completed after 0 retries, not Completed after 1"),
        (outcome(log=""), "worker-0: the loss is None, not below 0.01"),
        (outcome(log="RESULT worker-0: loss nan"), "worker-0: the loss is nan, not below 0.01"),
        (outcome(log="RESULT worker-0: loss 0.5"), "worker-0: the loss is 0.5, not below 0.01"),
        (outcome(events="b starts,a fails"), "'b starts' does not happen, or in another order"),
        (outcome(code=1), "other exit codes: {'worker-0': 1}"),
    ],
)
def test_a_training_that_went_wrong(found: Outcome, wrong: str) -> None:
    assert list(trainings.faults_in(CASE, found)) == [wrong]
    told = list(trainings.report(CASE, found, [wrong]))
    assert (told[-1], "    worker-0: step 1" in told) == (f"  WRONG {wrong}", True)


def test_a_pod_that_says_something_else() -> None:
    case = Case(job="train", retries=1, says=(("worker-0", "restored"),))
    assert list(trainings.faults_in(case, outcome())) == ["worker-0: says nothing like 'restored'"]


@pytest.mark.parametrize("environment", sorted({case.environment for case in CASES}))
def test_every_training_is_a_job_that_can_be_played(environment: str) -> None:
    cases = {case.job: case for case in CASES if case.environment == environment}
    for name, job in trainings.compiled(environment).items():
        case = cases.pop(name)
        pods = {f"{task.name}-{index}" for task in job.tasks for index in range(task.replicas)}
        assert not unplayable(job)
        assert pods >= {*case.losses, *case.codes, *(pod for pod, _ in case.says)}
        assert all(fault_of(text).seen in pods for text in case.faults)
        for programs in re.findall(r"/programs/(\w+\.py)", str(job.tasks)):
            assert (trainings.PROGRAMS / programs).exists()
    assert not cases


def test_without_root_trainings_are_skipped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert trainings.main(["--or-skip"]) == 0
    assert capsys.readouterr().out == "trainings: skipped: namespaces, networks and roots for pods need the user root\n"
    assert trainings.main([]) == 2


def test_without_tensorflow_trainings_are_skipped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(isolation, "obstacle", lambda: "")
    monkeypatch.setattr(trainings, "TENSORFLOW", tmp_path)
    assert trainings.obstacle(install=False) == "there is no TensorFlow; make conformance-tensorflow installs it"


@pytest.mark.parametrize(
    ("free", "why"),
    [
        (1e9, "TensorFlow needs 3 GB of disk, and fewer are free"),
        (9e9, "TensorFlow cannot be installed: ERROR: no network"),
    ],
)
def test_a_failed_installation_says_why(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str], free: float, why: str
) -> None:
    failed = subprocess.CompletedProcess[str]([], 2, stderr="WARNING: retrying\nERROR: no network\nmake: *** Error 1\n")
    monkeypatch.setattr(isolation, "obstacle", lambda: "")
    monkeypatch.setattr(trainings, "ROOT", tmp_path)
    monkeypatch.setattr(trainings, "TENSORFLOW", tmp_path / "venv")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
    assert trainings.main(["--install", "--or-skip"]) == 0
    assert capsys.readouterr().out == f"trainings: skipped: {why}\n"
