"""The dispatcher and the feeders of the tf.data service."""

from __future__ import annotations

import socket
import sys

import tensorflow as tf

PORT = 5050
service = tf.data.experimental.service
if sys.argv[1] == "dispatcher":
    server = service.DispatchServer(service.DispatcherConfig(port=PORT))
else:
    address = f"{socket.gethostbyname(socket.gethostname())}:{PORT}"
    server = service.WorkerServer(
        service.WorkerConfig(dispatcher_address=sys.argv[2], worker_address=address, port=PORT)
    )
    print(f"feeder at {address} for {sys.argv[2]}", flush=True)
server.join()
