"""Runs a script in namespaces of its own, so that nothing of it is left when it ends or is stopped."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_ISOLATED = "PODS_ISOLATED"
_SPACES = ("unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc")
_TRIAL = """\
set -e
mount -t tmpfs trial "$0"
mkdir "$0/upper" "$0/work" "$0/root"
mount -t overlay -o "lowerdir=/,upperdir=$0/upper,workdir=$0/work" overlay "$0/root"
ip link add pods0 type bridge
ip link add pod1 type veth peer name eth0
"""
_STOPS = (signal.SIGINT, signal.SIGTERM)


def obstacle() -> str:
    """Return why this machine cannot play pods, or nothing."""
    if _ISOLATED in os.environ:
        return ""
    if os.geteuid() != 0:
        return "namespaces, networks and roots for pods need the user root"
    if missing := [tool for tool in ("unshare", "setpriv", "ip", "chroot") if not shutil.which(tool)]:
        return f"there is no {' and no '.join(missing)}"
    with tempfile.TemporaryDirectory() as folder:
        words = [*_SPACES, "sh", "-c", _TRIAL, folder]
        tried = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603 - fixed words
    return "" if tried.returncode == 0 else f"this machine forbids it: {tried.stderr.strip() or tried.returncode}"


def isolate() -> None:
    """Run this script again in namespaces of its own and exit as it does, unless it runs in them."""
    if _ISOLATED not in os.environ:
        sys.exit(_run_again())
    os.makedirs("/run/netns", exist_ok=True)  # noqa: PTH103 - where ip keeps the names of networks
    subprocess.run(["mount", "-t", "tmpfs", "netns", "/run/netns"], check=True)  # noqa: S607


def stop_on_signals() -> None:
    """Let SIGINT and SIGTERM end this script with one line, after it has removed its folders."""

    def stop(number: int, _: object) -> None:
        for other in _STOPS:
            signal.signal(other, signal.SIG_IGN)
        # A print could interrupt another print.
        os.write(2, f"stopped by {signal.Signals(number).name}\n".encode())
        sys.exit(128 + number)

    for number in _STOPS:
        signal.signal(number, stop)


def signal_child(parent: int, number: int) -> bool:
    """Send a signal to the process that an `unshare` has started, because `unshare` passes none on."""
    with contextlib.suppress(OSError):
        if found := Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii").split():
            os.kill(int(found[0]), number)
            return True
    return False


def _run_again() -> int:
    """Run this script in namespaces that end with it, and send it again and again the signal that this process gets."""
    asked: list[int] = []
    # It inherits that SIGINT is ignored, so that none ends it before it can clean up.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    words = ["setpriv", "--pdeathsig", "KILL", *_SPACES, *sys.orig_argv]
    process = subprocess.Popen(words, env={**os.environ, _ISOLATED: "1"})  # noqa: S603 - this script again
    for number in _STOPS:
        signal.signal(number, lambda number, _: asked.append(number))
    while process.poll() is None:
        if asked:
            signal_child(process.pid, asked[0])
        time.sleep(0.05)
    return process.returncode if process.returncode >= 0 else 128 - process.returncode
