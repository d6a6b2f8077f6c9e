"""Annotations that steer Argo CD and Flux away from an object, and ours beside written ones."""

from __future__ import annotations

import pytest

from tfgitops.targets.gitops import RULES, STEERING, WARNINGS, folder_news, join_annotations, judge_steering, kept_by

SYNC = "argocd.argoproj.io/sync-options"
HOOK = "argocd.argoproj.io/hook"
FORCE = "kustomize.toolkit.fluxcd.io/force"
PRUNE = "kustomize.toolkit.fluxcd.io/prune"
RECONCILE = "kustomize.toolkit.fluxcd.io/reconcile"


def rules(key: str, value: str, field: str = "annotations", kind: str = "Job") -> list[str]:
    found = list(judge_steering({"kind": kind, "metadata": {"name": "a", field: {key: value}}}))
    assert all(fault.at == ("metadata", field, key) and fault.message and fault.hint for fault in found)
    return [fault.rule for fault in found]


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        (SYNC, "Force=true,Replace=false", ["sync-destroys"]),
        (SYNC, "Prune=false, Replace=true", ["sync-kept", "sync-destroys"]),
        (SYNC, "PruneLast=true", ["sync-destroys"]),
        (SYNC, "prune=false", []),  # Argo CD knows one case of letters
        (HOOK, "PostSync,SyncFail", ["sync-hook"]),
        (HOOK, "Skip", ["sync-skipped"]),
        (FORCE, "enabled", ["sync-destroys"]),
        (FORCE, "disabled", []),
        (PRUNE, "Disabled", ["sync-kept"]),
        ("kustomize.toolkit.fluxcd.io/ssa", "ifnotpresent", ["sync-once"]),
        ("kustomize.toolkit.fluxcd.io/ssa", "Merge", []),
        ("example.com/hook", "Sync", []),
        ("config.kubernetes.io/local-config", "true", ["sync-skipped"]),  # kustomize leaves the object out
        ("internal.config.kubernetes.io/previousNames", "x", ["sync-breaks"]),  # kustomize 5.5 panics
    ],
)
def test_what_an_annotation_does_to_a_job_is_told(key: str, value: str, expected: list[str]) -> None:
    assert rules(key, value) == expected


def test_flux_reads_labels_too_and_argo_cd_does_not() -> None:
    assert rules(FORCE, "Enabled", "labels") == ["sync-destroys"]
    assert rules(HOOK, "Sync", "labels") == []


@pytest.mark.parametrize("kind", ["Queue", "PersistentVolumeClaim", "Namespace"])
def test_what_is_to_stay_may_be_kept_but_not_be_a_hook(kind: str) -> None:
    assert rules(SYNC, "Prune=false,Delete=false", kind=kind) == []
    assert rules(HOOK, "Sync", kind=kind) == ["sync-hook"]
    assert rules(RECONCILE, "disabled", kind=kind) == (
        ["sync-skipped"] if kind == "Namespace" else []
    )  # a queue drains


def test_every_row_of_the_table_names_a_rule() -> None:
    assert {row[3] for row in STEERING} == RULES.keys() > WARNINGS
    for key, values, kinds, rule in STEERING:
        for value in values.replace("any", "x").replace(", …", "").split(", "):
            assert set(rules(key, value)) == {rule} or kinds != "any"


def test_who_keeps_an_object() -> None:
    assert kept_by({"metadata": {"annotations": {SYNC: "Prune=false"}}}) == "Argo CD"
    assert kept_by({"metadata": {"annotations": {PRUNE: "disabled"}}}) == "Flux"
    assert kept_by({"metadata": {}}) == ""


@pytest.mark.parametrize(
    ("written", "joined", "lost"),
    [
        ("ServerSideApply=true", "Prune=false,Delete=false,ServerSideApply=true", ""),
        (" Prune=false ,Delete=confirm", "Prune=false,Delete=false", "Delete=confirm"),
        ("Delete=false,Prune=false", "Prune=false,Delete=false", ""),
    ],
)
def test_options_stand_beside_ours(written: str, joined: str, lost: str) -> None:
    ours = {SYNC: "Prune=false,Delete=false", "w": "1"}
    assert join_annotations({SYNC: written, "a": "b"}, ours) == (
        {SYNC: joined, "w": "1", "a": "b"},
        {SYNC: lost} if lost else {},
    )


def test_another_value_than_ours_is_lost() -> None:
    assert join_annotations({"w": "5"}, {"w": "1"}) == ({"w": "1"}, {"w": "5"})
    assert join_annotations({"w": "1"}, {"w": "1"}) == ({"w": "1"}, {})


def test_where_bootstrap_writes_the_kustomizations_they_are_only_to_be_applied() -> None:
    was, now = ["cluster/a.yaml", "cluster-2/b.yaml"], ["cluster/a.yaml", "workloads/c.yaml"]
    (new, add), (gone, remove) = folder_news(was, now, bootstrap=True)
    assert (new.split()[0], gone.split()[0]) == ("manifests/workloads", "manifests/cluster-2")
    assert add.endswith("is in bootstrap/flux: apply that folder again, unless Flux applies it")
    assert remove.endswith("and delete it")
