"""The objects by which Argo CD applies an environment: a project, an application, and health checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.controllers.health import KINDS
from tfgitops.targets.gitops import KUSTOMIZATION
from tfgitops.targets.kubernetes.objectkinds import CLUSTER_SCOPED, WRITTEN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops.controllers.bootstrapfiles import Target

    Json = dict[str, Any]

_API = "argoproj.io/v1alpha1"
_HERE = "https://kubernetes.default.svc"
_COULD_WRITE = {
    *WRITTEN, ("batch.volcano.sh/v1alpha1", "Job"), ("scheduling.volcano.sh/v1beta1", "Queue"), ("v1", "Namespace"),
    ("v1", "PersistentVolumeClaim"),
}  # fmt: skip


def argocd_objects(target: Target) -> Iterator[tuple[str, Json]]:
    """Yield the objects for Argo CD, each with its path below ``bootstrap/``.

    There is no finalizer, which would end all runs with the Application, and no sync option that replaces, forces or
    prunes last. No difference is ignored: manifests have every default.
    """
    server = target.settings.get("server", _HERE)
    metadata = {"name": target.name, "namespace": target.settings.get("namespace", "argocd")}
    first = {"argocd.argoproj.io/sync-wave": "-1"}  # without its project, an application is looked at after minutes
    yield "argocd/appproject.yaml", {
        "apiVersion": _API, "kind": "AppProject", "metadata": {**metadata, "annotations": first},
        "spec": _project(target, server),
    }  # fmt: skip
    directory: Json = {"recurse": True}
    if target.environment.data.get("kustomization"):
        directory["exclude"] = f"*/{KUSTOMIZATION}"
    source = {
        "repoURL": target.repo, "targetRevision": target.revision, "path": target.manifests, "directory": directory
    }  # fmt: skip
    retry = {"limit": 5, "refresh": True, "backoff": {"duration": "10s", "factor": 2, "maxDuration": "1m"}}
    yield "argocd/application.yaml", {
        "apiVersion": _API, "kind": "Application", "metadata": metadata,
        "spec": {
            "project": target.name,
            "source": source,
            "destination": {"server": server, "namespace": target.environment.namespace},
            "syncPolicy": {"automated": {"prune": True, "selfHeal": True}, "retry": retry},
        },
    }  # fmt: skip
    yield "argocd-cm/argocd-cm.yaml", {
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {**metadata, "name": "argocd-cm", "labels": {"app.kubernetes.io/part-of": "argocd"}},
        "data": {
            f"resource.customizations.health.{kind.api_version.partition('/')[0]}_{kind.kind}": kind.lua
            for kind in KINDS
        },
    }  # fmt: skip


def _project(target: Target, server: str) -> Json:
    """Return what the application may read, and where and what it may write.

    The kinds are those that the compiler can write, so that a spec with a new key needs no new project, and those of
    plugins that the environment has.
    """
    written = [planned.manifest for planned in target.objects]
    kinds = _COULD_WRITE | {(manifest["apiVersion"], manifest["kind"]) for manifest in written}
    namespaces = {target.environment.namespace, *(one["metadata"].get("namespace") for one in written)} - {None}
    allowed: dict[bool, list[Json]] = {True: [], False: []}
    for group, kind in sorted((version.rpartition("/")[0], kind) for version, kind in kinds):
        if (rule := {"group": group, "kind": kind}) not in allowed[kind in CLUSTER_SCOPED]:
            allowed[kind in CLUSTER_SCOPED].append(rule)
    return {
        "description": f"{target.manifests} of {target.repo}",
        "sourceRepos": [target.repo],
        "destinations": [{"server": server, "namespace": namespace} for namespace in sorted(namespaces)],
        "clusterResourceWhitelist": allowed[True],
        "namespaceResourceWhitelist": allowed[False],
    }
