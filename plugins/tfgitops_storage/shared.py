"""Find the claims for one node, or for one pod, that a Deployment mounts beside a job or another Deployment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops import Problem
from tfgitops_storage.volumes import SINGLE, access_of, claim_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfgitops import Environment


def check_servers(environment: Environment, manifests: Sequence[Mapping[str, Any]]) -> Iterator[Problem]:
    """Yield a problem for each such claim at its volume; `check_volumes` finds those that only jobs share."""
    volumes = environment.get("volumes") or {}
    users: dict[str, dict[str, bool]] = {}
    for manifest in manifests:
        if user := _user(environment, manifest):
            for claim in _claims(manifest):
                users.setdefault(claim, {})[user] = manifest["kind"] == "Deployment"
    for name in volumes:
        mode, claim = access_of(volumes[name]), claim_name(name, volumes[name])
        mounted = users.pop(claim, {}) if mode in SINGLE else {}
        if len(mounted) > 1 and any(mounted.values()):
            first, second, *_ = sorted(mounted, key=lambda user: not mounted[user])
            one = "one pod" if mode.endswith("Pod") else "pods of one node"
            yield Problem(
                code="STORE04", severity="error" if one == "one pod" else "warning",
                at=("volumes", name), on_key=True, found=mode,
                message=f"the claim '{claim}' is {mode}: only {one} can mount it at a time, and {first} and {second} "
                        "both do, so one of them may wait forever",
                expected="ReadWriteMany",
                hint="write `access: ReadWriteMany`, with a storage class that offers it",
            )  # fmt: skip


def _user(environment: Environment, manifest: Mapping[str, Any]) -> str:
    if manifest["kind"] == "Deployment" and manifest["metadata"].get("namespace") == environment.namespace:
        return f"deployment/{manifest['metadata']['name']}"
    job = environment.job_of(manifest) if manifest["kind"] == "Job" else None
    return f"the job '{job.name}'" if job else ""


def _claims(manifest: Mapping[str, Any]) -> set[str]:
    """Return the claims that the pods of a Job or a Deployment mount."""
    spec = manifest["spec"]
    pods = [task["template"] for task in (spec["tasks"] if manifest["kind"] == "Job" else [spec])]
    volumes = [volume for pod in pods for volume in pod["spec"].get("volumes") or ()]
    return {volume["persistentVolumeClaim"]["claimName"] for volume in volumes if "persistentVolumeClaim" in volume}
