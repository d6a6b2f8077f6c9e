"""Environments that one side alone has, or that moved, and files in `manifests/` that no spec says: all is told."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from builder import cut, spec_with
from commandline import run

if TYPE_CHECKING:
    from repository import Repository

PROD_SPEC = "environments/prod/environment.yaml"
BERT = "environments/prod/manifests/workloads/job-bert.yaml"
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: evil}\nspec: {containers: [{name: a, image: b}]}\n"


def _json(*arguments: str) -> Any:
    return json.loads(run("review", *arguments, "--against", "main", "--format", "json").stdout)


def _foreign(repository: Repository) -> None:
    repository.write("environments/prod/manifests/workloads/evil.yaml", POD)


def _edited(repository: Repository) -> None:
    repository.edit(BERT, ("replicas: 2", "replicas: 20"))


def _without_header(repository: Repository) -> None:
    repository.write(BERT, cut(repository.read(BERT).split("\n", 2)[2], "replicas: 2", "replicas: 20"))


@pytest.mark.parametrize(
    ("change", "code", "message", "advice"),
    [
        (
            _foreign, "foreign",
            "manifests/workloads/evil.yaml was not generated, and a controller may apply it all the same",
            "move it out of manifests/",
        ),
        (
            _edited, "edited", "manifests/workloads/job-bert.yaml was edited, and the controller applies it so",
            "`tfgitops build` restores it; change the spec instead",
        ),
        (
            _without_header, "blocked", f"{BERT} was not generated, and a manifest must go there",
            "move it away, then build again",
        ),
    ],
)  # fmt: skip
def test_what_people_put_into_manifests_is_a_risk_and_a_change(
    repository: Repository, change: Any, code: str, message: str, advice: str
) -> None:
    change(repository)
    (risk,) = _json()["risks"]
    assert risk == {"code": code, "environment": "environments/prod", "message": message, "advice": advice}
    for form in ("text", "markdown"):
        result = repository.review("--exit-code", "--format", form)
        assert result.exit_code == 1
        assert "1 manifest is not as generated, the specs change nothing" in result.stdout
        assert ("run `tfgitops build`" in result.stdout) is (code == "edited")
    assert ("edited `" in result.stdout) is (code == "edited")


def test_many_foreign_files_are_one_risk(repository: Repository) -> None:
    for name in "abcde":
        repository.write(f"environments/prod/manifests/{name}.yaml", POD)
    (risk,) = _json()["risks"]
    assert risk["message"].startswith("manifests/a.yaml, manifests/b.yaml, manifests/c.yaml and 2 more were not gener")


def test_manifests_that_are_not_there_or_have_no_spec_are_no_silence(repository: Repository) -> None:
    (repository.top / BERT).unlink()
    result = repository.review("--exit-code")
    assert result.exit_code == 1
    assert "The specs change nothing, but 1 manifest is not as they say" in result.stdout
    repository.build()
    shutil.copytree(repository.top / "environments/prod/manifests", repository.top / "environments/lost/manifests")
    result = repository.review("--exit-code")
    assert result.exit_code == 1
    assert "orphan  environments/lost/manifests/workloads/job-bert.yaml" in result.stdout


def test_what_is_left_of_an_environment_that_lost_its_spec_is_for_build_to_remove(repository: Repository) -> None:
    (repository.top / PROD_SPEC).unlink()
    text = repository.review().stdout
    assert "3 trainings stop" in text
    assert "orphan  environments/prod/manifests/workloads/job-bert.yaml" in text


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
@pytest.mark.parametrize("path", ["environments", "environments/prod", PROD_SPEC, "environments/prod/"])
@pytest.mark.parametrize("left", [False, True])
def test_an_environment_that_is_no_more_stops(repository: Repository, path: str, form: str, left: bool) -> None:
    if left:
        text = spec_with(repository.read(PROD_SPEC), {"cluster": "eu-2", "namespace": "two"})
        repository.write("environments/test/environment.yaml", text)
        repository.build()
        repository.commit("two")
        repository.git("branch", "--quiet", "--force", "main")
        shutil.rmtree(repository.top / "environments/prod")
    else:
        shutil.rmtree(repository.top / "environments")
    result = run("review", path, "--against", "main", "--format", form)
    assert (result.exit_code, result.stderr) == (0, "")
    if form == "json":
        (one,) = [one for one in json.loads(result.stdout)["environments"] if one["name"] == "environments/prod"]
        assert (one["state"], one["cluster"]) == ("gone", "eu-1")
    else:
        assert "3 trainings stop" in result.stdout


def test_its_cluster_is_what_the_file_said_that_it_extended(repository: Repository) -> None:
    repository.prod(("cluster: eu-1\n", ""))
    repository.base(("kind: Environment\n", "kind: Environment\ncluster: eu-1\n"))
    repository.build()
    repository.commit("cluster")
    repository.git("branch", "--quiet", "--force", "main")
    shutil.rmtree(repository.top / "environments/prod")
    (one,) = _json("environments/prod")["environments"]
    assert one["cluster"] == "eu-1"


@pytest.mark.parametrize("path", ["environments/us", "environments/prod/more", "nowhere"])
def test_what_neither_side_has_is_not_there(repository: Repository, path: str) -> None:
    result = run("review", path, "--against", "main")
    assert result.exit_code == 1
    assert f"error[TF101]: {path} is not there" in result.stderr
    assert "TF101" in run("validate", path).stderr
    assert [one["code"] for one in json.loads(run("review", path, "--format", "json").stdout)["problems"]] == [
        "TF101", "TF606",
    ]  # fmt: skip


def test_another_cluster_is_a_stop_there_and_a_start_here(repository: Repository) -> None:
    repository.prod(("cluster: eu-1", "cluster: other"))
    document = _json()
    found = [(one["state"], one["cluster"], one["otherCluster"]) for one in document["environments"]]
    assert found == [("gone", "eu-1", "other"), ("new", "other", "eu-1")]
    totals = {(one["cluster"], one["name"]): tuple(one["jobs"].values()) for one in document["queues"]}
    assert totals == {("eu-1", "vision"): (3, 0), ("other", "vision"): (0, 3)}
    assert "returns" not in [risk["code"] for risk in document["risks"]]
    text = repository.review().stdout
    assert text.startswith("3 trainings start, 3 stop")
    assert "(cluster eu-1): it is on cluster other now, so all of it goes from here" in " ".join(text.split())
    assert "(cluster other): it was on cluster eu-1, so all of it is new here" in " ".join(text.split())


def test_a_cluster_that_was_the_folders_name_by_default(repository: Repository) -> None:
    repository.prod(("cluster: eu-1\n", ""))
    repository.build()
    repository.commit("no cluster")
    repository.git("branch", "--quiet", "--force", "main")
    repository.prod(("kind: Environment\n", "kind: Environment\ncluster: prod\n"))
    assert _json()["environments"][0]["changes"] == []


def test_a_moved_folder_with_another_image_restarts_its_trainings(repository: Repository) -> None:
    shutil.move(repository.top / "environments/prod", repository.top / "environments/live")
    repository.edit(
        "environments/live/environment.yaml", ("defaults:\n", "defaults:\n  image: registry.example.com/tf:2.22\n")
    )
    document = _json()
    live, prod = document["environments"]
    assert {change["verdict"] for change in live["changes"]} == {"new run"}
    assert prod["changes"] == []
    causes = {(".".join(cause["route"]), cause["line"]) for change in live["changes"] for cause in change["causes"]}
    assert causes == {("defaults.image", 12)}
    text = " ".join(repository.review().stdout.split())
    assert text.startswith("3 trainings restart")
    assert "environments/live (cluster eu-1): was environments/prod 3 new runs" in text
    assert "environments/prod (cluster eu-1)" not in text


def test_a_moved_folder_whose_files_are_as_they_were_is_blamed_on_no_line_of_its_own(repository: Repository) -> None:
    shutil.move(repository.top / "environments/prod", repository.top / "environments/live")
    repository.base(("tf:2.21", "tf:2.22"))
    causes = [cause["route"] for change in _json()["environments"][0]["changes"] for cause in change["causes"]]
    assert causes == [["defaults", "image"]] * 3


def test_from_inside_an_environment_all_is_named_as_from_there(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.base(("tf:2.21", "tf:2.22"))
    monkeypatch.chdir(repository.top / "environments/prod")
    for form in ("text", "markdown"):
        text = " ".join(run("review", ".", "--against", "main", "--format", form).stdout.split())
        assert str(repository.top) not in text
        assert "../base.yaml:4" in text
        assert "prod: `defaults.image` in ../base.yaml restarts 3 trainings" in text
        assert "manifests/workloads/job-bert.yaml" in text
        assert "prod/manifests" not in text


def test_devices_by_resource_claims_are_in_the_totals(repository: Repository) -> None:
    claim = "pod: {spec: {resourceClaims: [{name: x, resourceClaimTemplateName: gpu}]}}"
    repository.prod(
        ("  bert:\n", f"  new: {{command: [a], queue: vision, worker: {{replicas: 3, {claim}}}}}\n  bert:\n")
    )
    [vision] = [one for one in _json()["queues"] if one["name"] == "vision"]
    [claimed] = [one for one in vision["amounts"] if one["resource"] == "resource.k8s.io/claims"]
    assert (claimed["title"], claimed["before"], claimed["after"]) == ("claimed devices", "0", "3")


@pytest.mark.parametrize("built", [True, False])
def test_a_spec_that_was_removed_and_not_built_stops_its_trainings(repository: Repository, built: bool) -> None:
    """The case his-4."""
    (repository.top / PROD_SPEC).unlink()
    repository.commit("unbuilt")
    if built:
        repository.build()
    result = run("review", "--against", "HEAD", "--exit-code")
    assert result.exit_code == 1
    assert "3 trainings stop" in result.stdout
    assert "environments/prod (cluster eu-1): there is no spec any more" in result.stdout
    assert run("review", "environments/prod", "--against", "HEAD").exit_code == 0


def test_a_spec_that_moved_and_was_not_built_takes_its_trainings_along(repository: Repository) -> None:
    (repository.top / "environments/live").mkdir()
    shutil.move(repository.top / PROD_SPEC, repository.top / "environments/live/environment.yaml")
    repository.commit("unbuilt")
    repository.base(("tf:2.21", "tf:2.22"))
    result = run("build", "environments/live")
    assert "would restart 3 trainings of environments/live that nobody changed" in result.stderr
    assert "3 trainings restart" in run("review", "--against", "HEAD").stdout


def test_manifests_of_others_below_such_a_folder_are_no_environment(repository: Repository) -> None:
    repository.write("tools/manifests/workloads/job-x.yaml", "apiVersion: v1\nkind: Job\nmetadata: {name: x}\n")
    repository.commit("others")
    shutil.rmtree(repository.top / "tools")
    assert "tools" not in run("review", ".", "--against", "HEAD").stdout
