"""kustomize: a kustomization.yaml for a folder of manifests, for those who ask for one."""

from __future__ import annotations

from typing import Any

KUSTOMIZATION = "kustomization.yaml"


def kustomization(files: list[str]) -> dict[str, Any]:
    """Return the Kustomization that lists the files of one folder."""
    return {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": sorted(files),
    }
