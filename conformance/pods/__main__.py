"""Plays one committed Volcano Job on this machine: each pod is a process with its own network, processes and root.

In the root of a clone:

    python -m conformance.pods MANIFEST [--on 'worker-1~step 50=kill:worker-1'] [--timeout 300]

The command of each pod runs unchanged over this machine's files. Claims, emptyDirs, ConfigMaps, Secrets (as `dummy`)
and Volcano's variables are there. Policies and retries count as in Volcano. `--on` injects a fault when a line appears
in a pod's log: kill, term and freeze send a signal, evict deletes the pod, and abort ends the Job.

Exit status 0 where the job is Completed, 1 where it is not, and 2 where it cannot be played.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import faults, isolation
from .containers import Machine, unplayable
from .job import read_job
from .kubelet import SetupError
from .play import play


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m conformance.pods",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("manifest", type=Path, help="a file with a Job; ConfigMaps are read from the files beside it")
    add("--on", type=faults.fault_of, action="append", default=[], metavar=faults.FORM, help="inject a fault")
    add("--timeout", type=float, default=300, metavar="SECONDS", help="end the run after this time (%(default)s)")
    add("--grace", type=float, metavar="SECONDS", help="SIGKILL so long after SIGTERM, instead of the manifest's time")
    add("--store", type=Path, metavar="FOLDER", help="keep the claims here, one folder each, for a further run")
    add(
        "--path",
        action="append",
        default=[],
        metavar="FOLDER",
        help="put a folder before the PATH, such as a venv's bin",
    )
    add("--env", action="append", default=[], metavar="NAME=VALUE", help="set a variable, as an image does")
    add("--show", action="append", default=[], metavar="FOLDER:PATH", help="mount a folder in every pod, read-only")
    add("--serve", metavar="HOST=FOLDER", help="serve a folder by HTTP under a host name")
    add("--tail", type=int, default=12, metavar="LINES", help="print so many lines of each log (%(default)s)")
    add("--or-skip", action="store_true", help="where pods cannot be played, say so and succeed")
    return parser.parse_args(arguments)


def machine_of(options: argparse.Namespace) -> Machine:
    """Return the machine that the options describe."""
    shown = [text.partition(":") for text in options.show]
    host, _, folder = (options.serve or "").partition("=")
    return Machine(
        path=tuple(str(Path(folder).absolute()) for folder in options.path),
        env={name: value for name, _, value in (text.partition("=") for text in options.env)},
        shown=tuple((Path(source).resolve(), target or source) for source, _, target in shown),
        store=options.store and options.store.resolve(),
        web=(host, Path(folder).resolve()) if options.serve else None,
        grace=options.grace,
    )


def main(arguments: list[str]) -> int:
    """Play the Job and print its events, the ends of its logs, and its phase."""
    options = _options(arguments)
    if why := isolation.obstacle():
        print(f"pods: {'skipped: ' if options.or_skip else ''}{why}", file=None if options.or_skip else sys.stderr)
        return 0 if options.or_skip else 2
    try:
        job = read_job(options.manifest)
    except (OSError, ValueError) as error:
        print(f"pods: {error}", file=sys.stderr)
        return 2
    if missing := unplayable(job):
        print(f"pods: not played here: {'; '.join(missing)}", file=sys.stderr)
        return 2
    isolation.isolate()
    try:
        outcome = play(job, machine_of(options), faults=options.on, timeout=options.timeout)
    except SetupError as error:
        print(f"pods: {error}", file=sys.stderr)
        return 2
    for pod in outcome.pods:
        print(f"--- {pod.name}, exit code {pod.code}")
        lines = pod.log.splitlines()
        print("\n".join(f"    {line[:300]}" for line in lines[max(len(lines) - options.tail, 0) :]))
    print(f"pods: {job.name} is {outcome.phase} after {outcome.seconds:.0f} s, {outcome.retries} retries")
    return int(outcome.phase != "Completed")


if __name__ == "__main__":
    isolation.stop_on_signals()
    sys.exit(main(sys.argv[1:]))
