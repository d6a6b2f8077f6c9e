"""Environments of one cluster and namespace share claims, queues and names, whatever their folders are called."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from commandline import run
from repository import Repository

from tfgitops.compiler.session import compile_all, open_session

if TYPE_CHECKING:
    from tfgitops.spec.diagnostics import Diagnostic

HEAD = "apiVersion: tfgitops/v1alpha1\nkind: Environment\n"
TRAIN = "command: [train, --name=$(RUN)], image: tf:2.21, worker: 1"
OURS = "runs: {size: 10Gi, path: /runs}"
THEIRS = "runs: {claim: runs, path: /runs}"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def mounting(job: str, volumes: str, cluster: str = "cluster: eu-1\n", namespace: str = "ml") -> str:
    used = volumes.partition(":")[0]
    head = f"{cluster}namespace: {namespace}\nvolumes: {{{volumes}}}\n"
    return f"{head}jobs: {{{job}: {{{TRAIN}, volumes: [{used}]}}}}\n"


def queue(name: str, job: str, content: str = "") -> str:
    return f"namespace: {job}\nqueues: {{{name}: {{{content}}}}}\njobs: {{{job}: {{{TRAIN}, queue: {name}}}}}\n"


def found(**specs: str) -> list[Diagnostic]:
    """Compile environments together, and return what was found."""
    for name, spec in specs.items():
        folder = Path("environments", name)
        folder.mkdir(parents=True)
        (folder / "environment.yaml").write_text(HEAD + spec, encoding="utf-8")
    results = compile_all(open_session([Path("environments")]))
    return [diagnostic for one in results for diagnostic in one.diagnostics if diagnostic.code != "TF803"]


def codes(diagnostics: list[Diagnostic]) -> list[tuple[str, str]]:
    return [(one.code, one.severity) for one in diagnostics]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (OURS, THEIRS),
        (THEIRS, OURS),
        ("runs: {claim: runs, path: /a, access: ReadWriteOncePod}", THEIRS),
        ("mine: {claim: runs, path: /a, access: ReadWriteOnce}", "yours: {claim: runs, path: /b, readOnly: true}"),
    ],
)
def test_a_claim_for_one_node_is_told_where_the_second_environment_mounts_it(one: str, other: str) -> None:
    [told] = found(a=mounting("x", one), b=mounting("y", other))
    assert codes([told]) == [("STORE04", "warning")]
    assert "the jobs 'y' here and 'x' of environments/a both mount it" in told.message
    assert told.span
    assert told.span.file == "environments/b/environment.yaml"
    assert [span.file for _, span in told.notes] == ["environments/a/environment.yaml"]


@pytest.mark.parametrize(
    ("cluster", "namespace", "volume"),
    [
        ("cluster: us-1\n", "ml", THEIRS),
        ("cluster: eu-1\n", "lab", THEIRS),
        ("cluster: eu-1\n", "ml", "other: {claim: other, path: /runs}"),
        ("", "ml", THEIRS),
    ],
)
def test_claims_of_other_clusters_and_namespaces_are_others(cluster: str, namespace: str, volume: str) -> None:
    assert found(a=mounting("x", OURS), b=mounting("y", volume, cluster, namespace)) == []


def test_a_claim_for_many_nodes_is_shared_in_peace() -> None:
    assert found(a=mounting("x", "runs: {size: 1Gi, path: /r, access: ReadWriteMany}"), b=mounting("y", THEIRS)) == []


def test_a_claim_of_an_overlay_is_mounted_too() -> None:
    pod = "{spec: {volumes: [{name: r, persistentVolumeClaim: {claimName: runs}}]}}"
    [told] = found(a=mounting("x", OURS), b=f"cluster: eu-1\nnamespace: ml\njobs: {{y: {{{TRAIN}, pod: {pod}}}}}\n")
    assert "the jobs 'y' here and 'x' of environments/a both mount it" in told.message


def test_a_pinned_job_mounts_the_claims_of_its_run(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    found(a=mounting("x", OURS), b=mounting("y", THEIRS))
    assert run("build").exit_code == 0
    repository.commit("two runs")
    assert run("pin", "environments/b", "y").exit_code == 0
    spec = Path("environments/b/environment.yaml")
    spec.write_text(spec.read_text().replace(THEIRS, "other: {claim: other, path: /other}"), encoding="utf-8")
    [told] = [one for done in compile_all(open_session([Path("environments")])) for one in done.diagnostics]
    assert "the jobs 'y' here and 'x' of environments/a both mount it" in told.message
    assert told.span
    assert told.span.excerpt.startswith("jobs: {y: {pin: ")


def test_each_further_environment_is_told_once() -> None:
    others = {f"b{n}": mounting(f"y{n}", THEIRS) for n in range(3)}
    assert codes(found(a=mounting("x", OURS), **others)) == [("STORE04", "warning")] * 3


def test_the_environment_that_is_told_may_allow_it() -> None:
    allowed = "allow: [{code: STORE04, at: jobs.y, reason: they take turns, until: 2099-12-31}]\n"
    assert found(a=mounting("x", OURS), b=mounting("y", THEIRS) + allowed) == []
    alone = compile_all(open_session([Path("environments/b")]))
    assert {said.code for one in alone for said in one.diagnostics} == {"TF803"}, "no exception is useless for that"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (queue("q", "x", "capability: {cpu: 8}"), queue("q", "y", "capability: {cpu: 4}")),
        (queue("q", "x"), queue("q", "y")),
        (mounting("x", OURS, ""), mounting("y", OURS, "")),
    ],
)
def test_two_clusters_that_nothing_names_may_be_one(one: str, other: str) -> None:
    [told] = found(a=one, b=other)
    assert codes([told]) == [("TF404", "warning")]
    assert "two clusters, 'a' and 'b', only because no `cluster` says otherwise" in told.message
    assert "write `cluster: NAME` in both" in told.hint


@pytest.mark.parametrize(("one", "other"), [("cluster: a\n", "cluster: b\n"), ("", "cluster: b\n")])
def test_a_cluster_that_is_named_is_meant(one: str, other: str) -> None:
    assert found(a=one + queue("q", "x"), b=other + queue("q", "y")) == []


def test_what_two_clusters_have_alike_is_told_once_for_each_environment() -> None:
    base = "namespace: ml\nqueues: {q: {}, r: {}}\njobs: {}\n"
    told = found(a=base, b=base, c=base)
    assert codes(told) == [("TF404", "warning")] * 2
    assert "Queue 'q', Queue 'r'" in told[0].message


def test_two_clusters_may_be_allowed_at_the_object() -> None:
    allowed = "allow: [{code: TF404, at: queues.q, reason: two clusters, until: 2099-12-31}]\n"
    assert found(a=queue("q", "x"), b=queue("q", "y") + allowed) == []


def test_one_object_of_one_cluster_is_an_error_in_both() -> None:
    base = "cluster: eu-1\nnamespace: ml\nqueues: {q: {}}\njobs: {}\n"
    assert codes(found(a=base, b=base)) == [("TF404", "error")] * 2


BOARD = """
from tfgitops import Object, hookimpl

tfgitops_api = 1


@hookimpl
def tfgitops_objects(environment):
    for job in environment.jobs:
        ports = [{"port": 80, "nodePort": int(job.get("labels")["port"])}]
        spec = {"type": "NodePort", "ports": ports}
        yield Object({"apiVersion": "v1", "kind": "Service", "metadata": {"name": job.name}, "spec": spec}, job.route)
"""


@pytest.mark.parametrize(
    ("cluster", "port", "wanted"),
    [("eu-1", 30080, [("TF501", "error")]), ("eu-2", 30080, []), ("eu-1", 30081, [])],
)
def test_a_port_of_the_nodes_is_of_one_service_in_a_cluster(
    cluster: str, port: int, wanted: list[tuple[str, str]]
) -> None:
    Path("pyproject.toml").write_text("[tool.tfgitops]\nplugins = ['board.py']\n")
    Path("board.py").write_text(BOARD)
    spec = "cluster: {}\nnamespace: {}\njobs: {{{}: {{labels: {{port: {}}}, " + TRAIN + "}}}}\n"
    diagnostics = found(one=spec.format("eu-1", "a", "a", 30080), two=spec.format(cluster, "b", "b", port))
    assert codes(diagnostics) == wanted
