"""The objects for Argo CD and Flux: what they may and may not have, by what live controllers did."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfgitops.testing import Result

REPO = "https://git.example.com/ml/trainings.git"
QUEUES = "queues: {top: {}, vision: {parent: top}}\n"
JOBS = "jobs: {train: {image: tf, queue: vision, worker: 2}}\n"


def objects(result: Result) -> dict[str, dict[str, Any]]:
    assert result.codes == []
    return {file.path: yaml.safe_load(file.text) for file in result.compiled.bootstrap}


def spec(controller: str, settings: str = "", rest: str = QUEUES + JOBS) -> str:
    return f"gitops: {controller}\nbootstrap: {{repo: '{REPO}'{settings}}}\n{rest}"


def test_without_the_key_there_is_no_file(compile_spec: Callable[..., Result]) -> None:
    assert objects(compile_spec(f"gitops: flux\n{QUEUES}{JOBS}")) == {}


def test_argo_cds_objects_have_what_live_ones_needed(compile_spec: Callable[..., Result]) -> None:
    found = objects(compile_spec(spec("argocd")))
    assert list(found) == ["argocd/appproject.yaml", "argocd/application.yaml", "argocd-cm/argocd-cm.yaml"]
    application = found["argocd/application.yaml"]
    policy = application["spec"]["syncPolicy"]
    assert policy["automated"] == {"prune": True, "selfHeal": True}
    assert policy["retry"]["refresh"] is True
    assert "ignoreDifferences" not in application["spec"]
    assert application["spec"]["project"] == found["argocd/appproject.yaml"]["metadata"]["name"]
    for word in ("Replace", "Force", "PruneLast"):
        assert word not in json.dumps(found)


def test_runs_outlive_the_controllers_own_object(compile_spec: Callable[..., Result]) -> None:
    assert "finalizers" not in objects(compile_spec(spec("argocd")))["argocd/application.yaml"]["metadata"]
    found = objects(compile_spec(spec("flux"))).values()
    assert {one["spec"]["deletionPolicy"] for one in found if one["kind"] == "Kustomization"} == {"Orphan"}


def test_the_project_lets_write_what_the_compiler_writes(compile_spec: Callable[..., Result]) -> None:
    rest = (
        "volumes: {logs: {size: 1Gi, path: /logs, access: ReadWriteMany, storageClass: fast}}\n"
        "tensorboards: {all: {volume: logs}}\nmonitoring: {podMonitor: trainings}\n"
        "jobs: {train: {image: tf, worker: 2, volumes: [logs], ports: {m: {port: 9090, from: namespace}}, "
        "monitoring: m}}\n"
    )
    head = "apiVersion: tfgitops/v1alpha1\nkind: Environment\nnamespace: {name: ml, create: true}\n"
    result = compile_spec(head + spec("argocd", rest=rest))
    project = objects(result)["argocd/appproject.yaml"]["spec"]
    assert project["sourceRepos"] == [REPO]
    assert project["destinations"] == [{"server": "https://kubernetes.default.svc", "namespace": "ml"}]
    allowed = [*project["clusterResourceWhitelist"], *project["namespaceResourceWhitelist"]]
    written = [planned.manifest for planned in result.compiled.objects]
    assert len({one["kind"] for one in written}) >= 6
    for one in written:
        assert {"group": one["apiVersion"].rpartition("/")[0], "kind": one["kind"]} in allowed
    assert [one["kind"] for one in project["clusterResourceWhitelist"]] == ["Namespace", "Queue"]
    assert "*" not in json.dumps(project)


def test_settings_and_kustomizations_reach_argo_cd(compile_spec: Callable[..., Result]) -> None:
    text = spec("argocd", ", revision: refs/tags/v1, namespace: ci, server: 'https://10.0.0.1:6443'")
    found = objects(compile_spec(f"kustomization: true\n{text}"))
    application = found["argocd/application.yaml"]
    assert application["metadata"]["namespace"] == "ci"
    assert application["spec"]["source"]["targetRevision"] == "refs/tags/v1"
    assert application["spec"]["source"]["directory"] == {"recurse": True, "exclude": "*/kustomization.yaml"}
    assert application["spec"]["destination"]["server"] == "https://10.0.0.1:6443"
    assert found["argocd/appproject.yaml"]["spec"]["destinations"][0]["server"] == "https://10.0.0.1:6443"


def test_fluxs_kustomizations_are_a_chain_and_wait(compile_spec: Callable[..., Result]) -> None:
    result = compile_spec(spec("flux"))
    found = objects(result)
    source = found.pop("flux/gitrepository.yaml")
    assert source["spec"]["ref"] == {"branch": "main"}
    assert [one["metadata"]["name"].partition("trainings-")[2] for one in found.values()] == [
        f"{result.compiled.folder.name}-{folder}" for folder in ("cluster", "cluster-2", "workloads")
    ]
    before: list[dict[str, str]] | None = None
    for one in found.values():
        body = one["spec"]
        assert body.get("dependsOn") == before
        before = [{"name": one["metadata"]["name"]}]
        assert (body["prune"], body["wait"]) == (True, True)
        assert body["sourceRef"]["name"] == source["metadata"]["name"]
        assert not {"force", "postBuild"} & body.keys()
    kinds = [one["spec"]["healthCheckExprs"][0]["kind"] for one in found.values()]
    assert kinds == ["Queue", "Queue", "Job"]
    assert "Failed" in found["flux/kustomization-workloads.yaml"]["spec"]["healthCheckExprs"][0]["failed"]


@pytest.mark.parametrize(
    ("revision", "reference"),
    [("a/b", {"branch": "a/b"}), ("refs/tags/v1", {"name": "refs/tags/v1"}), ("a" * 40, {"commit": "a" * 40})],
)
def test_flux_has_three_kinds_of_references(
    compile_spec: Callable[..., Result], revision: str, reference: dict[str, str]
) -> None:
    found = objects(compile_spec(spec("flux", f", revision: {revision}")))
    assert found["flux/gitrepository.yaml"]["spec"]["ref"] == reference


def test_flux_fetches_with_a_secret(compile_spec: Callable[..., Result]) -> None:
    found = objects(compile_spec(spec("flux", ", secret: git, namespace: ci")))["flux/gitrepository.yaml"]
    assert (found["spec"]["secretRef"], found["metadata"]["namespace"]) == ({"name": "git"}, "ci")


def test_a_long_name_stays_a_label_and_one_of_a_kind(compile_spec: Callable[..., Result]) -> None:
    names = set()
    for end in "ab":
        text = spec("flux").replace("trainings", "trainings-" + "x" * 60 + end)
        names |= {one["metadata"]["name"] for one in objects(compile_spec(text)).values()}
    assert len(names) == 8
    assert max(map(len, names)) <= 63


def test_a_path_starts_at_the_top_of_the_repository(compile_spec: Callable[..., Result]) -> None:
    folder = compile_spec(spec("argocd")).compiled.folder
    (folder.parent.parent / ".git").mkdir()
    found = objects(compile_spec(spec("argocd")))["argocd/application.yaml"]
    assert found["spec"]["source"]["path"] == f"{folder.relative_to(folder.parent.parent).as_posix()}/manifests"


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (spec("none"), "TF204", "gitops: argocd"),
        (spec("flux", ", server: 'https://10.0.0.1'"), "TF203", "leave it out"),
        (spec("argocd", ", secret: git"), "TF203", "by the URL in it"),
        (spec("flux", ", branch: main"), "TF201", "the key is `revision`"),
        ("gitops: flux\nbootstrap: {revision: main}\njobs: {}\n", "TF204", "repo"),
        ("gitops: flux\nbootstrap: {repo: foo}\njobs: {}\n", "TF203", "not the URL of a Git repository"),
        ("gitops: flux\nbootstrap: {repo: 'https://a:b@x.io/y'}\njobs: {}\n", "TF203", "a password or a token"),
    ],
)
def test_a_wrong_block_is_reported(compile_spec: Callable[..., Result], text: str, code: str, said: str) -> None:
    result = compile_spec(text)
    assert result.codes == [code]
    assert said in result.text
    assert result.compiled.bootstrap == ()
