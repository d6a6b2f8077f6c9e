"""Fuzz tests: tests of hypothesis that `make fuzz` runs for longer, and the inputs that once crashed a reader."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Callable

TIMES = int(os.environ.get("FUZZ_TIMES", "1"))
"""How many times as many examples a test has in `make fuzz`."""


def fuzz(examples: int) -> Callable[[Any], Any]:
    """Mark a test of hypothesis as a fuzz test, with a number of examples for a short run."""
    many = settings(max_examples=examples * TIMES, deadline=None, suppress_health_check=[*HealthCheck])
    return lambda test: pytest.mark.fuzz(many(test))
