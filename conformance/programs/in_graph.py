"""In-graph replication: one client builds the whole graph, and drives a ps and all workers."""

from __future__ import annotations

import json
import os

import tensorflow as tf
from samples import WEIGHTS

v1 = tf.compat.v1
v1.disable_eager_execution()
STEPS = 100

cluster = json.loads(os.environ["TF_CONFIG"])["cluster"]
workers = len(cluster["worker"])
server = v1.train.Server(tf.train.ClusterSpec(cluster), job_name="chief", task_index=0)
with v1.device("/job:ps/task:0"):
    weights = v1.get_variable("weights", [4, 1], initializer=v1.zeros_initializer())
losses, gradients = [], []
for index in range(workers):
    with v1.device(f"/job:worker/task:{index}"):
        inputs = v1.random_normal([64, 4])
        loss = tf.reduce_mean((tf.matmul(inputs, weights) - tf.matmul(inputs, tf.constant(WEIGHTS))) ** 2)
        losses.append(loss)
        gradients.append(v1.gradients(loss, [weights])[0])
train = weights.assign_sub(0.05 * tf.add_n(gradients) / workers)
mean = tf.add_n(losses) / workers
with v1.Session(server.target) as session:
    session.run(v1.global_variables_initializer())
    for _ in range(STEPS):
        _, value = session.run([train, mean])
print(f"RESULT client: {STEPS} steps over {workers} workers, loss {value:.6f}", flush=True)
