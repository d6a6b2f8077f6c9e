"""MultiWorkerMirroredStrategy whose batches come from the tf.data service."""

from __future__ import annotations

import sys

import tensorflow as tf
from samples import samples

STEPS, DISPATCHER = 60, sys.argv[1]
strategy = tf.distribute.MultiWorkerMirroredStrategy()
me = f"{strategy.cluster_resolver.task_type}-{strategy.cluster_resolver.task_id}"


def batches(_: tf.distribute.InputContext) -> tf.data.Dataset:
    """Return the batches that the feeders make."""
    data = tf.data.Dataset.from_tensor_slices(samples()).shuffle(512).repeat().batch(64)
    service = tf.data.experimental.service
    return data.apply(service.distribute("parallel_epochs", f"grpc://{DISPATCHER}", job_name="fed"))


with strategy.scope():
    weights = tf.Variable(tf.zeros([4, 1]))
iterator = iter(strategy.distribute_datasets_from_function(batches))


def learn(batch: tuple[tf.Tensor, tf.Tensor]) -> tf.Tensor:
    """Learn from one batch, together with the other workers."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((batch[0] @ weights - batch[1]) ** 2)
    weights.assign_sub(0.05 * tf.distribute.get_replica_context().all_reduce("MEAN", tape.gradient(loss, weights)))
    return loss


@tf.function
def step(batch_of: tf.data.Iterator) -> tf.Tensor:
    """Let all replicas learn, and return the mean of their losses."""
    return strategy.reduce("MEAN", strategy.run(learn, args=(next(batch_of),)), axis=None)


for _ in range(STEPS):
    loss = float(step(iterator))
print(f"RESULT {me}: {STEPS} steps from {DISPATCHER}, loss {loss:.6f}", flush=True)
