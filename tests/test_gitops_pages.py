"""What the guides say of controllers is what a live Argo CD and a live Flux were seen to need."""

from __future__ import annotations

import re
import textwrap
from fnmatch import fnmatch
from typing import TYPE_CHECKING

import yaml
from checkout import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfgitops.testing import Result

GUIDES = REPOSITORY / "docs" / "how-to"
GITOPS = (REPOSITORY / "docs" / "explanation" / "gitops.md").read_text(encoding="utf-8")


def test_one_application_applies_the_applications_of_all_environments() -> None:
    page = (GUIDES / "argocd.md").read_text(encoding="utf-8").partition("## Many environments")[2]
    (block,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    application = yaml.safe_load(block)
    assert "finalizers" not in application["metadata"]
    source = application["spec"]["source"]
    assert fnmatch("prod/bootstrap/argocd/application.yaml", source["directory"]["include"])
    assert not fnmatch("prod/bootstrap/argocd-cm/argocd-cm.yaml", source["directory"]["include"])
    assert not fnmatch("prod/manifests/workloads/job-faces.yaml", source["directory"]["include"])


def test_old_runs_are_pruned_and_not_deleted_by_the_label_of_their_training() -> None:
    commands = "".join(re.findall(r"```sh\n(.*?)```", GITOPS, re.DOTALL))
    assert "--prune-allowlist=batch.volcano.sh/v1alpha1/Job" in commands
    assert "--namespace" in commands
    assert "delete" not in commands


def test_a_queue_is_passed_over_by_flux_before_it_is_closed(compile_spec: Callable[..., Result]) -> None:
    page = (GUIDES / "queues.md").read_text(encoding="utf-8").partition("## Close a queue")[2]
    (block,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    queues = textwrap.dedent(block).replace("queues:\n", "queues:\n  research: {}\n")
    result = compile_spec(f"gitops: flux\n{queues}jobs: {{}}\n")
    assert result.codes == []
    skipped = "kustomize.toolkit.fluxcd.io/reconcile: disabled"
    assert [path for path, text in result.files.items() if skipped in text] == ["cluster-2/queue-vision.yaml"]
    assert "before you close it" in (GUIDES / "flux.md").read_text(encoding="utf-8")
    result = compile_spec(f"gitops: argocd\n{queues}jobs: {{}}\n")
    assert skipped not in "".join(result.files.values())


def test_one_page_says_how_each_controller_behaves() -> None:
    events = GITOPS.partition("## How each controller behaves")[2]
    for event in ("by hand", "overlap", "a removed claim", "another level of queues", "Closing queue"):
        assert event in events
