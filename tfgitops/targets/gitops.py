"""GitOps controllers: the annotations that they need, those that steer them away, and kustomize's list of a folder.

The facts are in docs/volcano.md 7; docs/explanation/gitops.md has the table of `STEERING`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes.fault import Rules
from tfgitops.targets.kubernetes.schemafile import schema_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tfgitops.targets.kubernetes.fault import Fault
    from tfgitops.targets.routes import Json, Route

_ARGO, _FLUX = "argocd.argoproj.io", "kustomize.toolkit.fluxcd.io"
_WAVE = f"{_ARGO}/sync-wave"
_SYNC_OPTIONS = f"{_ARGO}/sync-options"
_COMPARE_OPTIONS = f"{_ARGO}/compare-options"
KUSTOMIZATION = "kustomization.yaml"
_LOCAL, _INTERNAL = "config.kubernetes.io/local-config", "internal.config.kubernetes.io/"
_ANNOTATIONS = (f"{_ARGO}/", "helm.sh/", _LOCAL, _INTERNAL)

STEERING: list[tuple[str, str, str, str]] = schema_file("metadata.rules.json")["steering"]
"""Rows of a key, its values, the kinds of objects, and the rule of which an object with it is an instance.

Argo CD reads annotations, and takes Helm's as its own. Flux reads labels as well, in any case of letters.
"""

RULES = Rules.read("""
    sync-hook:
        with `{found}` Argo CD runs the object as a hook: it deletes it and creates it again at every sync
        | leave it out: a changed job has a new name, and so starts a new run
    sync-skipped:
        with `{found}` {controller} never applies the object | leave it out, or remove the object from the spec
    sync-breaks:
        with `{found}` {controller} can fail for all objects of the folder: it keeps its own notes there | leave it out
    sync-once:
        with `{found}` {controller} applies the object once, and none of its later changes | leave it out
    sync-destroys:
        `{found}` lets {controller} replace or reorder jobs: runs would be lost, or never start
        | leave it out: a changed job has a new name
    sync-kept:
        with `{found}` {controller} leaves the old run when the job changes: two runs then write to the same folders
        | leave it out; `pin` keeps a run while the spec changes
    sync-outlives:
        with `{found}` the run keeps running after its Application is deleted, and nothing ends it | leave it out
    sync-unnoticed:
        with `{found}` Argo CD stays Synced when the job is removed, and may never end its run | leave it out
