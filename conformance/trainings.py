"""Trains with a real TensorFlow what our manifests start, and nothing else.

    python conformance/trainings.py [--install] [--or-skip] [JOB…]

TensorFlow first reads the cluster of every committed pod. Then each job of `trainingcases.py` is compiled, and played
by the pod runner in `pods/`. Exit status 1 where a training went wrong, 2 where trainings cannot be played.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import yaml
from pods import isolation
from pods.containers import Machine
from pods.faults import fault_of
from pods.job import job_of
from pods.play import play
from trainingcases import CASES, LOSS, Case

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pods.job import Job
    from pods.play import Outcome

ROOT = Path(__file__).parents[1]
PROGRAMS = ROOT / "conformance/programs"
TENSORFLOW = ROOT / ".venv-tensorflow"
TIMEOUT = 300.0
NEEDED = 3e9
"""Bytes of free disk: TensorFlow takes 1.5 GB, and pip as much again while it unpacks the wheels."""
IMAGE = {
    "CUDA_VISIBLE_DEVICES": "",
    "TF_CPP_MIN_LOG_LEVEL": "2",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUNBUFFERED": "1",
}
NOISE = re.compile(r"WARNING: All log messages|I0000 ")
"""The lines of TensorFlow that say nothing of a training."""
NEWS = re.compile(r"^RESULT |restored step|evaluator: crash")


def obstacle(*, install: bool) -> str:
    """Return why there can be no training here, or nothing. Install TensorFlow if that is the only reason."""
    if why := isolation.obstacle():
        return why
    installed = TENSORFLOW / ".installed"
    if install and not installed.exists():
        if shutil.disk_usage(ROOT).free < NEEDED:
            return f"TensorFlow needs {NEEDED / 1e9:.0f} GB of disk, and fewer are free"
        words = ["make", "--silent", str(installed.relative_to(ROOT))]
        made = subprocess.run(words, cwd=ROOT, check=False, stderr=subprocess.PIPE, text=True)  # noqa: S603 - fixed
        if made.returncode:
            said = next((line for line in made.stderr.splitlines() if "ERROR" in line), f"exit code {made.returncode}")
            return f"TensorFlow cannot be installed: {said}"
    return "" if installed.exists() else "there is no TensorFlow; make conformance-tensorflow installs it"


def compiled(environment: str) -> dict[str, Job]:
    """Compile an environment and return its jobs by their names in the spec."""
    words = [sys.executable, "-m", "tfgitops", "build", "--quiet", "--stdout", environment]
    text = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout  # noqa: S603 - fixed
    objects = [found for found in yaml.load_all(text, yaml.CSafeLoader) if found]
    maps = {found["metadata"]["name"]: found.get("data") or {} for found in objects if found["kind"] == "ConfigMap"}
    jobs = (found for found in objects if found["kind"] == "Job")
    return {job["metadata"]["labels"]["tfgitops/job"]: job_of(job, maps) for job in jobs}


def machine(folder: Path, case: Case) -> Machine:
    """Return the machine of a training: TensorFlow and the programs, and a web server that has one of them."""
    web = folder / "web/imagenet"
    web.mkdir(parents=True, exist_ok=True)
    (web / "imagenet.py").write_bytes((ROOT / "environments/vivo/scripts/imagenet.py").read_bytes())
    python = (TENSORFLOW / "bin/python").resolve().parents[1]
    return Machine(
        path=(f"{TENSORFLOW}/bin",),
        env=IMAGE,
        shown=((PROGRAMS, "/programs"), (TENSORFLOW, str(TENSORFLOW)), (python, str(python))),
        web=("scripts.example.com", web.parent),
        grace=case.grace,
    )


def faults_in(case: Case, outcome: Outcome) -> Iterator[str]:
    """Yield what is not as it should be."""
    if (outcome.phase, outcome.retries) != (case.phase, case.retries):
        yield f"{outcome.phase} after {outcome.retries} retries, not {case.phase} after {case.retries}"
    for pod in case.losses:
        loss = loss_of(outcome.log(pod))
        if loss is None or not loss < LOSS:
            yield f"{pod}: the loss is {loss}, not below {LOSS}"
    for pod, pattern in case.says:
        if not re.search(pattern, outcome.log(pod)):
            yield f"{pod}: says nothing like {pattern!r}"
    rest = "\n".join(outcome.events)
    for pattern in case.events:
        found = re.search(pattern, rest)
        if not found:
            yield f"{pattern!r} does not happen, or in another order"
        rest = rest[found.end() :] if found else rest
    codes = {pod.name: pod.code for pod in outcome.pods}
    if wrong := {pod: codes.get(pod) for pod, code in case.codes.items() if codes.get(pod) != code}:
        yield f"other exit codes: {wrong}"
    names = Counter(pod.name for pod in outcome.pods)
    yield from (f"{pod} was made {names[pod]} times" for pod in case.once if names[pod] != 1)


def loss_of(log: str) -> float | None:
    """Return the loss in the last line with a RESULT."""
    found = re.findall(r"^RESULT .*loss ([\d.]+|nan)$", log, re.MULTILINE)
    return float(found[-1]) if found else None


def report(case: Case, outcome: Outcome, wrong: Sequence[str]) -> Iterator[str]:
    """Yield the lines about one training: its end, what its pods said of it, and all logs where it went wrong."""
    yield f"{case.job}: {outcome.phase}, {outcome.retries} retries, {outcome.seconds:.0f} s"
    for pod in outcome.pods:
        lines = [line for line in pod.log.splitlines() if not NOISE.match(line)]
        shown = lines[-40:] if wrong else [line for line in lines if NEWS.search(line)]
        yield from (f"    {pod.name}: {line[:300]}" for line in shown)
    yield from (f"    [{event}]" for event in outcome.events if wrong)
    yield from (f"  WRONG {what}" for what in wrong)


def clusters() -> int:
    """Let TensorFlow read the clusters of all committed pods."""
    script = ROOT / "conformance/tensorflow_clusters.py"
    words = [str(TENSORFLOW / "bin/python"), str(script), "environments", "tests/cases/ok"]
    ended = subprocess.run(words, cwd=ROOT, env=IMAGE, capture_output=True, text=True, check=False)  # noqa: S603 - fixed
    print(ended.stdout + (ended.stderr if ended.returncode else ""), end="", flush=True)
    return ended.returncode


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0], allow_abbrev=False)
    names = [case.job for case in CASES]
    parser.add_argument("jobs", nargs="*", metavar="JOB", help=f"play only these: {', '.join(names)}")
    parser.add_argument(
        "--install", action="store_true", help="install TensorFlow first, where trainings can be played"
    )
    parser.add_argument("--or-skip", action="store_true", help="where there can be no training, say so and succeed")
    options = parser.parse_args(arguments)
    if unknown := set(options.jobs) - set(names):
        parser.error(f"there is no training {', '.join(sorted(unknown))}")
    return options


def main(arguments: list[str]) -> int:
    """Play all trainings, or those of some names, and print what came of each."""
    options = _options(arguments)
    if why := obstacle(install=options.install):
        print(f"trainings: {'skipped: ' if options.or_skip else ''}{why}", file=None if options.or_skip else sys.stderr)
        return 0 if options.or_skip else 2
    isolation.isolate()
    started, failed = time.monotonic(), 0
    if not options.jobs:
        failed += bool(clusters())
    chosen = [case for case in CASES if case.job in options.jobs or not options.jobs]
    jobs = {environment: compiled(environment) for environment in {case.environment for case in chosen}}
    with tempfile.TemporaryDirectory() as folder:
        for case in chosen:
            job = jobs[case.environment][case.job]
            faults = [fault_of(text) for text in case.faults]
            outcome = play(job, machine(Path(folder), case), faults=faults, timeout=TIMEOUT, tell=lambda _: None)
            wrong = list(faults_in(case, outcome))
            failed += bool(wrong)
            print("\n".join(report(case, outcome, wrong)), flush=True)
    print(f"trainings: {len(chosen)} jobs played, {failed} went wrong; {time.monotonic() - started:.0f} s")
    return int(bool(failed))


if __name__ == "__main__":
    isolation.stop_on_signals()
    sys.exit(main(sys.argv[1:]))
