"""environments/ is what the product is shown by: it is up to date, and holds what it is there to show."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from checkout import REPOSITORY
from commandline import run

from tfgitops import compile_environment
from tfgitops.spec.diagnostics import without_notes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tfgitops import Plugins
    from tfgitops.testing import Result

EXAMPLE = REPOSITORY / "environments"
NAMES = ["dev", "prod", "tutorial", "vivo"]

DESIGN = """
apiVersion: tfgitops/v1alpha1
kind: Environment
extends: ../base.yaml
cluster: eu-1                       # which cluster this environment lands on; the folder's name by default
namespace: ml-prod                  # or {name, create: true, labels, quota}
gitops: argocd                      # argocd | flux | none (plain kubectl, the default)

queues:                             # queue plugin
  vision:
    parent: research                # hierarchical queues
    capability: {cpu: 128, memory: 1Ti, nvidia.com/gpu: 8}
  research: {external: true}        # exists already: may be used, is not written

volumes:                            # storage plugin
  imagenet: {claim: imagenet, path: /data, readOnly: true}                         # an existing claim
  logs: {size: 10Gi, storageClass: glusterfs, access: ReadWriteMany, path: /log}   # a claim of ours

defaults:                           # every job starts from these
  queue: vision
  image: registry.example.com/tf:2.21
  volumes: [imagenet, logs]

jobs:
  resnet:
    strategy: parameter-server
    command: [python, -m, train, --steps=90000, --out=/log/$(RUN)]
    env: {BATCH: 256, LR: 0.001, TOKEN: {secret: hub, key: token}}
    chief: {cpu: 4, memory: 16Gi}
    ps: {replicas: 2, cpu: 8, memory: 32Gi, volumes: [logs]}
    worker: {replicas: 4, cpu: 16, memory: 64Gi, gpu: {count: 1, product: NVIDIA-A100-SXM4-80GB}, shm: 16Gi}
    evaluator: {cpu: 2, memory: 16Gi}
  resnet-small: {from: resnet, worker: {replicas: 2}}
"""


def _manifests(environment: str) -> dict[str, Any]:
    folder = EXAMPLE / environment / "manifests"
    return {path.relative_to(folder).as_posix(): _read(path) for path in sorted(folder.rglob("*.yaml"))}


def _read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def _tasks(job: Any) -> dict[str, Any]:
    return {task["name"]: task for task in job["spec"]["tasks"]}


def test_the_committed_manifests_are_what_the_compiler_writes() -> None:
    outcome = run("build", "--check", str(EXAMPLE))
    assert outcome.exit_code == 0, outcome.output
    assert outcome.output.count("up to date") == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_said_of_an_example(name: str, plugins: Plugins) -> None:
    assert without_notes(compile_environment(EXAMPLE / name, plugins).diagnostics) == []


def test_the_example_of_the_design_compiles_as_it_stands(compile_spec: Callable[..., Result]) -> None:
    base = "apiVersion: tfgitops/v1alpha1\nkind: Environment\n"
    result = compile_spec(DESIGN, {"../base.yaml": base})
    assert result.ok, result.text
    assert sorted(result.files) == [
        "cluster/queue-vision.yaml",
        "workloads/job-resnet-small.yaml",
        "workloads/job-resnet.yaml",
        "workloads/pvc-logs.yaml",
    ]


class TestTutorial:
    """The job of Volcano's tutorial."""

    job = _read(EXAMPLE / "tutorial" / "manifests" / "workloads" / "job-tf-dist-mnist.yaml")

    def test_the_spec_is_short(self) -> None:
        assert len((EXAMPLE / "tutorial" / "environment.yaml").read_text(encoding="utf-8").splitlines()) <= 12

    def test_it_is_the_tutorials_job(self) -> None:
        spec, tasks = self.job["spec"], _tasks(self.job)
        assert {name: task["replicas"] for name, task in tasks.items()} == {"ps": 1, "worker": 2}
        assert (spec["queue"], spec["minAvailable"]) == ("default", 3)
        assert {"event": "PodEvicted", "action": "RestartJob"} in spec["policies"]
        assert tasks["worker"]["policies"] == [{"event": "TaskCompleted", "action": "CompleteJob"}]
        for task in tasks.values():
            container = task["template"]["spec"]["containers"][0]
            assert container["image"] == "volcanosh/dist-mnist-tf-example:0.0.1"
            assert container["command"] == ["python", "/var/tf_dist_mnist/dist_mnist.py"]
            assert container["ports"][0]["containerPort"] == 2222

    def test_every_default_of_volcano_is_written_out(self) -> None:
        spec = self.job["spec"]
        assert {"schedulerName", "queue", "minAvailable", "maxRetry", "plugins"} <= set(spec)
        assert all(arguments is not None for arguments in spec["plugins"].values())
        for task in spec["tasks"]:
            assert {"name", "replicas", "minAvailable", "maxRetry"} <= set(task)
            assert all("protocol" in port for port in task["template"]["spec"]["containers"][0]["ports"])

    def test_each_worker_reads_json_that_names_three_hosts(self) -> None:
        container = _tasks(self.job)["worker"]["template"]["spec"]["containers"][0]
        text = next(entry["value"] for entry in container["env"] if entry["name"] == "TF_CONFIG")
        config = json.loads(text.replace("$(TASK_INDEX)", "1"))
        assert {role: len(hosts) for role, hosts in config["cluster"].items()} == {"ps": 1, "worker": 2}
        assert config["task"] == {"type": "worker", "index": 1}


