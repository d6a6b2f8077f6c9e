"""The objects for controllers that the guides show have what a live Argo CD and a live Flux were seen to need."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml
from checkout import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfgitops.testing import Result

GUIDES = REPOSITORY / "docs" / "how-to"
GITOPS = (REPOSITORY / "docs" / "explanation" / "gitops.md").read_text(encoding="utf-8")


def shown(page: str, kind: str) -> list[dict[str, Any]]:
    text = (GUIDES / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    return [one for block in blocks for one in yaml.safe_load_all(block) if one.get("kind") == kind]


def test_fluxs_health_checks_are_waited_for() -> None:
    folders = {one["spec"]["path"].rpartition("/")[2]: one["spec"] for one in shown("flux.md", "Kustomization")}
    assert list(folders) == ["cluster", "cluster-2", "workloads"]
    for folder, spec in folders.items():
        (check,) = spec["healthCheckExprs"]
        assert spec["wait"] is True
        assert check["kind"] == ("Job" if folder == "workloads" else "Queue")
    assert "Failed" in folders["workloads"]["healthCheckExprs"][0]["failed"]


def test_runs_outlive_the_controllers_own_object() -> None:
    workloads = shown("flux.md", "Kustomization")[-1]
    assert (workloads["spec"]["prune"], workloads["spec"]["deletionPolicy"]) == (True, "Orphan")
    (application,) = shown("argocd.md", "Application")
    assert "finalizers" not in application["metadata"]


def test_argo_cd_takes_up_the_commit_that_mends_a_refused_one() -> None:
    (application,) = shown("argocd.md", "Application")
    assert application["spec"]["syncPolicy"]["retry"]["refresh"] is True


def test_old_runs_are_pruned_and_not_deleted_by_the_label_of_their_training() -> None:
    commands = "".join(re.findall(r"```sh\n(.*?)```", GITOPS, re.DOTALL))
    assert "--prune-allowlist=batch.volcano.sh/v1alpha1/Job" in commands
    assert "--namespace" in commands
    assert "delete" not in commands


def test_a_queue_is_passed_over_by_flux_before_it_is_closed(compile_spec: Callable[..., Result]) -> None:
    page = (GUIDES / "queues.md").read_text(encoding="utf-8").partition("**You close a queue.**")[2]
    (block,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert "reconcile: disabled" in block
    result = compile_spec(f"gitops: flux\n{block}jobs: {{}}\n")
    assert result.codes == []
    assert "kustomize.toolkit.fluxcd.io/reconcile: disabled" in result.files["cluster/queue-vision.yaml"]
    assert "before you close it" in (GUIDES / "flux.md").read_text(encoding="utf-8")


def test_one_page_says_how_each_controller_behaves() -> None:
    events = GITOPS.partition("## How each controller behaves")[2]
    for event in ("by hand", "overlap", "a removed claim", "another level of queues", "Closing queue"):
        assert event in events
