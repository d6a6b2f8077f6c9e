"""Who may reach the ports of a job: a NetworkPolicy that changes in place, and never the Job itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from commandline import run

if TYPE_CHECKING:
    from repository import Repository

SPEC = "environments/access/environment.yaml"
POLICY = "environments/access/manifests/workloads/networkpolicy-train-ports.yaml"
TEXT = """\
apiVersion: tfgitops/v1alpha1
kind: Environment
namespace: ml-access
jobs:
  train:
    image: tf:2.21
    ports: {board: {port: 6006, from: namespace}}
    worker: 2
"""


@pytest.fixture
def opened(repository: Repository) -> Repository:
    """A repository with a job that has an open port, built and committed."""
    repository.write(SPEC, TEXT)
    repository.keep()
    return repository


def _changes(repository: Repository) -> dict[str, str]:
    document = json.loads(repository.review("--format", "json").stdout)
    return {
        change["kind"]: change["verdict"]
        for one in document["environments"]
        if one["name"] == "environments/access"
        for change in one["changes"]
    }


@pytest.mark.parametrize(
    "other", ["{pods: {app: dashboard}}", "{namespace: monitoring}", "[namespace, {pods: {a: b}}]"]
)
def test_another_peer_changes_the_network_policy_in_place_and_no_job(opened: Repository, other: str) -> None:
    opened.edit(SPEC, ("from: namespace", f"from: {other}"))
    assert run("build").exit_code == 0
    assert _changes(opened) == {"NetworkPolicy": "in place"}


def test_closing_a_port_removes_the_network_policy_and_restarts_nothing(opened: Repository) -> None:
    job = "environments/access/manifests/workloads/job-train.yaml"
    before = opened.read(job)
    opened.edit(SPEC, ("{port: 6006, from: namespace}", "6006"))
    assert run("build").exit_code == 0
    assert before.split("\n", 2)[2] == opened.read(job).split("\n", 2)[2]
    assert not (opened.top / POLICY).exists()


def test_another_port_is_a_new_run(opened: Repository) -> None:
    opened.edit(SPEC, ("port: 6006", "port: 6007"))
    assert run("build", "--restart-all").exit_code == 0
    assert _changes(opened) == {"Job": "new run", "NetworkPolicy": "in place"}


def test_explain_names_the_key_that_opened_the_port(opened: Repository) -> None:
    said = run("explain", str(opened.top / "environments/access"), "networkpolicy/train-ports", "spec.ingress[0]")
    assert said.exit_code == 0, said.output
    assert f"{SPEC.rsplit('/', 1)[1]}:7" in said.stdout


def test_a_pinned_job_keeps_its_open_ports(opened: Repository) -> None:
    before = opened.read(POLICY)
    assert run("pin", "environments/access", "train").exit_code == 0
    opened.edit(SPEC, ("from: namespace", "from: {namespace: web}"))
    assert run("build").exit_code == 0
    assert opened.read(POLICY) == before
