"""The objects of one notebook: a Deployment that runs Jupyter, a Service, and a NetworkPolicy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tfgitops import quantity

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


def labels_of(name: str) -> dict[str, str]:
    """Return the labels of a notebook's pod and objects, which also select the pod."""
    return {"app.kubernetes.io/name": "notebook", "app.kubernetes.io/instance": name}


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


def deployment(
    metadata: Mapping[str, Any], notebook: View, volumes: Mapping[str, Mapping[str, Any]], job: Job | None
) -> dict[str, Any]:
    """Return the Deployment of one notebook.

    Its strategy is always Recreate: two pods of one notebook would write the same files, need its GPUs twice, and could
    not both mount a claim for one node.
    """
    labels = metadata["labels"]
    template: dict[str, Any] = {
        "metadata": {"labels": labels},
        "spec": _pod(notebook, [*mounts(notebook, volumes)], job),
    }
    if queue := notebook.get("queue"):  # Volcano's controller makes a PodGroup in this queue for the pod
        template["metadata"]["annotations"] = {"scheduling.volcano.sh/queue-name": queue}
        template["spec"]["schedulerName"] = "volcano"
    spec = {
        "replicas": 1, "strategy": {"type": "Recreate"}, "selector": {"matchLabels": labels}, "template": template,
    }  # fmt: skip
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def _pod(notebook: View, mounted: list[NotebookMount], job: Job | None) -> dict[str, Any]:
    container: dict[str, Any] = {
        "name": "notebook", "image": notebook["image"],
        "command": [str(word) for word in notebook.get("command") or COMMAND],
        "env": [*_env(notebook, job)],
        "ports": [{"name": "http", "containerPort": PORT}],
        "readinessProbe": {"tcpSocket": {"port": "http"}},
    }  # fmt: skip
    # Without links, no Service called `jupyter` sets JUPYTER_PORT, which Jupyter would read as its port.
    pod: dict[str, Any] = {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "containers": [container],
    }
    if "workdir" in notebook:
        container["workingDir"] = notebook["workdir"]
    if resources := _resources(notebook):
        container["resources"] = resources
    if gpu := notebook.get("gpu"):
        resource = gpu.get("resource", _NVIDIA)
        taint = _NVIDIA if resource.startswith("nvidia.com/") else resource
        pod["tolerations"] = [{"key": taint, "operator": "Exists", "effect": "NoSchedule"}]
    if selector := notebook.get("nodeSelector"):
        pod["nodeSelector"] = {label: str(value) for label, value in selector.items()}
    if secrets := notebook.get("imagePullSecrets"):
        pod["imagePullSecrets"] = [{"name": secret} for secret in secrets]
    if mounted:
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


def _resources(notebook: View) -> dict[str, dict[str, str]]:
    resources: dict[str, dict[str, str]] = {}
    for name in ("cpu", "memory"):
        for bound, amount in (notebook.get(name) or {}).items():
            resources.setdefault(f"{bound}s", {})[name] = quantity.canonical(amount)
    if gpu := notebook.get("gpu"):
        for bound in ("requests", "limits"):
            resources.setdefault(bound, {})[gpu.get("resource", _NVIDIA)] = str(gpu.get("count", 1))
    return resources


def service(metadata: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Service of one notebook, with a port of the nodes only if the spec asks for one."""
    port = {"name": "http", "port": 80, "targetPort": "http"}
    if "nodePort" in asked:
        port["nodePort"] = asked["nodePort"]
    spec = {"type": asked.get("type", "ClusterIP"), "selector": metadata["labels"], "ports": [port]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}


def network_policy(metadata: Mapping[str, Any], job: Job) -> dict[str, Any]:
    """Return the NetworkPolicy that lets a notebook reach the servers of all runs of a job.

    NetworkPolicies add up, so the pods of the job stay open to each other by Volcano's own.
    """
    rule = {
        "from": [{"podSelector": {"matchLabels": metadata["labels"]}}],
        "ports": [{"port": job.port}],
    }
    spec = {"podSelector": {"matchLabels": {_JOB: job.name}}, "policyTypes": ["Ingress"], "ingress": [rule]}
    return {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": metadata, "spec": spec}
