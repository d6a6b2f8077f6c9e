"""Serves one place of an in-graph cluster, for ever."""

from __future__ import annotations

import json
import os

import tensorflow as tf

config = json.loads(os.environ["TF_CONFIG"])
task = config["task"]
cluster = tf.train.ClusterSpec(config["cluster"])
tf.compat.v1.train.Server(cluster, job_name=task["type"], task_index=task["index"]).join()
