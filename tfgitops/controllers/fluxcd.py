"""The objects by which Flux applies an environment: a source, and a Kustomization for each folder."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tfgitops.controllers.health import JOB, QUEUE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops.controllers.bootstrapfiles import Target

    Json = dict[str, Any]

_COMMIT = re.compile(r"[0-9a-f]{40}").fullmatch


def flux_objects(target: Target) -> Iterator[tuple[str, Json]]:
    """Yield the objects for Flux, each with its path below ``bootstrap/``; each folder waits for the one before.

    Nothing is forced, nothing is substituted, and runs outlive the Kustomization. The health checks count only with
    `wait`; a folder waits for its Volcano objects two minutes at most.
    """
    namespace, secret = target.settings.get("namespace", "flux-system"), target.settings.get("secret")
    yield "flux/gitrepository.yaml", {
        "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository",
        "metadata": {"name": target.name, "namespace": namespace},
        "spec": {
            "interval": "1m", "url": target.repo, "ref": _reference(target.revision),
            **({"secretRef": {"name": secret}} if secret else {}),
        },
    }  # fmt: skip
    before = ""
    for folder in dict.fromkeys(planned.folder for planned in target.objects):
        name = f"{target.name}-{folder}"
        yield f"flux/kustomization-{folder}.yaml", {
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {
                **({"dependsOn": [{"name": before}]} if before else {}),
                "interval": "10m", "retryInterval": "30s", "timeout": "2m",
                "sourceRef": {"kind": "GitRepository", "name": target.name},
                "path": f"./{target.manifests}/{folder}",
                "prune": True, "deletionPolicy": "Orphan", "wait": True,
                "healthCheckExprs": [(JOB if folder == "workloads" else QUEUE).expressions],
            },
        }  # fmt: skip
        before = name


def _reference(revision: str) -> Json:
    """Return Flux's form of a revision: a commit, a whole reference as `refs/tags/v1`, or a branch."""
    if _COMMIT(revision):
        return {"commit": revision}
    return {"name": revision} if revision.startswith("refs/") else {"branch": revision}
