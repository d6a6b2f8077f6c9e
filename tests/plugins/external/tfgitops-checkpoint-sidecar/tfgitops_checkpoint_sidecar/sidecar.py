"""The sidecar and its ConfigMap, in Kubernetes's words."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

from tfgitops import duration, named_by_content

if TYPE_CHECKING:
    from tfgitops_checkpoint_sidecar.sync import Mount, Sync

NAME = "checkpoint-sidecar"
FOLDER = "/etc/checkpoint-sidecar"
SCRIPT = files(__package__).joinpath("sync.sh").read_text(encoding="utf-8")


def config_map(sync: Sync) -> dict[str, Any]:
    """Return the configuration of a sidecar, named by its content.

    With another configuration it is another object, whose name stands in the Job: a new run, and one that is pinned
    still finds its own.
    """
    remote = ["[store]", "type = s3", f"provider = {'Other' if sync.get('endpoint') else 'AWS'}", "env_auth = true"]
    remote += [f"{key} = {sync.get(key)}" for key in ("endpoint", "region") if sync.get(key)]
    return named_by_content(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "checkpoints"},
            "immutable": True,
            "data": {
                "rclone.conf": "\n".join(remote) + "\n",
                "sync.env": f"EVERY={duration.seconds(sync.get('every'))}\n",
                "sync.sh": SCRIPT,
            },
        }
    )


def pod(sync: Sync) -> dict[str, Any]:
    """Return the pod with the sidecar, which has the time that it needs for its last sync."""
    configuration = config_map(sync)["metadata"]["name"]
    return {
        "spec": {
            "terminationGracePeriodSeconds": duration.seconds(sync.get("grace")),
            "initContainers": [_container(sync)],
            "volumes": [{"name": NAME, "configMap": {"name": configuration}}],
        }
    }


def _container(sync: Sync) -> dict[str, Any]:
    assert sync.mount is not None, "what has none was refused"
    return {
        "name": NAME,
        "image": sync.get("image"),
        "restartPolicy": "Always",
        "command": ["/bin/sh", f"{FOLDER}/sync.sh"],
        "env": [
            {"name": "SOURCE", "value": sync.source},
            {"name": "DESTINATION", "value": f"store:{sync.destination.removeprefix('s3://')}"},
            *_credentials(sync.get("secret")),
        ],
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
        "securityContext": {"allowPrivilegeEscalation": False},
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [{"name": NAME, "mountPath": FOLDER, "readOnly": True}, _mounted(sync.mount)],
    }


def _credentials(secret: Any) -> list[dict[str, Any]]:
    """Return the variables that rclone reads, each by reference: no credential is in a manifest."""
    keys = {"AWS_ACCESS_KEY_ID": secret.get("id"), "AWS_SECRET_ACCESS_KEY": secret.get("key")}
    return [
        {"name": name, "valueFrom": {"secretKeyRef": {"name": secret["name"], "key": key or name}}}
        for name, key in keys.items()
    ]


def _mounted(mount: Mount) -> dict[str, Any]:
    """Return the mount of the training container, for reading only."""
    entry: dict[str, Any] = {"name": mount.name, "mountPath": mount.path, "readOnly": True}
    if mount.sub_path:
        entry["subPathExpr" if "$(" in mount.sub_path else "subPath"] = mount.sub_path
    return entry