class TestVivo:
    """The cluster of a published architecture."""

    manifests = _manifests("vivo")
    script = (EXAMPLE / "vivo/scripts/imagenet.py").read_bytes()

    def test_the_servers_learn_their_peers_by_flags(self) -> None:
        tasks = _tasks(self.manifests["workloads/job-imagenet.yaml"])
        assert {name: task["replicas"] for name, task in tasks.items()} == {"ps": 2, "worker": 3}
        for name, task in tasks.items():
            container = task["template"]["spec"]["containers"][0]
            words = [*container["command"], *container.get("args", ())]
            for flag in ("ps_hosts", "worker_hosts", "job_name", "task_index", "log_path"):
                assert any(word.startswith(f"--{flag}=") for word in words)
            assert ("--data_dir=/data" in words) == (name == "worker")
            paths = {mount["mountPath"] for mount in container["volumeMounts"]}
            assert paths == ({"/data", "/log", "/script"} if name == "worker" else {"/log", "/script"})

    def test_its_script_is_the_one_that_we_train_with(self) -> None:
        for task in _tasks(self.manifests["workloads/job-imagenet.yaml"]).values():
            (fetching,) = task["template"]["spec"]["initContainers"]
            assert hashlib.sha256(self.script).hexdigest() in fetching["command"]

    def test_the_notebook_reaches_the_servers(self) -> None:
        job = self.manifests["workloads/job-lab.yaml"]
        name, replicas = job["metadata"]["name"], job["spec"]["tasks"][0]["replicas"]
        pod = self.manifests["workloads/deployment-notebook-alice.yaml"]["spec"]["template"]
        env = {one["name"]: one.get("value") for one in pod["spec"]["containers"][0]["env"]}
        assert env["WORKER_HOSTS"] == ",".join(f"{name}-worker-{index}.{name}:2222" for index in range(replicas))
        policy = self.manifests["workloads/networkpolicy-notebook-alice.yaml"]["spec"]
        assert (
            policy["ingress"][0]["from"][0]["podSelector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()
        )

    def test_its_claims_are_shared(self) -> None:
        claims = [manifest["spec"] for path, manifest in self.manifests.items() if "/pvc-" in path]
        assert len(claims) == 2
        for claim in claims:
            assert claim["accessModes"] == ["ReadWriteMany"]
            assert claim["resources"]["requests"]["storage"] == "10Gi"
            assert claim["storageClassName"] == "glusterfs"

    def test_the_guide_names_each_manifest(self) -> None:
        text = (REPOSITORY / "docs/how-to/from-a-template.md").read_text(encoding="utf-8")
        paths = {re.sub(r"-[0-9a-f]{8}\.yaml$", "-*.yaml", path) for path in self.manifests}
        assert {path for path in paths if f"`{path}`" not in text} == set()


class TestProduction:
    """A realistic environment of several teams."""

    def test_it_has_every_strategy(self, plugins: Plugins) -> None:
        environment = compile_environment(EXAMPLE / "prod", plugins).environment
        assert environment is not None
        strategies = {"parameter-server", "multi-worker", "mirrored", "between-graph", "in-graph", "none"}
        assert {job.strategy for job in environment.jobs} == strategies

    def test_queues_are_applied_level_by_level_before_jobs(self) -> None:
        waves = {
            path.split("/", 1)[0]: manifest["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"]
            for path, manifest in _manifests("prod").items()
        }
        assert waves == {"cluster": "0", "cluster-2": "1", "workloads": "2"}

    def test_dev_is_the_same_base_and_smaller(self) -> None:
        assert len(_manifests("dev")) < len(_manifests("prod"))
        assert "extends: ../base.yaml" in (EXAMPLE / "dev" / "environment.yaml").read_text(encoding="utf-8")
