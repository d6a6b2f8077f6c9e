"""Runs pods as processes of this machine: each in namespaces of its own, stopped and restarted as the kubelet does."""

from __future__ import annotations

import signal
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .containers import Folders, script
from .isolation import signal_child
from .network import GATEWAY, Network, Web
from .variables import Place, host_file, hosts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from .containers import Machine
    from .controller import Happened, Pod
    from .job import Job

    Event = tuple[Pod, Happened, int]

_SPACES = ("unshare", "--mount", "--uts", "--pid", "--fork", "--kill-child")
_LONGEST_PAUSE = 300.0
# unshare cannot pass SIGKILL on from its child, and says so.
_KILLED = "sigprocmask unblock failed"


class SetupError(Exception):
    """The roots of a pod cannot be made, so that the rest of the run would mean nothing."""


@dataclass(eq=False, kw_only=True)
class Run:
    """One pod on this machine."""

    pod: Pod
    place: Place
    space: str
    folders: Folders
    process: subprocess.Popen[bytes] | None = None
    code: int | None = None
    """The exit code of the container that ended last."""
    restart_at: float | None = None
    kill_at: float | None = None
    reported: bool = False
    gone: bool = False

    @property
    def log(self) -> str:
        """What the containers have printed."""
        return self.folders.log.read_text(encoding="utf-8", errors="replace") if self.folders.log.exists() else ""


class Processes:
    """The kubelet of one Job. `runs` has every pod that was ever created, in order."""

    def __init__(self, job: Job, machine: Machine, work: Path, say: Callable[[str], None]) -> None:
        self.job, self._machine, self._work, self._say = job, machine, work, say
        self.runs: list[Run] = []
        (work / "volcano").mkdir(parents=True)
        for task in job.tasks:
            (work / "volcano" / host_file(task)).write_text("\n".join(hosts_of(job, task)), encoding="utf-8")
        self._network = Network(work / "hosts")
        self._web = Web(machine.web[1]) if machine.web else None
        if machine.web:
            self._network.publish(machine.web[0], GATEWAY)

    def create(self, pod: Pod) -> None:
        """Start a pod at a new address."""
        space, address = self._network.join()
        place = Place(job=self.job, task=self.job.task(pod.task), index=pod.index, address=address)
        work = self._work / space
        work.mkdir()
        folders = Folders(
            work=work,
            claims=self._machine.store or self._work / "claims",
            hosts=self._work / "hosts",
            volcano=self._work / "volcano",
            log=self._work / f"{pod.short}.{space}.log",
        )
        run = Run(pod=pod, place=place, space=space, folders=folders)
        self.runs.append(run)
        self._network.publish(self._names(run), address)
        self._start(run)
        self._say(f"{pod.short} starts at {address}")

    def delete(self, pod: Pod) -> None:
        """Send SIGTERM to a pod's process 1; `poll` sends SIGKILL when the grace period is over."""
        run = next(found for found in self.runs if found.pod is pod)
        grace = run.place.task.grace if self._machine.grace is None else self._machine.grace
        run.kill_at, run.restart_at = time.monotonic() + grace, None
        self.signal(pod, signal.SIGTERM)

    def signal(self, pod: Pod, number: signal.Signals) -> None:
        """Send a signal to a pod's process 1, if there is one."""
        run = next(found for found in self.runs if found.pod is pod)
        for _ in range(40):
            if run.process is None or run.process.poll() is not None:
                return
            if signal_child(run.process.pid, number):
                return
            time.sleep(0.05)

    def poll(self) -> Iterator[Event]:
        """Yield what has happened since the last call. Handle an event before you ask for the next one."""
        now = time.monotonic()
        for run in [found for found in self.runs if not found.gone]:
            self._look(run, now)
            if run.restart_at is not None:
                if now >= run.restart_at:
                    run.restart_at = None
                    self._start(run)
                    yield run.pod, "restarted", 0
            elif run.process is None and not run.reported:
                run.reported = True
                self._say(f"{run.pod.short} exits with {run.code}")
                yield run.pod, "ended", run.code or 0
            yield from self._departed()

    def _departed(self) -> Iterator[Event]:
        """Yield the deleted pods that have ended: their objects go at once."""
        for run in self.runs:
            if run.reported and run.kill_at is not None and not run.gone:
                self._remove(run)
                yield run.pod, "gone", 0

    def close(self) -> None:
        """Kill everything that runs, and remove the network."""
        for run in self.runs:
            if run.process is not None:
                self.signal(run.pod, signal.SIGKILL)
                run.process.kill()
                run.process.wait()
            if not run.gone:
                self._remove(run)
        if self._web:
            self._web.close()
        self._network.close()

    def _start(self, run: Run) -> None:
        text = script(run.place, run.folders, self._machine)
        words = ["nice", "ip", "netns", "exec", run.space, *_SPACES, "sh", "-c", text]
        with (run.folders.work / "setup").open("ab") as setup:
            run.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=setup, stderr=setup)  # noqa: S603

    def _look(self, run: Run, now: float) -> None:
        """Take the exit code of a process that has ended, and kill one whose grace period is over."""
        if run.process is None:
            return
        code = run.process.poll()
        if code is None:
            if run.kill_at is not None and now >= run.kill_at:
                self.signal(run.pod, signal.SIGKILL)
            return
        run.process, run.code = None, self._exit_code(run, code)
        kind = run.place.task.pod.get("restartPolicy", "Always")
        if run.kill_at is None and (kind == "Always" or (kind == "OnFailure" and run.code)):
            pause = pause_before(run.pod.restarts)
            run.restart_at = now + pause
            self._say(f"{run.pod.short} exits with {run.code}; the kubelet restarts its container in {pause:.0f} s")

    @staticmethod
    def _exit_code(run: Run, code: int) -> int:
        """Return the code that a container runtime reports."""
        said = (run.folders.work / "setup").read_text(encoding="utf-8", errors="replace").strip()
        if _KILLED in said:
            (run.folders.work / "setup").write_text("", encoding="utf-8")
            return 128 + signal.SIGKILL
        if said and not run.log:
            raise SetupError(f"{run.pod.short} cannot be set up: {said}")
        return code if code >= 0 else 128 - code

    def _remove(self, run: Run) -> None:
        run.gone = True
        self._network.withdraw(self._names(run), run.place.address)
        self._network.leave(run.space)

    @staticmethod
    def _names(run: Run) -> str:
        """Return the names of a pod: without the svc plugin there is no Service, and only its own name."""
        name = run.place.name
        return f"{name}.{run.place.job.name} {name}" if "svc" in run.place.job.plugins else name


def pause_before(restarts: int) -> float:
    """Return the seconds before a container starts again: none the first time, then 10, doubled each time, to 300."""
    return min(10.0 * 2 ** (restarts - 1), _LONGEST_PAUSE) if restarts else 0.0
