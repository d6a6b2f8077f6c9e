"""A build does not write what the cluster would refuse to change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from commandline import run

if TYPE_CHECKING:
    from repository import Repository

PROD = "environments/prod/environment.yaml"
CLAIM = "environments/prod/manifests/workloads/pvc-logs.yaml"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("storageClass: fast", "storageClass: slow", "storageClassName cannot change from fast to slow"),
        (", storageClass: fast", "", "storageClassName cannot change from fast to (none)"),
        ("size: 10Gi", "size: 5Gi", "resources.requests.storage cannot change from 10Gi to 5Gi"),
    ],
)
@pytest.mark.parametrize("flag", ["-q", "--restart-all", "--pin-rest"])
def test_what_the_cluster_would_refuse_is_not_written(
    repository: Repository, old: str, new: str, said: str, flag: str
) -> None:
    """The case upd-8."""
    repository.prod((old, new))
    before = repository.read(CLAIM)
    result = run("build", flag)
    assert result.exit_code == 1
    assert f"error[TF501]: PersistentVolumeClaim 'logs' is committed, and its {said}" in result.stderr
    assert "the sync stops there" in result.stderr
    assert f"{PROD}:10:" in result.stderr
    assert repository.read(CLAIM) == before


def test_a_manifest_that_is_missing_here_counts_as_it_is_committed(repository: Repository) -> None:
    repository.prod(("storageClass: fast", "storageClass: slow"))
    (repository.top / CLAIM).unlink()
    result = run("build")
    assert result.exit_code == 1
    assert "storageClassName cannot change from fast to slow" in result.stderr


def test_a_claim_of_another_name_is_another(repository: Repository) -> None:
    repository.prod(("storageClass: fast", "storageClass: slow"), ("  logs: {", "  notes: {"), ("[logs]", "[notes]"))
    repository.build("--restart-all")


def test_a_claim_that_was_taken_out_comes_back_as_it_likes(repository: Repository) -> None:
    text = repository.read(PROD)
    repository.prod(("  volumes: [logs]\n", ""), ("volumes:\n  logs", "x-volumes:\n  logs"))
    repository.keep()
    repository.write(PROD, text.replace("storageClass: fast", "storageClass: slow"))
    repository.build("--restart-all")


@pytest.mark.parametrize(("old", "new"), [("size: 10Gi", "size: 20Gi"), ("cpu: 64", "cpu: 72")])
def test_what_may_change_is_written(repository: Repository, old: str, new: str) -> None:
    repository.prod((old, new))
    repository.build()
