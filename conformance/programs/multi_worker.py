"""MultiWorkerMirroredStrategy with one program for workers and evaluator, and checkpoints in a shared folder.

STEPS and PAUSE (seconds after each step) say how long it takes, CRASHES how often the evaluator crashes.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import tensorflow as tf
from samples import samples

STEPS, PAUSE = int(os.environ.get("STEPS", "100")), float(os.environ.get("PAUSE", "0"))
FOLDER = sys.argv[1]
INPUTS, OUTPUTS = samples()

strategy = tf.distribute.MultiWorkerMirroredStrategy()
kind, index = strategy.cluster_resolver.task_type, strategy.cluster_resolver.task_id
me = f"{kind}-{index}"
print(f"{me}: {strategy.num_replicas_in_sync} replicas in sync", flush=True)
with strategy.scope():
    weights = tf.Variable(tf.zeros([4, 1]))
    count = tf.Variable(0, dtype=tf.int64)
checkpoint = tf.train.Checkpoint(weights=weights, count=count)


def evaluate() -> None:
    """Crash CRASHES times, counted in a file, and then evaluate each checkpoint until the last one or SIGTERM."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    crashes = Path(f"{FOLDER}.crashes")
    had = len(crashes.read_text(encoding="ascii")) if crashes.exists() else 0
    for path in tf.train.checkpoints_iterator(FOLDER, min_interval_secs=0):
        if had < int(os.environ.get("CRASHES", "0")):
            crashes.write_text("x" * (had + 1), encoding="ascii")
            sys.exit(f"evaluator: crash {had + 1}")
        checkpoint.restore(path).expect_partial()
        loss = float(tf.reduce_mean((INPUTS @ weights.numpy() - OUTPUTS) ** 2))
        done = int(count.numpy()) >= STEPS
        print(f"{'RESULT ' if done else ''}evaluator: step {int(count.numpy())} loss {loss:.6f}", flush=True)
        if done:
            return


def learn(batch: tuple[tf.Tensor, tf.Tensor]) -> tf.Tensor:
    """Learn from one batch, together with the other workers."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((batch[0] @ weights - batch[1]) ** 2)
    gradient = tf.distribute.get_replica_context().all_reduce("MEAN", tape.gradient(loss, weights))
    weights.assign_sub(0.05 * gradient)
    count.assign_add(1)
    return loss


@tf.function
def step(batch_of: tf.data.Iterator) -> tf.Tensor:
    """Let all replicas learn, and return the mean of their losses."""
    return strategy.reduce("MEAN", strategy.run(learn, args=(next(batch_of),)), axis=None)


def train() -> None:
    """Train from the last checkpoint on. All workers save, as TensorFlow asks, and only worker 0 where others read."""
    manager = tf.train.CheckpointManager(checkpoint, FOLDER if index == 0 else f"/tmp/{me}", 3)  # noqa: S108
    if last := tf.train.latest_checkpoint(FOLDER):
        checkpoint.restore(last)
        print(f"{me}: restored step {int(count.numpy())}", flush=True)
    data = tf.data.Dataset.from_tensor_slices((INPUTS, OUTPUTS)).repeat().batch(64)
    iterator = iter(strategy.experimental_distribute_dataset(data))
    loss = float("nan")
    for reached in range(int(count.numpy()) + 1, STEPS + 1):
        loss = float(step(iterator))
        if reached % 10 == 0:
            manager.save()
            print(f"{me}: step {reached} loss {loss:.6f}", flush=True)
        time.sleep(PAUSE)
    print(f"RESULT {me}: step {STEPS} loss {loss:.6f}", flush=True)


if kind == "evaluator":
    evaluate()
else:
    train()
