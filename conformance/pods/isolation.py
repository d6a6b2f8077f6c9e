"""Runs a script in namespaces of its own, so that nothing of it is left when it ends or is killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile

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


def obstacle() -> str:
    """Return why this machine cannot play pods, or nothing."""
    if _ISOLATED in os.environ:
        return ""
    if os.geteuid() != 0:
        return "namespaces, networks and roots for pods need the user root"
    if missing := [tool for tool in ("unshare", "ip", "chroot") if not shutil.which(tool)]:
        return f"there is no {' and no '.join(missing)}"
    with tempfile.TemporaryDirectory() as folder:
        words = [*_SPACES, "sh", "-c", _TRIAL, folder]
        tried = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603 - fixed words
    return "" if tried.returncode == 0 else f"this machine forbids it: {tried.stderr.strip() or tried.returncode}"


def isolate() -> None:
    """Start this script again in namespaces of its own, unless it runs in them."""
    if _ISOLATED not in os.environ:
        os.environ[_ISOLATED] = "1"
        os.execvp(_SPACES[0], [*_SPACES, *sys.orig_argv])  # noqa: S606 - this script again
    # This process 1 of its namespace would ignore SIGTERM: a run that is stopped removes its folders first.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    os.makedirs("/run/netns", exist_ok=True)  # noqa: PTH103 - where ip keeps the names of networks
    subprocess.run(["mount", "-t", "tmpfs", "netns", "/run/netns"], check=True)  # noqa: S607
