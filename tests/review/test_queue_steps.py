"""Queues that change in several steps: a review names the commits that pass, and a build stops before any other."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from builder import spec_with
from commandline import run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from repository import Repository

SPEC = "environments/prod/environment.yaml"


def _queues(repository: Repository, queues: Mapping[str, Any], used: str = "x", gitops: str = "flux") -> None:
    """Write an environment whose one job waits in the queue ``used``."""
    job = {"image": "tf@sha256:" + "0" * 64, "command": ["run"], "queue": used, "worker": 1}
    changes = {"queues": {"x": {}, **queues}, "defaults": {}, "volumes": {}, "jobs": {"t": job}, "gitops": gitops}
    repository.write(SPEC, spec_with(repository.read(SPEC), changes))


def _keep(repository: Repository, queues: Mapping[str, Any], used: str = "x", gitops: str = "flux") -> None:
    _queues(repository, queues, used, gitops)
    repository.build("--restart-all", "--queues-at-once")
    repository.commit("queues")
    repository.git("checkout", "--quiet", "-B", "main")
    repository.git("checkout", "--quiet", "-B", "change")


def _refused(repository: Repository) -> dict[str, tuple[str, str]]:
    """Return the reason and the advice of each refused object."""
    document = json.loads(repository.review("--format", "json").stdout)
    changes = [change for one in document["environments"] for change in one["changes"]]
    reasons = {one["name"]: one["reason"] or "" for one in changes if one["verdict"] == "refused"}
    risks = [one for one in document["risks"] if one["code"] == "refused"]
    advice = {name: one["advice"] for one in risks for name in one["message"].split("'")[1::2]}
    assert reasons.keys() == advice.keys()
    return {name: (reason, advice[name]) for name, reason in reasons.items()}


def _shares(field: str, parent: int, **below: int) -> dict[str, Any]:
    def of(amount: int) -> dict[str, Any]:
        return {key: {"cpu": amount} for key in (["deserved", field] if field == "guarantee" else [field])}

    return {"p": of(parent), **{name: {"parent": "p", **of(amount)} for name, amount in below.items()}}


def _stopped(*arguments: str) -> str:
    result = run("build", "--restart-all", *arguments)
    assert result.exit_code == ("TF607" in result.stderr)
    return str(result.stderr)


def test_a_queue_in_which_a_job_runs_becomes_a_parent_in_two_steps(repository: Repository) -> None:
    _keep(repository, {"language": {}}, "language")
    split = {"language": {}, "nlp": {"parent": "language"}}
    _queues(repository, split, "nlp")
    ((name, (reason, advice)),) = _refused(repository).items()
    assert (name, reason) == ("nlp", "pods run in the queue language, so it cannot have queues below it")
    assert "first the jobs leave the queue language; then, when their pods have ended, the rest. Or put" in advice
    assert "cannot have queues below it" in _stopped()
    _queues(repository, split)  # another environment's job does not leave it
    other = {"queues": {"language": {"external": True}}, "namespace": "other", "jobs.t.queue": "language"}
    repository.write("environments/other/environment.yaml", spec_with(repository.read(SPEC), other))
    _keep(repository, {"language": {}})
    _queues(repository, split)
    assert _refused(repository).keys() == {"nlp"}


@pytest.mark.parametrize("field", ["deserved", "guarantee"])
@pytest.mark.parametrize("after", [{"a": 6, "b": 4}, {"a": 4, "b": 4, "c": 2}])
def test_shares_that_move_between_siblings_take_two_commits(
    repository: Repository, after: dict[str, int], field: str
) -> None:
    _keep(repository, _shares(field, 10, a=4, b=6))
    _queues(repository, _shares(field, 10, **after))
    grown = "c" if "c" in after else "a"
    ((name, (reason, advice)),) = _refused(repository).items()
    assert name == grown
    assert "of cpu in all queues below p is 12, more than that of p (10)" in reason
    assert advice == "make two commits: first b; then, when that is applied, the rest"
    assert f"Queue '{grown}' can never be applied" in _stopped()
    _queues(repository, _shares(field, 10, a=4, b=4))
    assert not _stopped()
    repository.commit("first")
    _queues(repository, _shares(field, 10, **after))
    assert not _stopped()


@pytest.mark.parametrize("gitops", ["argocd", "none"])
def test_a_controller_that_tries_each_object_again_gets_past_a_shrinking_sibling(
    repository: Repository, gitops: str
) -> None:
    _keep(repository, _shares("deserved", 10, a=4, b=6), gitops=gitops)
    _queues(repository, _shares("deserved", 10, a=6, b=4), gitops=gitops)
    ((_, (_, advice)),) = _refused(repository).items()
    assert advice.endswith("; or wait, since it passes when the controller tries again")
    assert not _stopped()
    _queues(repository, _shares("deserved", 10, a=2, b=8), gitops=gitops)  # since HEAD: a shrinks first
    assert not _stopped()


@pytest.mark.parametrize("gitops", ["flux", "argocd", "none"])
@pytest.mark.parametrize("field", ["deserved", "guarantee", "capability"])
def test_shares_that_shrink_on_two_levels_stop_every_controller(
    repository: Repository, field: str, gitops: str
) -> None:
    _keep(repository, _shares(field, 768, a=384, b=384), gitops=gitops)
    lower = _shares(field, 300 if field == "capability" else 736, a=200, b=384 if field != "capability" else 200)
    _queues(repository, lower, gitops=gitops)
    ((name, (reason, advice)),) = _refused(repository).items()
    assert name == "p"
    assert reason.endswith("; it is applied before the queues below it")
    assert advice.startswith("make two commits: first a")
    assert "Queue 'p'" in _stopped()
    assert not _stopped("--queues-at-once")
    repository.commit("lower")
    _queues(repository, _shares(field, 900, a=500, b=400), gitops=gitops)  # upwards, parents come first
    assert not _stopped()


def test_a_removed_queue_is_deleted_between_two_commits(repository: Repository) -> None:
    _keep(repository, _shares("deserved", 24, a=12, b=12))
    _keep(repository, _shares("deserved", 24, a=12))
    _queues(repository, _shares("deserved", 8, a=8))
    ((_, (_, advice)),) = _refused(repository).items()
    assert advice == "make two commits: first a; then, when that is applied, the rest, after kubectl delete queue b"
    _queues(repository, _shares("deserved", 22, a=8))
    ((_, (_, advice)),) = _refused(repository).items()
    assert advice == "a queue that leaves Git stays in the cluster: after this commit, kubectl delete queue b"


def test_one_queue_that_gives_and_takes_is_split_by_levels(repository: Repository) -> None:
    def both(cpu: int, memory: str) -> dict[str, Any]:
        share = {"deserved": {"cpu": cpu, "memory": memory}}
        return {"p": share, "a": {"parent": "p", **share}}

    _keep(repository, both(10, "10Gi"))
    _queues(repository, both(8, "12Gi"))
    ((_, (_, advice)),) = _refused(repository).items()
    assert advice.startswith("make three commits: lower the shares of the lower queues")
    for step in ({"p": both(10, "10Gi")["p"], "a": both(8, "10Gi")["a"]}, {"a": both(8, "10Gi")["a"]}, {}):
        _queues(repository, both(8, "12Gi") | step)
        assert not _stopped()
        repository.commit("step")


def test_a_removed_queue_is_still_there(repository: Repository) -> None:
    _keep(repository, {"mid": {}, "deep": {"parent": "mid"}}, "deep")
    _queues(repository, {"mid": {}}, "mid")
    ((name, (reason, advice)),) = _refused(repository).items()
    assert (name, reason) == ("t", "the queue mid has queues below it (deep), so it takes no jobs")
    assert advice.endswith("kubectl delete queue deep")
    assert "Job 't' can never be applied" in _stopped()
    _queues(repository, {"mid": {}})
    assert not _refused(repository)
    _keep(repository, {"mid": {}})  # gone from Git
    _queues(repository, {"mid": {}}, "mid")
    assert _refused(repository)["t"][1].endswith("kubectl delete queue deep")
    assert not _stopped()  # it may have been deleted meanwhile


def test_the_share_of_a_removed_queue_is_not_free(repository: Repository) -> None:
    _keep(repository, _shares("deserved", 10, a=4, b=4, c=2))
    _queues(repository, _shares("deserved", 10, a=8, c=2))
    ((name, (_, advice)),) = _refused(repository).items()
    assert name == "a"
    assert advice.endswith("kubectl delete queue b")
    _keep(repository, _shares("deserved", 10, a=4, c=2))
    _queues(repository, _shares("deserved", 8, a=4, c=2))
    assert _refused(repository)["p"][1].endswith("kubectl delete queue b")
    _queues(repository, _shares("deserved", 10, a=4, c=2, b=4))  # it comes back as it was
    assert not _refused(repository)


@pytest.mark.parametrize("gitops", ["flux", "argocd", "none"])
@pytest.mark.parametrize("retain", [True, False])
def test_a_claim_that_the_cluster_kept_cannot_come_back_with_other_fields(
    repository: Repository, gitops: str, *, retain: bool
) -> None:
    claim = {"size": "1Gi", "path": "/v", "storageClass": "fast", **({} if retain else {"retain": False})}
    _queues(repository, {}, gitops=gitops)
    plain = repository.read(SPEC)
    for spec in (spec_with(plain, {"volumes.v": claim, "jobs.t.volumes": ["v"]}), plain):
        repository.write(SPEC, spec)
        repository.build("--restart-all")
        repository.commit("step")
    repository.git("checkout", "--quiet", "-B", "main")
    repository.git("checkout", "--quiet", "-B", "change")
    repository.write(SPEC, spec_with(plain, {"volumes.v": claim, "jobs.t.volumes": ["v"]}))
    assert not _refused(repository)
    repository.write(SPEC, spec_with(plain, {"volumes.v": {**claim, "storageClass": "slow"}, "jobs.t.volumes": ["v"]}))
    refused = _refused(repository)
    assert refused.keys() == ({"v"} if retain or gitops == "none" else set())
    assert all("it went from Git and stayed in the cluster" in advice for _, advice in refused.values())


def test_shares_below_a_queue_of_others_are_not_known(repository: Repository) -> None:
    _keep(repository, {"p": {"external": True}, "a": {"parent": "p", "deserved": {"cpu": 4}}})
    _queues(repository, {"p": {"external": True}, "a": {"parent": "p", "deserved": {"cpu": 6}}, "b": {"parent": "p"}})
    assert not _refused(repository)
    assert not _stopped()


def test_folders_that_come_and_go_need_a_kustomization_of_flux(repository: Repository) -> None:
    two = {"a": {}, "b": {"parent": "a"}}
    _keep(repository, two)
    for queues, said in (
        ({**two, "c": {"parent": "b"}}, "manifests/cluster-3 is new, and Flux needs a Kustomization for it"),
        ({"a": {}}, "manifests/cluster-2 is gone: its Kustomization fails (path not found) and prunes nothing"),
        ({**two, "d": {"parent": "a"}}, ""),
    ):
        _queues(repository, queues)
        folders = [risk for risk in _document(repository)["risks"] if risk["code"] == "folders"]
        assert [risk["message"] for risk in folders] == [said] * bool(said)
        _queues(repository, queues, gitops="argocd")
        assert not [risk for risk in _document(repository)["risks"] if risk["code"] == "folders"]
        _queues(repository, queues)
        built = run("build").stdout
        assert (f"{said}; " in built) if said else ("Kustomization" not in built)
        repository.git("checkout", "--quiet", "--force", ".")
        repository.git("clean", "-fdq")
    repository.write(SPEC, spec_with(repository.read(SPEC), {"jobs": {}}))
    assert "manifests/workloads is gone" in run("build").stdout


def _document(repository: Repository) -> Any:
    return json.loads(repository.review("--format", "json").stdout)


def test_refused_queues_with_one_way_out_are_one_risk(repository: Repository) -> None:
    _keep(repository, {"all": {}}, "all")
    _queues(repository, {"all": {}, "a": {"parent": "all"}, "b": {"parent": "all"}}, "a")
    risks = json.loads(repository.review("--format", "json").stdout)["risks"]
    assert [one["message"] for one in risks if one["code"] == "refused"] == [
        "Queues 'a', 'b' are refused, and stop the sync of what comes after them"
    ]
    other = {"top": {}, "a": {"parent": "top"}, "b": {"parent": "top"}}
    _queues(repository, {"all": {}, **other}, "a")  # as its advice says
    assert not _refused(repository)
    assert not _stopped()
