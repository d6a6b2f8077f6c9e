"""A training is known by its cluster, namespace and name: the guard and the review follow it into other folders."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest
from builder import spec_with
from commandline import run

if TYPE_CHECKING:
    from repository import Repository

PROD = "environments/prod"
TWIN = """\
apiVersion: tfgitops/v1alpha1
kind: Environment
extends: ../base.yaml
cluster: eu
namespace: ml-{name}
jobs:
  train: {{command: [python, {name}.py], worker: 2}}
"""


@pytest.fixture
def twins(repository: Repository) -> Repository:
    """A repository of two environments on one cluster, each with a job `train` in a namespace of its own."""
    shutil.rmtree(repository.top / PROD)
    for name in ("a", "b"):
        repository.write(f"environments/{name}/environment.yaml", TWIN.format(name=name))
    repository.keep()
    return repository


def _move(repository: Repository, old: str, new: str) -> None:
    shutil.move(repository.top / "environments" / old, repository.top / "environments" / new)


def _bump(repository: Repository) -> None:
    repository.base(("tf:2.21", "tf:2.22"))


def _changes(repository: Repository, *arguments: str) -> dict[str, list[str]]:
    document = json.loads(repository.review(*arguments, "--format", "json").stdout)
    return {
        one["name"]: [
            f"{change['verdict']} {change['oldName']}" for change in one["changes"] if change["kind"] == "Job"
        ]
        for one in document["environments"]
    }


@pytest.mark.parametrize("path", [[], ["environments/live"]])
def test_the_guard_follows_an_environment_into_another_folder(repository: Repository, path: list[str]) -> None:
    """The case pin-2."""
    _move(repository, "prod", "live")
    _bump(repository)
    result = run("build", *path)
    assert result.exit_code == 1
    assert "`defaults.image` would restart 3 trainings of environments/live" in result.stderr
    assert "nobody changed: bert, resnet, shards" in result.stderr
    assert "environments/base.yaml:4:10" in result.stderr
    assert "--restart live/bert" in result.stderr
    before = repository.read("environments/live/manifests/workloads/job-bert.yaml")
    repository.build("--pin-rest")
    assert repository.read("environments/live/manifests/workloads/job-bert.yaml") == before


def test_a_folder_that_only_moves_asks_nothing(repository: Repository) -> None:
    _move(repository, "prod", "live")
    repository.build()


@pytest.mark.parametrize("other", ["", "cluster: live\n", "cluster: prod\n"])
def test_a_folder_that_names_no_cluster_stays_on_its_own(repository: Repository, other: str) -> None:
    """A neighbour of pin-2: by default a cluster has the name of its folder."""
    repository.prod(("cluster: eu-1\n", ""))
    repository.keep()
    _move(repository, "prod", "live")
    repository.edit("environments/live/environment.yaml", ("kind: Environment\n", f"kind: Environment\n{other}"))
    _bump(repository)
    moves = "live" not in other
    assert run("build").exit_code == moves
    changes = _changes(repository)
    assert [one.rpartition(" ")[0] for one in changes["environments/live"]] == (["new run"] if moves else ["added"]) * 3
    assert len(changes["environments/prod"]) == (0 if moves else 3)


def test_folders_that_name_no_cluster_stay_apart(repository: Repository) -> None:
    for name in ("a", "b"):
        text = TWIN.format(name=name).replace("cluster: eu\n", "").replace(f"ml-{name}", "ml")
        repository.write(f"environments/{name}/environment.yaml", text)
    repository.keep()
    for old, new in (("a", "c"), ("b", "d")):
        _move(repository, old, new)
    repository.build()
    assert not any(_changes(repository).values())
    text = " ".join(repository.review().stdout.split())
    assert "environments/c (cluster c): was environments/a" in text
    assert "environments/d (cluster d): was environments/b" in text
    shutil.rmtree(repository.top / "environments/c")  # the one is removed, and the other one goes on
    assert [one.partition(" ")[0] for one in _changes(repository)["environments/a"]] == ["removed"]


@pytest.mark.parametrize("cluster", ["cluster: eu-1\n", ""])
@pytest.mark.parametrize("path", ["environments/live", "environments/prod"])
def test_either_path_of_a_moved_folder_is_enough(repository: Repository, path: str, cluster: str) -> None:
    repository.prod(("cluster: eu-1\n", cluster))
    other = spec_with(
        repository.read(f"{PROD}/environment.yaml"), {"namespace": "other", "queues.vision": {"external": True}}
    )
    repository.write("environments/other/environment.yaml", other)
    repository.keep()
    _move(repository, "prod", "live")
    repository.write("environments/more/environment.yaml", other.replace("namespace: other", "namespace: more"))
    text = repository.review(path).stdout
    assert "Nothing will change" in text
    assert f"environments/live (cluster {cluster[9:-1] or 'live'}): was environments/prod" in text
    assert "environments/more" not in text
    assert "environments/other" not in text
    _bump(repository)
    document = json.loads(repository.review(path, "--format", "json").stdout)
    (vision,) = document["queues"]
    assert vision["jobs"]["before"] == (9 if cluster else 3)


@pytest.mark.parametrize("gitops", ["argocd", "flux", "none"])
def test_a_moved_folder_needs_another_path_in_its_controller(repository: Repository, gitops: str) -> None:
    repository.prod(("gitops: argocd", f"gitops: {gitops}"))
    repository.keep()
    _move(repository, "prod", "live")
    document = json.loads(repository.review("--format", "json").stdout)
    said = {risk["code"]: (risk["message"], risk["advice"]) for risk in document["risks"]}
    assert said.keys() == (set() if gitops == "none" else {"folders"})
    if said:
        message, advice = said["folders"]
        assert message == "its manifests were in environments/prod/manifests"
        assert advice.startswith("change `path` in its " + {"argocd": "Application", "flux": "Kustomizations"}[gitops])


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("storageClass: fast", "storageClass: slow", "TF501"),
        ("  vision: {", "  some: {parent: vision}\n  vision: {", "TF607"),
    ],
)
def test_a_change_that_cannot_be_applied_stops_the_build_of_a_moved_folder_too(
    repository: Repository, old: str, new: str, code: str
) -> None:
    repository.prod((old, new))
    if code == "TF607":
        repository.prod(("  queue: vision", "  queue: some"))
    _move(repository, "prod", "live")
    result = run("build", "--restart-all")
    assert (result.exit_code, code in result.stderr) == (1, True), result.output


@pytest.mark.parametrize("namespace", ["ml", "ml2"])
def test_a_name_returns_in_a_moved_folder_too_but_not_in_another_namespace(
    repository: Repository, namespace: str
) -> None:
    _bump(repository)
    repository.keep()
    _move(repository, "prod", "live")
    repository.edit("environments/live/environment.yaml", ("namespace: ml\n", f"namespace: {namespace}\n"))
    repository.base(("tf:2.22", "tf:2.21"))
    document = json.loads(repository.review("--format", "json").stdout)
    returning = [risk["environment"] for risk in document["risks"] if risk["code"] == "returns"]
    assert returning == (["environments/live"] if namespace == "ml" else [])


@pytest.mark.parametrize("kept", ["environment.yaml", "jobs/bert.yaml"])
def test_the_guard_follows_a_job_into_another_environment(repository: Repository, kept: str) -> None:
    """The case his-2."""
    block = "  bert:\n    command: [python, train.py, --out=/logs/$(RUN)]\n    worker: {replicas: 2, cpu: 4, gpu: 1}\n"
    head = "apiVersion: tfgitops/v1alpha1\nkind: Environment\nextends: ../base.yaml\ncluster: eu-1\nnamespace: ml\n"
    queue = "queues: {vision: {external: true}}\nvolumes: {logs: {claim: logs, path: /logs}}\n"
    queue += "defaults: {queue: vision, volumes: [logs]}\n"
    repository.prod((block, ""))
    own = "jobs:\n" + block if kept == "environment.yaml" else ""
    repository.write("environments/more/environment.yaml", head + queue + own)
    if not own:
        lines = block.splitlines()[1:]
        repository.write("environments/more/jobs/bert.yaml", "\n".join(line[4:] for line in lines) + "\n")
    repository.build("--restart", "bert")
    repository.git("checkout", "--quiet", "--", "environments/prod/manifests")
    shutil.rmtree(repository.top / "environments/more/manifests")
    _bump(repository)
    result = run("build")
    assert result.exit_code == 1
    assert "would restart a training of environments/more that nobody changed: bert" in result.stderr
    assert "would restart 2 trainings of environments/prod" in result.stderr
    assert _changes(repository)["environments/more"][0].startswith("new run bert-")


@pytest.mark.parametrize("change", ["cluster", "namespace", "copy"])
def test_a_training_elsewhere_is_another(twins: Repository, change: str) -> None:
    text = TWIN.format(name="a")
    if change == "copy":  # the first one goes on
        twins.write("environments/c/environment.yaml", text.replace("  train:", "  other:"))
    else:
        _move(twins, "a", "c")
        other = ("cluster: eu", "cluster: us") if change == "cluster" else ("namespace: ml-a", "namespace: ml-c")
        twins.write("environments/c/environment.yaml", text.replace(*other))
        shutil.rmtree(twins.top / "environments/c/manifests")
    twins.write("environments/c/environment.yaml", twins.read("environments/c/environment.yaml") + "# new\n")
    result = run("build", "environments/c")
    assert result.exit_code == 0, result.output


def test_swapped_folders_change_nothing(twins: Repository) -> None:
    """The case his-5."""
    for old, new in (("a", "c"), ("b", "a"), ("c", "b")):
        _move(twins, old, new)
    twins.build()
    assert _changes(twins) == {"environments/a": [], "environments/b": []}
    assert "no training restarts" in twins.review().stdout or "Nothing will change" in twins.review().stdout
    _bump(twins)
    assert run("build").stderr.count("would restart a training") == 2
    assert _changes(twins)["environments/a"][0].startswith("new run train-")


def test_an_environment_that_takes_the_folder_of_a_removed_one_keeps_its_run(twins: Repository) -> None:
    names = {name: twins.read(f"environments/{name}/manifests/workloads/job-train.yaml") for name in "ab"}
    shutil.rmtree(twins.top / "environments/a")
    _move(twins, "b", "a")
    twins.build()
    assert twins.read("environments/a/manifests/workloads/job-train.yaml") == names["b"]
    (gone,) = _changes(twins)["environments/a"]
    assert gone.startswith("removed train-")
    assert gone.split()[1] in names["a"]
    assert "1 training stops" in twins.review().stdout


def test_jobs_that_trade_places_in_one_namespace_change_nothing(twins: Repository) -> None:
    for name in "ab":
        twins.edit(f"environments/{name}/environment.yaml", (f"namespace: ml-{name}", "namespace: ml"))
    twins.keep()
    for old, new in (("a", "c"), ("b", "a"), ("c", "b")):
        _move(twins, old, new)
    twins.build()
    assert _changes(twins) == {"environments/a": [], "environments/b": []}
