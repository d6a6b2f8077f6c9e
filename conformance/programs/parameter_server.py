"""ParameterServerStrategy: a coordinator, servers, and an evaluator that follows the checkpoints in a shared folder."""

from __future__ import annotations

import os
import sys
import time

import tensorflow as tf
from samples import samples

STEPS, PAUSE = int(os.environ.get("STEPS", "200")), float(os.environ.get("PAUSE", "0"))
FOLDER = sys.argv[1]
INPUTS, OUTPUTS = samples()


class Model(tf.Module):
    """Four weights, and the steps that they have seen."""

    def __init__(self) -> None:
        super().__init__()
        self.weights = tf.Variable(tf.zeros([4, 1]))
        self.step = tf.Variable(0, dtype=tf.int64)


def evaluate() -> None:
    """Evaluate each checkpoint until the last one."""
    model = Model()
    checkpoint = tf.train.Checkpoint(model=model)
    for path in tf.train.checkpoints_iterator(FOLDER, min_interval_secs=0):
        checkpoint.restore(path).expect_partial()
        loss = float(tf.reduce_mean((INPUTS @ model.weights.numpy() - OUTPUTS) ** 2))
        done = int(model.step) >= STEPS
        print(f"{'RESULT ' if done else ''}evaluator: step {int(model.step)} loss {loss:.6f}", flush=True)
        if done:
            return


def coordinate(resolver: tf.distribute.cluster_resolver.ClusterResolver) -> None:
    """Schedule the steps on the workers, and keep a checkpoint every 50 steps."""
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    with strategy.scope():
        model = Model()
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(model=model), FOLDER, 3)
    if manager.restore_or_initialize():
        print(f"chief: restored step {int(model.step)}", flush=True)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)

    def batches() -> tf.data.Dataset:
        return tf.data.Dataset.from_tensor_slices((INPUTS, OUTPUTS)).shuffle(512).repeat().batch(64)

    with strategy.scope():
        iterator = iter(coordinator.create_per_worker_dataset(batches))

    def learn(batch: tuple[tf.Tensor, tf.Tensor]) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((batch[0] @ model.weights - batch[1]) ** 2)
        model.weights.assign_sub(0.02 * tape.gradient(loss, model.weights))
        return loss

    @tf.function
    def step(batch_of: tf.data.Iterator) -> tf.Tensor:
        return strategy.run(learn, args=(next(batch_of),))

    loss = float("nan")
    while (reached := int(model.step)) < STEPS:
        results = [coordinator.schedule(step, args=(iterator,)) for _ in range(10)]
        coordinator.join()
        model.step.assign_add(10)
        loss = float(results[-1].fetch())
        if (reached + 10) % 50 == 0:
            manager.save()
            print(f"chief: step {reached + 10} loss {loss:.6f}", flush=True)
        time.sleep(PAUSE)
    print(f"RESULT chief: step {reached} loss {loss:.6f}", flush=True)


def main() -> None:
    """Do what the place of this pod in the cluster asks for."""
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    kind, index = resolver.task_type, resolver.task_id
    print(
        f"{kind}-{index} of { {name: len(hosts) for name, hosts in resolver.cluster_spec().as_dict().items()} }",
        flush=True,
    )
    if kind in ("ps", "worker"):
        os.environ["GRPC_FAIL_FAST"] = "use_caller"
        server = tf.distribute.Server(resolver.cluster_spec(), job_name=kind, task_index=index, protocol="grpc")
        server.join()
    elif kind == "evaluator":
        evaluate()
    else:
        coordinate(resolver)


main()
