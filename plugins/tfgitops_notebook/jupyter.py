"""The pod of one notebook, which runs Jupyter, and the NetworkPolicy that lets it in to the servers of a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tfgitops import server_labels

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfgitops import Job, View

PORT = 8888
TOKEN = "JUPYTER_TOKEN"  # noqa: S105 - the variable from which Jupyter Server reads its token
COMMAND = ("jupyter", "lab", "--ip=0.0.0.0", f"--port={PORT}", "--no-browser", "--allow-root")
_NVIDIA = "nvidia.com/gpu"
_JOB = "tfgitops/job"


class NotebookMount(NamedTuple):
    """A volume that a notebook mounts, with the index of its entry in the spec."""

    position: int
    volume: str
    claim: str
    path: str
    sub_path: str
    read_only: bool


def mounts(notebook: View, volumes: Mapping[str, Mapping[str, Any]]) -> Iterator[NotebookMount]:
    """Yield the declared volumes that a notebook mounts.

    A `subPath` of the volume itself counts only without variables: a notebook has no run of its own, and its user wants
    to see the folders of all runs.
    """
    for index, use in enumerate(notebook.get("volumes") or ()):
        if volume := volumes.get(use["name"]):
            own = volume.get("subPath", "")
            path, read_only = (use.get(key, volume.get(key)) for key in ("path", "readOnly"))
            sub_path = use.get("subPath", "" if "$(" in own else own)
            yield NotebookMount(
                index, use["name"], volume.get("claim", use["name"]), path or "", sub_path, bool(read_only)
            )


def notebook_pod(notebook: View, volumes: Mapping[str, Mapping[str, Any]], job: Job | None) -> dict[str, Any]:
    """Return the pod of one notebook, with what only a notebook has."""
    container: dict[str, Any] = {
        "name": "notebook", "command": [str(word) for word in notebook.get("command") or COMMAND],
        "env": [*_env(notebook, job)],
    }  # fmt: skip
    pod: dict[str, Any] = {"containers": [container]}
    if "workdir" in notebook:
        container["workingDir"] = notebook["workdir"]
    if gpu := notebook.get("gpu"):
        resource = gpu.get("resource", _NVIDIA)
        taint = _NVIDIA if resource.startswith("nvidia.com/") else resource
        pod["tolerations"] = [{"key": taint, "operator": "Exists", "effect": "NoSchedule"}]
        container["resources"] = {key: {resource: str(gpu.get("count", 1))} for key in ("requests", "limits")}
    if "queue" in notebook:
        pod["schedulerName"] = "volcano"
    if mounted := [*mounts(notebook, volumes)]:
        names = {one.claim: one.volume for one in sorted(mounted, key=lambda one: one.volume, reverse=True)}
        pod["volumes"] = [
            {"name": names[claim], "persistentVolumeClaim": {"claimName": claim}} for claim in sorted(names)
        ]
        container["volumeMounts"] = [_volume_mount(names[one.claim], one) for one in mounted]
    return pod


def _volume_mount(name: str, mount: NotebookMount) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": name, "mountPath": mount.path}
    if mount.sub_path:
        entry["subPath"] = mount.sub_path
    if mount.read_only:
        entry["readOnly"] = True
    return entry


def _env(notebook: View, job: Job | None) -> Iterator[dict[str, Any]]:
    """Yield the token, the run and the hosts of the job, and the notebook's own variables."""
    token = notebook.get("token")
    if token and "secret" in token:
        reference = {"name": token["secret"], "key": token.get("key", "token")}
        yield {"name": TOKEN, "valueFrom": {"secretKeyRef": reference}}
    tasks = sorted(role.name.upper() for role in job.roles if role.has_server) if job else []
    for name in ("RUN", *(f"{task}_HOSTS" for task in tasks)) if job else ():
        yield {"name": name, "value": f"$({name})"}
    for name, value in sorted((notebook.get("env") or {}).items()):
        yield {"name": name, "value": str(value)}


def network_policy(name: str, job: Job) -> dict[str, Any]:
    """Return the NetworkPolicy that lets a notebook reach the servers of all runs of a job.

    NetworkPolicies add up, so the pods of the job stay open to each other by Volcano's own.
    """
    labels = server_labels("notebook", name)
    rule = {"from": [{"podSelector": {"matchLabels": labels}}], "ports": [{"port": job.port}]}
    metadata = {"name": f"notebook-{name}", "labels": labels}
    spec = {"podSelector": {"matchLabels": {_JOB: job.name}}, "policyTypes": ["Ingress"], "ingress": [rule]}
    return {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": metadata, "spec": spec}