""")

WARNINGS = frozenset({"sync-skipped", "sync-once", "sync-kept", "sync-outlives", "sync-unnoticed"})
"""Rules whose breach may be meant."""


def judge_steering(manifest: Json) -> Iterator[Fault]:
    """Yield a fault for each annotation or label by which a controller would lose, keep or skip an object."""
    for controller, at, words, (kinds, rule) in _steered(manifest):
        if kinds == "any" or manifest["kind"] in kinds.split(", "):
            yield RULES.fault(rule, at, found=f"{at[-1]}: {', '.join(words)}", controller=controller)


def kept_by(manifest: Json) -> str:
    """Return the name of the controller that an object asks to keep it when it goes from Git, or nothing."""
    return next((controller for controller, _, _, (_, rule) in _steered(manifest) if rule == "sync-kept"), "")


def _steered(manifest: Json) -> Iterator[tuple[str, Route, list[str], tuple[str, str]]]:
    """Yield the controller, the place, the words, and the kinds and the rule of which the table has them."""
    for field in ("annotations", "labels"):
        for key, value in (manifest["metadata"].get(field) or {}).items():
            flux = key.startswith(f"{_FLUX}/")
            if not flux and (field == "labels" or not key.startswith(_ANNOTATIONS)):
                continue
            found: dict[tuple[str, str], list[str]] = {}
            for word in map(str.strip, str(value).split(",")):
                spoken = word.lower() if flux else word
                name = f"{_INTERNAL}…" if key.startswith(_INTERNAL) else key
                rows = [row for row in STEERING if row[0] == name and _names(row[1], spoken, flux=flux)]
                if rows:
                    found.setdefault((rows[0][2], rows[0][3]), []).append(word)
            for row, words in found.items():
                controller = "Flux" if flux else "kustomize" if "config.kubernetes.io/" in key else "Argo CD"
                yield controller, ("metadata", field, key), words, row


def _names(values: str, word: str, *, flux: bool) -> bool:
    return values.endswith(("any", "…")) or word in (values.lower() if flux else values).split(", ")


def argocd_annotations(*, wave: int, keep: bool) -> dict[str, str]:
    """Return Argo CD's annotations of an object.

    Its dry run is on the client, so one application with waves passes where a Job meets its Queue. A kept object is
    neither pruned nor deleted with the application, and does not make it OutOfSync.
    """
    found = {_WAVE: str(wave)}
    if keep:
        found[_COMPARE_OPTIONS] = "IgnoreExtraneous"
        found[_SYNC_OPTIONS] = "Prune=false,Delete=false"
    return found


def flux_annotations(*, keep: bool, holds_variables: bool) -> dict[str, str]:
    """Return Flux's annotations of an object.

    Order comes from one Kustomization a folder. Its `postBuild` substitution blanks ``${VAR}`` in scripts, or fails. It
    also makes one ``$`` of ``$$``.
    """
    found = {}
    if keep:
        found[f"{_FLUX}/prune"] = "disabled"
    if holds_variables:
        found[f"{_FLUX}/substitute"] = "disabled"
    return found


MOVED = {
    "argocd": "change `path` in its Application. If another Application replaces it, as with an ApplicationSet of "
    "folders, the deletion of the old one can end all runs",
    "flux": "change `path` in its Kustomizations in the same commit. If others replace them, the deletion of the old "
    "ones can end all runs",
}
"""What to do where the manifests of an environment moved to another folder, by controller."""


def folder_news(was: Iterable[str], now: Iterable[str], *, bootstrap: bool = False) -> Iterator[tuple[str, str]]:
    """Yield what Flux does about each folder of `manifests/` that comes or goes, and advice, from paths of files.

    ``bootstrap`` is whether the compiler writes the Kustomizations, so that they come and go in the same commit.
    """
    ours = "its Kustomization {} in bootstrap/flux: apply that folder again, unless Flux applies it"
    old, new = ({path.partition("/")[0] for path in paths} for paths in (was, now))
    for folder in sorted(new - old):
        message = f"manifests/{folder} is new, and Flux needs a Kustomization for it"
        advice = "add one, and let that of the folder behind it depend on it"
        yield message, ours.format("is") if bootstrap else advice
    for folder in sorted(old - new):
        message = f"manifests/{folder} is gone: its Kustomization fails (path not found) and prunes nothing"
        advice = "remove it in the same commit, and let the one behind it depend on the one before"
        advice = f"{ours.format('is no more')}, and delete it" if bootstrap else advice
        yield message, "delete its runs with kubectl" if folder == "workloads" else advice


def join_annotations(written: Mapping[str, str], ours: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Lay our annotations over written ones; return the result, and the written ones that got lost, by key.

    Options of Argo CD stand in a list, so that those which ours do not name stay beside them.
    """
    joined = {**written, **ours}
    lost: dict[str, str] = {}
    for key in ours.keys() & written.keys():
        if key not in (_SYNC_OPTIONS, _COMPARE_OPTIONS):
            lost |= {key: written[key]} if written[key] != ours[key] else {}
            continue
        own = ours[key].split(",")
        names = {option.partition("=")[0] for option in own}
        further = [word for word in map(str.strip, written[key].split(",")) if word and word not in own]
        joined[key] = ",".join([*own, *(word for word in further if word.partition("=")[0] not in names)])
        if against := [word for word in further if word.partition("=")[0] in names]:
            lost[key] = ",".join(against)
    return joined, lost


def kustomization(files: list[str]) -> dict[str, Any]:
    """Return the Kustomization that lists the files of one folder."""
    return {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": sorted(files)}
