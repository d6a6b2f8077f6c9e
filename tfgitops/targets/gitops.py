"""GitOps controllers: the annotations that Argo CD and Flux need on an object, and kustomize's list of a folder.

The facts are in docs/volcano.md 7.
"""

from __future__ import annotations

from typing import Any

SYNC_OPTIONS = "argocd.argoproj.io/sync-options"
PRUNE = "kustomize.toolkit.fluxcd.io/prune"
KUSTOMIZATION = "kustomization.yaml"


def argocd_annotations(*, wave: int, keep: bool) -> dict[str, str]:
    """Return Argo CD's annotations of an object.

    Its dry run is on the client, so one application with waves passes where a Job meets its Queue. A kept object is
    neither pruned nor deleted with the application, and does not make it OutOfSync.
    """
    found = {"argocd.argoproj.io/sync-wave": str(wave)}
    if keep:
        found["argocd.argoproj.io/compare-options"] = "IgnoreExtraneous"
        found[SYNC_OPTIONS] = "Prune=false,Delete=false"
    return found


def flux_annotations(*, keep: bool, holds_variables: bool) -> dict[str, str]:
    """Return Flux's annotations of an object.

    Order comes from one Kustomization a folder. Its `postBuild` substitution blanks ``${VAR}`` in scripts, or fails.
    """
    found = {}
    if keep:
        found[PRUNE] = "disabled"
    if holds_variables:
        found["kustomize.toolkit.fluxcd.io/substitute"] = "disabled"
    return found


def kustomization(files: list[str]) -> dict[str, Any]:
    """Return the Kustomization that lists the files of one folder."""
    return {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": sorted(files)}
