"""Access: the NetworkPolicies for the ports that pods outside of a job may reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops import Environment, Job, Object, Problem, Role, hookimpl

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Door = tuple[str, Mapping[str, Any]]

tfgitops_api = 1

CODES = {
    "ACCESS01": "a port with `from` in a job whose pods are open already",
    "ACCESS02": "a port with `from` in a pod with the network of its node",
}
_OPEN = "--disable-network-policy"


@hookimpl
def tfgitops_check_manifests(environment: Environment, manifests: Sequence[Mapping[str, Any]]) -> Iterator[Problem]:
    """Report the ports for which a NetworkPolicy would close the pods, or do nothing."""
    for manifest in manifests:
        job = environment.job_of(manifest)
        if job is None or job.pin:
            continue
        for role, task in zip(job.roles, manifest["spec"]["tasks"], strict=True):
            for name, _ in _doors(role):
                at = (*role.route, "ports", name, "from")
                if job.is_open:
                    message = (
                        f"all pods may reach '{name}' already, since `{_OPEN}` keeps Volcano's NetworkPolicy away; "
                    )
                    message += "one for this port would close all other ports of the pods"
                    hint = f"leave `from` out, or remove `{_OPEN}` from `plugins`"
                    yield Problem(code="ACCESS01", message=message, at=at, on_key=True, hint=hint)
                elif task["template"]["spec"].get("hostNetwork"):
                    message = f"'{role.name}' has the network of its node, where no NetworkPolicy applies: "
                    message += f"everybody who reaches the node reaches '{name}'"
                    hint = "leave `from` out, or remove `hostNetwork`"
                    yield Problem(code="ACCESS02", message=message, at=at, on_key=True, severity="warning", hint=hint)


@hookimpl
def tfgitops_objects(environment: Environment) -> Iterator[Object]:
    """Write one NetworkPolicy for a job, or one for each of its roles if their ports differ.

    It selects the pods of all runs of the job by its label, so it stays as it is when a new run begins.
    """
    for job in environment.jobs:
        doors = {role.name: _doors(role) for role in job.roles}
        if job.is_open or not any(doors.values()):
            continue
        first, *others = doors.values()
        if all(other == first for other in others):
            yield _policy(job, job.roles[0], f"{job.name}-ports", {})
            continue
        for role in job.roles:
            if doors[role.name]:
                yield _policy(job, role, f"{job.name}-ports.{role.name}", {"volcano.sh/task-spec": role.name})


def _doors(role: Role) -> list[Door]:
    """List the ports of a role that others than the pods of its job may reach, by name."""
    return [(name, port) for name, port in sorted((role.get("ports") or {}).items()) if "from" in port]


def _policy(job: Job, role: Role, name: str, task: Mapping[str, str]) -> Object:
    rules = [
        {"from": [_peer(peer) for peer in _peers(port["from"])], "ports": [{"port": port["port"]}]}
        for _, port in _doors(role)
    ]
    spec = {
        "podSelector": {"matchLabels": {"tfgitops/job": job.name, **task}},
        "policyTypes": ["Ingress"], "ingress": rules,
    }  # fmt: skip
    manifest = {
        "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": name}, "spec": spec,
    }  # fmt: skip
    return Object(manifest, job.written(role, ("ports",)))


def _peers(written: Any) -> list[Any]:
    return [written] if isinstance(written, str) or hasattr(written, "keys") else [*written]


def _peer(written: Any) -> dict[str, Any]:
    """Return one peer of a NetworkPolicy: pods of the policy's own namespace, or of another one."""
    if isinstance(written, str):
        return {"podSelector": {}}
    peer: dict[str, Any] = {}
    if "namespace" in written:
        peer["namespaceSelector"] = {"matchLabels": {"kubernetes.io/metadata.name": written["namespace"]}}
    if "pods" in written:
        peer["podSelector"] = {"matchLabels": {key: str(value) for key, value in written["pods"].items()}}
    return peer
