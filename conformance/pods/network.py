"""A network of its own for each pod, on one bridge, with names in one hosts file."""

from __future__ import annotations

import os
import subprocess
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

GATEWAY = "10.77.0.1"
_BRIDGE = "pods0"


class Network:
    """A bridge with the pods' addresses. A new pod has a new address, as in a cluster."""

    def __init__(self, hosts: Path) -> None:
        self._hosts, self._names, self._count = hosts, {"localhost": "127.0.0.1"}, 0
        hosts.touch()
        self._write()
        _ip("link", "set", "lo", "up")
        _ip("link", "add", _BRIDGE, "type", "bridge")
        _ip("link", "set", _BRIDGE, "up")
        _ip("address", "add", f"{GATEWAY}/16", "dev", _BRIDGE)

    def join(self) -> tuple[str, str]:
        """Make a network namespace; return its name and its address."""
        self._count += 1
        number = self._count
        space, address = f"pod{number}", f"10.77.{1 + number // 250}.{1 + number % 250}"
        _ip("netns", "add", space)
        _ip("link", "add", space, "type", "veth", "peer", "name", "eth0", "netns", space)
        _ip("link", "set", space, "master", _BRIDGE, "up")
        _ip("-n", space, "link", "set", "lo", "up")
        _ip("-n", space, "address", "add", f"{address}/16", "dev", "eth0")
        _ip("-n", space, "link", "set", "eth0", "up")
        return space, address

    def leave(self, space: str) -> None:
        """Remove a network namespace. The kernel removes what is in it later, so its link goes first."""
        _ip("link", "delete", space)
        _ip("netns", "delete", space)

    def publish(self, names: str, address: str) -> None:
        """Let all pods find an address by its names."""
        self._names[names] = address
        self._write()

    def withdraw(self, names: str, address: str) -> None:
        """Forget names, unless a newer pod has them."""
        if self._names.get(names) == address:
            del self._names[names]
            self._write()

    def close(self) -> None:
        """Remove the bridge."""
        _ip("link", "delete", _BRIDGE)

    def _write(self) -> None:
        """Write the file in one call and in place: pods have it mounted, and may read it at any moment."""
        text = "".join(f"{address} {names}\n" for names, address in self._names.items()).encode()
        with self._hosts.open("r+b") as file:
            os.pwrite(file.fileno(), text, 0)
            file.truncate(len(text))


class Web:
    """A web server on the bridge, for programs that a command fetches."""

    def __init__(self, folder: Path) -> None:
        self._server = ThreadingHTTPServer((GATEWAY, 80), partial(_Quiet, directory=str(folder)))
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Stop the server."""
        self._server.shutdown()
        self._server.server_close()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is http.server's
        """Print nothing."""


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)  # noqa: S603, S607 - fixed words
