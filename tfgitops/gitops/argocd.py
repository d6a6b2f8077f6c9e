"""Argo CD: sync waves by level, and what must outlive its removal from Git."""

from __future__ import annotations

SYNC_OPTIONS = "argocd.argoproj.io/sync-options"


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
