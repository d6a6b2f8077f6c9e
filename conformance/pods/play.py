"""Plays a Job to its end: hands the kubelet's events to the controller, and injects faults."""

from __future__ import annotations

import shutil
import signal
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .controller import Controller
from .kubelet import Processes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .containers import Machine
    from .faults import Fault
    from .job import Job

TIMEOUT = "Timeout"
_TICK = 0.1
_SIGNALS = {"kill": signal.SIGKILL, "term": signal.SIGTERM, "freeze": signal.SIGSTOP}


@dataclass(frozen=True, kw_only=True)
class Played:
    """One pod of a Job that was played."""

    name: str
    code: int | None
    log: str


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The end of a Job: its phase, its retries, every pod it ever had, and the events in their order."""

    phase: str
    retries: int
    pods: tuple[Played, ...]
    events: tuple[str, ...]
    seconds: float

    def log(self, name: str) -> str:
        """Return the logs of all pods of one name, in order."""
        return "\n".join(pod.log for pod in self.pods if pod.name == name)


def play(
    job: Job,
    machine: Machine,
    *,
    faults: Sequence[Fault] = (),
    timeout: float = 300,
    tell: Callable[[str], None] = print,
) -> Outcome:
    """Play a Job until it has finished and its pods have stopped, or the time is over."""
    events: list[str] = []
    started = time.monotonic()

    def say(what: str) -> None:
        events.append(what)
        tell(f"[{time.monotonic() - started:6.1f}] {what}")

    with ExitStack() as cleanup:
        work = Path(tempfile.mkdtemp(prefix="pods-"))
        cleanup.callback(shutil.rmtree, work, ignore_errors=True)
        kubelet = Processes(job, machine, work, say)
        cleanup.callback(kubelet.close)
        phase, retries = _turns(job, kubelet, list(faults), started + timeout, say)
        pods = tuple(Played(name=run.pod.short, code=run.code, log=run.log) for run in kubelet.runs)
    seconds = time.monotonic() - started
    return Outcome(phase=phase, retries=retries, pods=pods, events=tuple(events), seconds=seconds)


def _turns(
    job: Job, kubelet: Processes, faults: list[Fault], deadline: float, say: Callable[[str], None]
) -> tuple[str, int]:
    controller = Controller(job, kubelet, say)
    while not controller.over:
        if time.monotonic() > deadline:
            return TIMEOUT, controller.retries
        for fault in [found for found in faults if any(found.due(run.pod.short, run.log) for run in kubelet.runs)]:
            faults.remove(fault)
            say(f"fault: {fault.what} {fault.pod}")
            _inject(fault, controller, kubelet)
        for pod, happened, code in kubelet.poll():
            controller.handle(pod, happened, code)
        time.sleep(_TICK)
    return controller.phase, controller.retries


def _inject(fault: Fault, controller: Controller, kubelet: Processes) -> None:
    if fault.what == "abort":
        controller.abort()
        return
    for pod in [found for found in controller.pods.values() if fault.hits(found.short)]:
        if fault.what == "evict":
            controller.evict(pod)
        else:
            kubelet.signal(pod, _SIGNALS[fault.what])
