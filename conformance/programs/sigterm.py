"""Waits for SIGTERM, and then writes a last checkpoint, as a training may. Says when all pods of its job are ready."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

folder = Path(os.environ["RUN_DIR"])
folder.mkdir(parents=True, exist_ok=True)


def end(*_: object) -> None:
    """Write the checkpoint and end."""
    (folder / f"last-{os.uname().nodename}").touch()
    print("last checkpoint written", flush=True)
    sys.exit(0)


signal.signal(signal.SIGTERM, end)
(folder / f"ready-{os.uname().nodename}").touch()
told = False
while True:
    if not told and len(list(folder.glob("ready-*"))) == int(os.environ["PODS"]):
        told = True
        print("all pods are ready", flush=True)
    time.sleep(0.1)
