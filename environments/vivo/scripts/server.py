"""Serves one place of an in-graph cluster, for ever."""

from __future__ import annotations

import json
import os

import tensorflow as tf

config = json.loads(os.environ["TF_CONFIG"])
kind, index = config["task"]["type"], config["task"]["index"]
server = tf.compat.v1.train.Server(tf.train.ClusterSpec(config["cluster"]), job_name=kind, task_index=index)
print(f"{kind}-{index} serves at {server.target}", flush=True)
server.join()
