"""The pod of one TensorBoard, which may run in the strictest namespaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfgitops import View

PORT = 6006
DEFAULTS = {
    "image": "tensorflow/tensorflow:2.19.0",
    "cpu": {"request": "100m", "limit": "1"}, "memory": {"request": "512Mi", "limit": "2Gi"},
}  # fmt: skip
_PATH = "/logs"
_NOBODY = 65534


def board_pod(board: View, volume: Mapping[str, Any]) -> dict[str, Any]:
    """Return the pod as Pod Security's level `restricted` wants it.

    Only the mount is read-only, not the claim: some storage cannot attach a claim for reading that others write.
    """
    name, path, folder = board["volume"], volume.get("path") or _PATH, board.get("logdir", "")
    logdir = f"{path.rstrip('/')}/{folder}" if folder else path
    mount = {"name": name, "mountPath": path, "readOnly": True}
    own = volume.get("subPath", "")
    if own and "$(" not in own:  # a folder of each run is left out: the board shows the runs beside each other
        mount["subPath"] = own
    words = ("tensorboard", f"--logdir={logdir}", "--bind_all", f"--port={PORT}", *map(str, board.get("args") or ()))
    container = {
        "name": "tensorboard", "command": [*words], "volumeMounts": [mount],
        "env": [{"name": "HOME", "value": "/tmp"}],  # noqa: S108 - the pod's own; the user has no other folder
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }  # fmt: skip
    return {
        "containers": [container],
        "securityContext": {
            "runAsNonRoot": True, "runAsUser": board.get("user", _NOBODY), "seccompProfile": {"type": "RuntimeDefault"},
        },
        "volumes": [{"name": name, "persistentVolumeClaim": {"claimName": volume.get("claim", name)}}],
    }  # fmt: skip
