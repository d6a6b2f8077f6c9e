"""The same N trainings in two forms: our spec, and the plain list that the Jinja2 script reads.

They vary as a team's jobs do: image, command, counts, GPUs, queue and claim differ from job to job, the rest is shared.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from textwrap import dedent
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

NAMESPACE = "ml-prod"
ONE, FILES, EXTENDED = "one file", "`jobs/*.yaml`", "50 environments, one base"
LAYOUTS = (ONE, FILES, EXTENDED)
ENVIRONMENTS = 50
QUEUES = 8
_CLAIMS = 25

_HEAD = f"""\
apiVersion: tfgitops/v1alpha1
kind: Environment
namespace: {NAMESPACE}
"""

# Values that the Jinja2 template has for all jobs.
_DEFAULTS = """\
defaults:
  priorityClassName: training
  shm: 8Gi
  container: {imagePullPolicy: IfNotPresent}
  chief: {cpu: 8, memory: 32Gi}
  ps: {cpu: 4, memory: 16Gi, gpu: null}
  worker: {cpu: 8, memory: 32Gi}
"""


@dataclass(frozen=True, kw_only=True)
class Training:
    """The values of one job; ``gpus`` are the GPUs of the chief and of each worker."""

    name: str
    image: str
    command: str
    ps: int
    workers: int
    gpus: int
    queue: str
    dataset: str


def trainings(count: int) -> list[Training]:
    """Make some trainings, the same ones each time."""
    return [
        Training(
            name=f"train-{i:05d}",
            image=f"registry.example/ml/trainer:v1.{i % 40}.0",
            command=f"sync\npython -m trainer.main --model m{i % 17} --epochs {5 + i % 20}\n",
            ps=1 + i % 2,
            workers=2 + i % 3,
            gpus=1 + i % 4,
            queue=f"team-{i % QUEUES}",
            dataset=f"dataset-{i % _CLAIMS}",
        )
        for i in range(count)
    ]


def with_one_changed(jobs: list[Training]) -> list[Training]:
    """Return the same jobs with more workers in the middle one."""
    middle = len(jobs) // 2
    return [*jobs[:middle], replace(jobs[middle], workers=jobs[middle].workers + 5), *jobs[middle + 1 :]]


def with_ten_changed(jobs: list[Training]) -> list[Training]:
    """Return the same jobs with one more worker in ten of them, spread evenly, or in all if there are fewer."""
    step = max(1, len(jobs) // 10)
    chosen = set(range(0, len(jobs), step)[:10])
    return [replace(job, workers=job.workers + 1) if i in chosen else job for i, job in enumerate(jobs)]


def write_spec(path: Path, jobs: Iterable[Training]) -> None:
    """Write the jobs as a spec of ours, to ``environment.yaml``."""
    write_text(path, [_HEAD, _queues(), _volumes(), _DEFAULTS, "jobs:\n", *map(_job, jobs)])


def write_layout(top: Path, layout: str, jobs: list[Training], image: str) -> list[Path]:
    """Write the jobs in one of the `LAYOUTS`, with one image as their default; return the environments."""
    shared = _queues() + _volumes() + _DEFAULTS + f"  image: {image}\n"
    if layout == FILES:
        folder = top / "environments" / "bench"
        (folder / "jobs").mkdir(parents=True, exist_ok=True)
        (folder / "environment.yaml").write_text(_HEAD + shared, encoding="utf-8")
        for job in jobs:
            (folder / "jobs" / f"{job.name}.yaml").write_text(dedent(_body(job)), encoding="utf-8")
        return [folder]
    if layout == ONE:
        write_text(top / "environments" / "bench" / "environment.yaml", [_HEAD, shared, "jobs:\n", *map(_own, jobs)])
        return [top / "environments" / "bench"]
    base = [_HEAD, shared, "jobs:\n", *map(_own, jobs[: len(jobs) // ENVIRONMENTS or 1])]
    write_text(top / "environments" / "base.yaml", base)
    folders = [top / "environments" / f"bench-{number:02}" for number in range(ENVIRONMENTS)]
    for folder in folders:
        parts = [_HEAD, f"extends: ../base.yaml\ncluster: {folder.name}\n"]
        write_text(folder / "environment.yaml", parts)
    return folders


def write_many(top: Path, count: int, jobs: list[Training]) -> None:
    """Write some environments of the same jobs, each for a cluster of its own."""
    for number in range(count):
        path = top / "environments" / f"bench-{number:02}" / "environment.yaml"
        write_spec(path, jobs)
        path.write_text(f"{path.read_text(encoding='utf-8')}cluster: bench-{number:02}\n", encoding="utf-8")


def write_text(path: Path, parts: Iterable[str]) -> None:
    """Write a file, and the folders that it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(parts), encoding="utf-8")


def write_list(path: Path, jobs: Iterable[Training]) -> None:
    """Write the jobs as a plain list, one map for each."""
    write_text(path, [f"namespace: {NAMESPACE}\njobs:\n", *map(_entry, jobs)])


def _queues() -> str:
    capability = "{cpu: 512, memory: 4Ti, nvidia.com/gpu: 64}"
    return "queues:\n" + "".join(f"  team-{i}: {{capability: {capability}}}\n" for i in range(QUEUES))


def _volumes() -> str:
    names = [f"dataset-{i}" for i in range(_CLAIMS)]
    return "volumes:\n" + "".join(f"  {name}: {{claim: {name}, path: /data, readOnly: true}}\n" for name in names)


def _job(job: Training) -> str:
    return f"  {job.name}:\n    image: {job.image}\n{_body(job)}"


def _own(job: Training) -> str:
    return f"  {job.name}:\n{_body(job)}"


def _body(job: Training) -> str:
    return f"""\
    command: |
{_block(job.command)}
    chief: 1
    ps: {job.ps}
    worker: {job.workers}
    gpu: {job.gpus}
    queue: {job.queue}
    volumes: [{job.dataset}]
"""


def _entry(job: Training) -> str:
    return f"""\
  - name: {job.name}
    image: {job.image}
    command: |
{_block(job.command)}
    ps: {job.ps}
    workers: {job.workers}
    gpus: {job.gpus}
    queue: {job.queue}
    dataset: {job.dataset}
"""


def _block(text: str) -> str:
    return "\n".join(f"      {line}" for line in text.splitlines())
