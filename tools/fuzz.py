"""Run the fuzz tests for some time (`make fuzz`): hypothesis with new seeds, then Atheris where it is installed.

A fuzz test is any test that is marked `fuzz`. An example that fails is printed, and hypothesis keeps it: put it into
the test with `@example`. Atheris puts what crashes a reader into `tests/crashed/KIND/`, where `make test` tries it.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent
KINDS = ("spec", "manifest", "import", "settings", "lock")
TIMES = 3
"""How many times as many examples as in `make test` one round has."""


def rounds(seconds: float, chosen: list[str]) -> tuple[int, bool]:
    """Run the fuzz tests until the time is over; return the number of inputs, and whether a test failed."""
    end, inputs, failed = time.monotonic() + seconds, 0, False
    while time.monotonic() < end and not failed:
        seed = random.SystemRandom().randrange(1 << 32)
        options = ["-m", "fuzz", "-q", "-n", "0", "--hypothesis-show-statistics", f"--hypothesis-seed={seed}"]
        command = [sys.executable, "-m", "pytest", *options, *chosen]
        environment = {**os.environ, "FUZZ_TIMES": str(TIMES)}
        done = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
        inputs += sum(map(int, re.findall(r"(\d+) (?:passing|failing|(?:and )?invalid)\b", done.stdout)))
        failed = done.returncode != 0
        print(f"fuzz: seed {seed}: {inputs} inputs, {(done.stdout.split(chr(10)) or [''])[-2:][0]}", flush=True)
        if failed:
            print(done.stdout, done.stderr)
    return inputs, failed


def covering(seconds: float) -> tuple[int, bool]:
    """Let Atheris try each reader; return the number of inputs, and whether one crashed."""
    inputs, failed = 0, False
    for kind in KINDS:
        kept = REPOSITORY / "tests" / "crashed" / kind
        kept.mkdir(parents=True, exist_ok=True)
        limits = [f"-max_total_time={max(1, int(seconds / len(KINDS)))}", "-timeout=60", "-report_slow_units=60"]
        options = [*limits, "-rss_limit_mb=4096", "-max_len=8192", f"-artifact_prefix={kept}/", "-print_final_stats=1"]
        command = [sys.executable, str(Path(__file__).with_name("fuzz_coverage.py")), kind, *options]
        done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)  # noqa: S603
        count = sum(map(int, re.findall(r"number_of_executed_units: (\d+)", done.stderr)))
        inputs, failed = inputs + count, failed or done.returncode != 0
        print(f"fuzz: Atheris, {kind}: {count} inputs, {'a crash' if done.returncode else 'no crash'}", flush=True)
        if done.returncode:
            print(done.stdout[-3000:], done.stderr[-3000:])
        if not any(kept.iterdir()):
            kept.rmdir()
    return inputs, failed


def main() -> int:
    """Fuzz for some minutes, half of them with Atheris where it is installed; return 1 if something crashed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("tests", nargs="*", help="the files or tests to run; those that are marked by default")
    chosen = parser.parse_args()
    marked = [
        str(path) for path in sorted((REPOSITORY / "tests").rglob("test_*.py")) if "fuzz" in path.read_text("utf-8")
    ]
    both = importlib.util.find_spec("atheris") is not None
    seconds = chosen.minutes * 60 / (2 if both else 1)
    inputs, failed = rounds(seconds, chosen.tests or marked)
    if both:
        more, crashed = covering(seconds)
        inputs, failed = inputs + more, failed or crashed
    else:
        print("fuzz: Atheris: skipped: it is not installed")
    print(f"fuzz: {inputs} inputs, {'something failed' if failed else 'nothing failed'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
