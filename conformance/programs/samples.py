"""The samples of all programs: four numbers, and a sum of them that a model of four weights can learn exactly."""

from __future__ import annotations

import numpy as np

WEIGHTS = [[1.0], [-2.0], [3.0], [0.5]]


def samples(count: int = 512) -> tuple[np.ndarray, np.ndarray]:
    """Return the same inputs and outputs every time."""
    inputs = np.random.default_rng(0).normal(size=(count, 4)).astype("float32")
    return inputs, inputs @ np.array(WEIGHTS, "float32")
