"""What can go wrong is told where it can, exactly, and with advice that can be followed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from builder import spec_with
from commandline import run

from tfgitops.review.sharedfolders import written_folders

if TYPE_CHECKING:
    from repository import Repository

HEAD = """\
apiVersion: tfgitops/v1alpha1
kind: Environment
cluster: eu-1
namespace: ml
volumes:
  s: {claim: s, path: /s, access: ReadWriteMany}
defaults:
  image: registry.example.com/tf@sha256:0000000000000000000000000000000000000000000000000000000000000000
  worker: {replicas: 1}
"""


def _risks(repository: Repository, code: str, *arguments: str) -> list[dict[str, Any]]:
    document = json.loads(repository.review("--format", "json", *arguments).stdout)
    return [risk for risk in document["risks"] if risk["code"] == code]


def _sharing(repository: Repository, jobs: str) -> list[str]:
    repository.write("environments/prod/environment.yaml", HEAD + jobs)
    return [risk["message"] for risk in _risks(repository, "shared-path")]


@pytest.mark.parametrize(
    ("one", "other", "where"),
    [
        ("/one", "/two", "/one and /two (claim s)"),
        ("/one, subPath: x", "/two, subPath: x", "/one and /two (claim s, x)"),
        ("/one, subPath: x/y", "/two, subPath: x/./y/", "/one and /two (claim s, x/y)"),
        ("/one, subPath: x", "/two", "/one and /two (claim s)"),
        ("/one/.", "//two", "/one and /two (claim s)"),
    ],
)
def test_a_folder_is_one_wherever_it_is_mounted(repository: Repository, one: str, other: str, where: str) -> None:
    (message,) = _sharing(
        repository,
        f"jobs:\n  a: {{command: [run], worker: 1, volumes: [{{name: s, path: {one}}}]}}\n"
        f"  b: {{command: [run], worker: 1, volumes: [{{name: s, path: {other}}}]}}\n",
    )
    assert message == f"'a', 'b' may write to one folder, {where}: nothing in the command of 'a', 'b' names the run"


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("[run, --out=/one/x]", "[run, --out=/two/x/y]", True),
        ("[run, --out=/one/x]", "[run, --out=/two/xy]", False),
        ("[run, --out=/one/x]", "[run, --out=/two]", True),
        ("[run, --out=//one/./x]", "[run, --out=/two/y/../x]", True),
        ("[run, --out=/one/x/../y]", "[run, --out=/two/x]", False),
        ("[run, --out=/one/$(RUN)]", "[run]", False),
        ("[run, --name=$(RUN)]", "[run]", False),
        ("run --out=$OUT", "[run]", False),
        ("[run, --out=/elsewhere/$(RUN)]", "[run]", True),
        ("[run, --out=/one-more/$(RUN)]", "[run]", True),
    ],
)
def test_what_a_run_writes_is_what_its_texts_say_of_the_mount(
    repository: Repository, one: str, other: str, shared: bool
) -> None:
    assert bool(_sharing(repository, _two(one, other))) is shared


def _two(one: str, other: str) -> str:
    env = ", env: {OUT: /one/$(RUN)}" if "$OUT" in one else ""
    return (
        f"jobs:\n  a: {{command: {one}{env}, worker: 1, volumes: [{{name: s, path: /one}}]}}\n"
        f"  b: {{command: {other}, worker: 1, volumes: [{{name: s, path: /two}}]}}\n"
    )


def test_whose_command_names_the_run_elsewhere_is_said_so(repository: Repository) -> None:
    (message,) = _sharing(
        repository,
        "jobs:\n  features: {command: [run, --out=/s], worker: 1, volumes: [s], env: {D: /runs/$(RUN)}}\n"
        "  train: {command: [run, --out=$(D)], worker: 1, volumes: [s], env: {D: /runs/$(RUN)}}\n",
    )
    assert message == (
        "'features', 'train' may write to one folder, /s (claim s): nothing in the command of 'features' names the "
        "run, and 'train' names it elsewhere alone"
    )


@pytest.mark.parametrize(
    ("head", "paths", "shared"),
    [
        (HEAD, (), True),
        (HEAD, ("environments/prod",), True),
        (HEAD.replace("{claim: s, path: /s,", "{claim: s, path: /other,").replace("/s/a", "/other/a"), (), True),
        (HEAD.replace("namespace: ml", "namespace: lab"), (), False),
        (HEAD.replace("cluster: eu-1", "cluster: us-1"), (), False),
        (HEAD.replace("claim: s,", "claim: t,"), (), False),
    ],
)
@pytest.mark.parametrize("folder", ["staging", "team/staging"])
def test_environments_of_one_cluster_and_namespace_share_the_folders_of_a_claim(
    repository: Repository, head: str, paths: tuple[str, ...], shared: bool, folder: str
) -> None:
    job = "{command: [run, --out=%s/a], worker: 1, volumes: [s]}\n"
    mount = "/other" if "/other" in head else "/s"
    repository.write(f"environments/{folder}/environment.yaml", f"{head}jobs:\n  b: {job % mount}")
    repository.write("environments/prod/environment.yaml", f"{HEAD}jobs:\n  a: {job % '/s'}")
    messages = [risk["message"] for risk in _risks(repository, "shared-path", *paths)]
    assert len(messages) == shared
    assert all("'a', 'staging/b' may write to one folder, " in message for message in messages)


def test_a_new_run_that_writes_where_the_last_one_wrote(repository: Repository) -> None:
    job = "jobs:\n  a: {command: [run, --out=/s/a], env: {N: 1}, worker: 1, volumes: [s]}\n"
    repository.write("environments/prod/environment.yaml", HEAD + job)
    repository.build("--restart-all")
    repository.commit("a")
    repository.git("branch", "--quiet", "--force", "main")
    (message,) = _sharing(repository, spec_with(job, {"jobs.a.env.N": 2}))
    assert message == "the new run of 'a' writes where its last one wrote: /s/a (claim s)"


def test_what_returns_is_one_line_however_many_trainings(repository: Repository) -> None:
    repository.base(("tf:2.21", "tf:2.22"))
    repository.build("--restart-all")
    repository.commit("bump")
    repository.git("branch", "--quiet", "--force", "main")
    repository.base(("tf:2.22", "tf:2.21"))
    (risk,) = _risks(repository, "returns")
    assert risk["message"].startswith("'bert', 'resnet', 'shards' return to names that ran before (as bert-")
    assert "they will run again, and `$(RUN)` names the old folders. For up to 60 s after" in risk["message"]
    assert "Volcano may lose the new run, and then nothing ends it" in risk["message"]
    assert "set `rerun` for a name of its own" in risk["advice"]


@pytest.mark.parametrize(
    ("replicas", "seconds"), [("worker: {replicas: 2,", 600), ("tasks: {shard: {replicas: 4,", 90)]
)
def test_a_returning_name_is_in_danger_as_long_as_its_slowest_pod_ends(
    repository: Repository, replicas: str, seconds: int
) -> None:
    """The case upd-3."""
    path = "environments/prod/environment.yaml"
    slow = f"{replicas} pod: {{spec: {{terminationGracePeriodSeconds: {seconds}}}}},"
    repository.write(path, repository.read(path).replace(replicas, slow))
    repository.keep()
    repository.base(("tf:2.21", "tf:2.22"))
    repository.keep()
    repository.base(("tf:2.22", "tf:2.21"))
    (risk,) = _risks(repository, "returns")
    assert f"For up to {2 * seconds} s after the earlier run is removed" in risk["message"]


def test_a_claim_that_grows_must_be_bound(repository: Repository) -> None:
    """The case upd-6."""
    repository.prod(("size: 10Gi", "size: 20Gi"))
    (risk,) = _risks(repository, "grows")
    assert "must be bound" in risk["message"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("replicas: 4, cpu: 2", "replicas: 6, cpu: 2", "only while it runs: a finished job starts no pod, and `rerun`"),
        (
            "    minAvailable: 1\n",
            "    minAvailable: 1\n    priorityClassName: high\n",
            "pods that run keep their priority",
        ),
        ("    minAvailable: 1\n", "    minAvailable: 2\n", ""),
        ("    minAvailable: 1\n", "    minAvailable: 1\n    labels: {replicas: a}\n", ""),
    ],
)
def test_it_is_said_how_far_a_change_in_place_reaches(repository: Repository, old: str, new: str, said: str) -> None:
    """The cases upd-7 and upd-9."""
    repository.prod((old, new))
    document = json.loads(repository.review("--format", "json").stdout)
    (change,) = document["environments"][0]["changes"]
    assert change["verdict"] == "in place"
    assert said in (change["reason"] or "") if said else change["reason"] is None
    assert said in " ".join(repository.review().stdout.split())
    assert said in repository.review("--format", "markdown").stdout.replace("\\", "")


def test_another_namespace_is_no_case_for_pins(repository: Repository) -> None:
    repository.prod(("namespace: ml", "namespace: ml2"))
    (risk,) = _risks(repository, "many")
    assert "--pin-rest" not in risk["advice"]
    assert "leave `namespace` as it was" in risk["advice"]
    told = run("build").stderr
    assert "--pin-rest" not in told
    assert "else leave `namespace` as it was: a pinned job cannot move" in told


def test_where_a_pin_cannot_be_written_the_way_out_is_a_restart(repository: Repository) -> None:
    repository.prod(("  bert:\n", "  one: &one {command: [a, --out=/logs/$(RUN)], worker: 1}\n  two: *one\n  bert:\n"))
    repository.build("--restart-all")
    repository.commit("alias")
    repository.base(("tf:2.21", "tf:2.22"))
    result = run("build", "--pin-rest")
    assert result.exit_code == 1
    assert "edit it by hand, or let it start anew: --restart prod/two" in result.stderr


def test_a_pin_of_what_was_never_committed(repository: Repository) -> None:
    repository.prod(("  bert:\n", "  new: {command: [a], worker: 1}\n  bert:\n"))
    repository.build()
    told = run("pin", "environments/prod", "new").stderr
    assert "the manifest of 'new' was never committed" in told
    assert "commit it first" in told
    assert "git checkout" not in told


def test_a_manifest_with_nothing_in_it_writes_nothing() -> None:
    assert written_folders({"spec": {"tasks": [{}, {"template": {"spec": {"containers": [{"name": "a"}]}}}]}}) == []


@pytest.mark.parametrize(
    ("key", "value", "controller"),
    [
        ("argocd.argoproj.io/sync-options", "Prune=false", "Argo CD"),
        ("helm.sh/resource-policy", "keep", "Argo CD"),
        ("kustomize.toolkit.fluxcd.io/prune", "disabled", "Flux"),
        ("argocd.argoproj.io/sync-options", "ServerSideApply=true", ""),
    ],
)
@pytest.mark.parametrize("after", ["{command: [b], worker: 1}", "null"])
def test_a_run_that_its_controller_keeps_stays(
    repository: Repository, key: str, value: str, controller: str, after: str
) -> None:
    base = f"{HEAD}  annotations: {{{key}: '{value}'}}\njobs:\n  b: {{command: [b], worker: 1}}\n  a: "
    repository.write("environments/prod/environment.yaml", f"{base}{{command: [a], worker: 1}}\n")
    repository.build("--restart-all")
    repository.commit("kept")
    repository.write("environments/prod/environment.yaml", f"{base}{after}\n")
    messages = [risk["message"] for risk in _risks(repository, "stays", "--against", "HEAD")]
    assert len(messages) == bool(controller)
    assert all("the old run of 'a', a-" in message and controller in message for message in messages)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        (("  vision: {", "queue: vision"), ("  v2: {", "queue: v2"), "queue vision"),
        (("  logs: {", "volumes: [logs]"), ("  l2: {", "volumes: [l2]"), "pvc logs -n ml"),
    ],
)
def test_what_stays_after_its_removal_can_be_deleted(
    repository: Repository, old: tuple[str, str], new: tuple[str, str], what: str
) -> None:
    repository.prod(*zip(old, new, strict=True))
    (risk,) = _risks(repository, "vanishes")
    stays = "Argo CD keeps it in the cluster. When nobody needs it any more: kubectl delete"
    assert risk["advice"] == f"{stays} {what}"
