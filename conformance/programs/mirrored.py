"""MirroredStrategy on two devices of one pod, with Keras, and a saved model in a folder."""

from __future__ import annotations

import sys
from pathlib import Path

import tensorflow as tf
from samples import samples

folder = Path(sys.argv[1])
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(1)])
    model.compile(tf.keras.optimizers.SGD(0.05), "mse")
history = model.fit(tf.data.Dataset.from_tensor_slices(samples()).batch(64), epochs=10, verbose=0)
folder.mkdir(parents=True, exist_ok=True)
model.save(folder / "model.keras")
files = [path.name for path in folder.iterdir()]
loss = history.history["loss"][-1]
print(f"RESULT {strategy.num_replicas_in_sync} replicas, files {files}, loss {loss:.6f}", flush=True)
