"""Flux: what must outlive its removal from Git, and what its substitution must leave alone."""

from __future__ import annotations

PRUNE = "kustomize.toolkit.fluxcd.io/prune"


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
