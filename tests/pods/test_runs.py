"""A run of `python -m conformance.pods`, from the root of the repository."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-m", "conformance.pods")


def test_help_says_how_to_start_it() -> None:
    told = subprocess.run([*COMMAND, "--help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert told.startswith("usage: python -m conformance.pods ")
    assert "In the root of a clone: python -m conformance.pods MANIFEST" in " ".join(told.split())
