"""Between-graph replication as in TensorFlow 1: the cluster comes from flags, or else from TF_CONFIG.

It learns four weights instead of ImageNet, so that it runs in seconds. Pods get this file alone, so it imports nothing
from its folder.
"""

from __future__ import annotations

import argparse
import json
import os
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import tensorflow as tf

v1 = tf.compat.v1
v1.disable_eager_execution()
STEPS = 300

parser = argparse.ArgumentParser()
for flag in ("--ps_hosts", "--worker_hosts", "--job_name", "--task_index", "--log_path", "--data_dir"):
    parser.add_argument(flag)
parser.add_argument("--metrics_port", type=int)
flags = parser.parse_args()
if flags.ps_hosts:
    cluster = {"ps": flags.ps_hosts.split(","), "worker": flags.worker_hosts.split(",")}
    kind, index = flags.job_name, int(flags.task_index)
else:
    place = json.loads(os.environ["TF_CONFIG"])
    cluster, kind, index = place["cluster"], place["task"]["type"], place["task"]["index"]
print(f"{kind}-{index} of { ({name: len(hosts) for name, hosts in cluster.items()}) }", flush=True)
if flags.data_dir:
    print(f"data in {flags.data_dir}: {os.path.ismount(flags.data_dir)}", flush=True)
if flags.log_path:
    os.makedirs(flags.log_path, exist_ok=True)  # noqa: PTH103

server = v1.train.Server(tf.train.ClusterSpec(cluster), job_name=kind, task_index=index)
if kind == "ps":
    server.join()

device = v1.train.replica_device_setter(worker_device=f"/job:worker/task:{index}", cluster=cluster)
with v1.device(device):
    step = v1.train.get_or_create_global_step()
    weights = v1.get_variable("weights", [4, 1], initializer=v1.zeros_initializer())
    inputs = v1.random_normal([64, 4])
    outputs = tf.matmul(inputs, tf.constant([[1.0], [-2.0], [3.0], [0.5]]))
    loss = tf.reduce_mean((tf.matmul(inputs, weights) - outputs) ** 2)
    train = v1.train.GradientDescentOptimizer(0.05).minimize(loss, global_step=step)

config = v1.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{index}"])
saver = v1.train.Saver()
manager = v1.train.SessionManager(ready_op=v1.report_uninitialized_variables(), recovery_wait_secs=1)
if index == 0:
    start = v1.global_variables_initializer()
    session = manager.prepare_session(
        server.target, init_op=start, saver=saver, checkpoint_dir=flags.log_path, config=config
    )
else:
    session = manager.wait_for_session(server.target, config=config)
own = reached = 0
value = float("nan")


class Metrics(BaseHTTPRequestHandler):
    """Tells Prometheus how far the training is."""

    def do_GET(self) -> None:  # the name is of the base class
        """Answer with the step and the loss, as Prometheus reads them."""
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(f"training_step {reached}\ntraining_loss {value}\n".encode())


if flags.metrics_port:
    metrics = HTTPServer(("", flags.metrics_port), Metrics)
    threading.Thread(target=metrics.serve_forever, daemon=True).start()
while reached < STEPS:
    _, value, reached = session.run([train, loss, step])
    own += 1
    time.sleep(0.02)
if index == 0 and flags.log_path:
    print(f"checkpoint {saver.save(session, os.path.join(flags.log_path, 'model'), reached)}")  # noqa: PTH118
print(f"RESULT {kind}-{index}: {own} steps of its own, global step {reached}, loss {value:.6f}", flush=True)
