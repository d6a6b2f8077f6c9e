"""What must hold in the manifests of the field cases that compile: one function for each `check` of a row."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops.testing import Result

WAVE = "argocd.argoproj.io/sync-wave"
SUBSTITUTE = "kustomize.toolkit.fluxcd.io/substitute"
AWKWARD = {"git-sha": "25921e05", "run": "1e3", "axis": "y", "mode": "0o14"}

_HOST = re.compile(r"[a-z][a-z0-9.-]*:[0-9]+")


def cluster_of_one_ps_and_two_workers(result: Result) -> None:
    seen = set()
    for role, replicas in (("ps", 1), ("worker", 2)):
        assert "command" not in result.container(role), "no shell builds the value"
        for index in range(replicas):
            config = result.tf_config(role, index)
            assert {kind: len(hosts) for kind, hosts in config["cluster"].items()} == {"ps": 1, "worker": 2}
            assert all(_HOST.fullmatch(host) for hosts in config["cluster"].values() for host in hosts)
            assert config["task"] == {"type": role, "index": index}
            seen.add((role, index))
    assert len(seen) == 3
    assert index_comes_from_the_pod(result)


def index_comes_from_the_pod(result: Result) -> bool:
    """Tell whether the index is a field of the pod, defined before the value that refers to it."""
    env = result.container("worker")["env"]
    names = [entry["name"] for entry in env]
    field = env[names.index("TASK_INDEX")]["valueFrom"]["fieldRef"]["fieldPath"]
    return field == "metadata.labels['volcano.sh/task-index']" and names.index("TASK_INDEX") < names.index("TF_CONFIG")


def hosts_are_texts(result: Result) -> None:
    hosts = result.tf_config("worker")["cluster"]["worker"]
    assert len(hosts) == 2
    assert all(type(host) is str and host for host in hosts)


def evaluator_is_outside(result: Result) -> None:
    cluster = result.tf_config("worker")["cluster"]
    assert set(cluster) == {"chief", "ps", "worker"}
    for role in ("chief", "ps", "worker"):
        assert result.tf_config(role)["cluster"] == cluster
    own = {"evaluator": [f"{result.job()['metadata']['name']}-evaluator-0.{result.job()['metadata']['name']}:2222"]}
    assert result.tf_config("evaluator") == {"cluster": cluster | own, "task": {"type": "evaluator", "index": 0}}
    assert "tensorflow" not in result.job()["spec"]["plugins"]


def exec_before_the_last_program(result: Result) -> None:
    assert re.search(r"^(cd x && |A=1 )exec python t\.py$", result.container("worker")["command"][-1], re.MULTILINE)


def annotations_of_pods(result: Result) -> None:
    for task in result.job()["spec"]["tasks"]:
        assert task["template"]["metadata"]["annotations"]["prometheus.io/scrape"] == "true"


def labels_of_volcano(result: Result) -> None:
    assert result.job()["metadata"]["labels"]["volcano.sh/preemptable"] == "true"


def only_written_grace(result: Result) -> None:
    assert {name for name, task in result.job().tasks.items() if "terminationGracePeriodSeconds" in task.pod} == {"ps"}


def estimators_own_form(result: Result) -> None:
    for role in ("chief", "ps", "worker"):
        assert set(result.tf_config(role)["cluster"]) == {"chief", "ps", "worker"}
    assert result.job()["spec"]["policies"] == [
        {"event": "PodEvicted", "action": "RestartJob"},
        {"event": "PodFailed", "action": "RestartJob"},
    ]
    completing = [task["name"] for task in result.job()["spec"]["tasks"] if "CompleteJob" in str(task.get("policies"))]
    assert completing == ["chief"]


def worker_zero_leads(result: Result) -> None:
    assert set(result.tf_config("worker")["cluster"]) == {"worker"}


def ps_without_chief(result: Result) -> None:
    assert set(result.tf_config("worker")["cluster"]) == {"ps", "worker"}
    assert {"event": "PodFailed", "action": "RestartJob"} in result.job()["spec"]["policies"]


def task_outside_tensorflow(result: Result) -> None:
    assert "svc" in result.job()["spec"]["plugins"]
    assert not result.container("trainer").get("env")


def single_pod_has_its_own(result: Result) -> None:
    config = result.tf_config("worker")
    assert len(config["cluster"]["worker"]) == 1
    assert config["task"] == {"type": "worker", "index": 0}


def gang_is_whole(result: Result) -> None:
    spec = result.job()["spec"]
    assert spec["minAvailable"] == 5
    assert {task["name"]: task["minAvailable"] for task in spec["tasks"]} == {"ps": 1, "worker": 4}
    assert not any("dependsOn" in task for task in spec["tasks"])


def dependents_do_not_count(result: Result) -> None:
    spec = result.job()["spec"]
    assert spec["minAvailable"] == 2
    assert {task["name"]: task.get("dependsOn") for task in spec["tasks"]} == {
        "feed": {"name": ["store"]},
        "store": None,
    }


def queue_is_written_out(result: Result) -> None:
    assert result.job()["spec"]["queue"] == "default"


def queue_comes_first(result: Result) -> None:
    queue = result.manifest("cluster/queue-team-a.yaml")
    assert "status" not in queue
    assert result.job()["spec"]["queue"] == "team-a"
    assert list(result.files) == ["cluster/queue-team-a.yaml", "workloads/job-train.yaml"]


def queue_has_the_earlier_wave(result: Result) -> None:
    queue_comes_first(result)
    assert wave(result.manifest("cluster/queue-team-a.yaml")) < wave(result.job())


def wave(manifest: dict[str, Any]) -> int:
    """Return the sync wave of an object."""
    return int(manifest["metadata"].get("annotations", {}).get(WAVE, "0"))


def queue_is_complete(result: Result) -> None:
    queue = result.manifest("cluster/queue-ml.yaml")
    assert queue == {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": "ml"},
        "spec": {"parent": "root", "weight": 1, "reclaimable": True, "dequeueStrategy": "traverse"},
    }


def queue_below_root_is_written(result: Result) -> None:
    assert result.manifest("cluster/queue-offline.yaml")["spec"]["parent"] == "root"


def resources(result: Result, role: str = "worker") -> dict[str, dict[str, Any]]:
    """Return the requests and limits of a role's training container, amounts as text."""
    written = result.container(role)["resources"]
    return {bound: {name: str(amount) for name, amount in written[bound].items()} for bound in ("requests", "limits")}


def gpu_is_in_both(result: Result) -> None:
    found = resources(result)
    assert found["limits"] == found["requests"] == {"cpu": "4", "nvidia.com/gpu": "1"}


def one_gpu(result: Result) -> None:
    assert resources(result)["limits"] == {"nvidia.com/gpu": "1"}


def plain_mebibytes(result: Result) -> None:
    wanted = {"volcano.sh/vgpu-number": "1", "volcano.sh/vgpu-memory": "16384", "volcano.sh/vgpu-cores": "50"}
    assert resources(result) == {"requests": wanted, "limits": wanted}


def slice_of_a_gpu(result: Result) -> None:
    assert resources(result) == {"requests": {"nvidia.com/mig-1g.5gb": "1"}, "limits": {"nvidia.com/mig-1g.5gb": "1"}}


def dynamic_slice(result: Result) -> None:
    assert result.task("worker")["template"]["metadata"]["annotations"]["volcano.sh/vgpu-mode"] == "mig"
    assert "volcano.sh/vgpu-number" in resources(result)["limits"]


def eight_amd_gpus(result: Result) -> None:
    found = resources(result)
    assert found["requests"] == {"cpu": "1", "memory": "120Gi", "amd.com/gpu": "8"}
    assert found["limits"] == {"cpu": "32", "memory": "120Gi", "amd.com/gpu": "8"}
    assert "nvidia" not in result.files["workloads/job-train.yaml"].lower()


def claim_is_an_object(result: Result) -> None:
    claim = result.manifest("workloads/pvc-out.yaml")
    assert (claim["kind"], claim["metadata"]["name"]) == ("PersistentVolumeClaim", "out")
    assert "volumes" not in result.job()["spec"]
    assert result.pod("worker")["volumes"] == [{"name": "out", "persistentVolumeClaim": {"claimName": "out"}}]


def one_volume_two_mounts(result: Result) -> None:
    assert "volumes" not in result.job()["spec"]
    volumes = result.pod("worker")["volumes"]
    assert [volume["persistentVolumeClaim"]["claimName"] for volume in volumes] == ["nfs"]
    mounts = result.container("worker")["volumeMounts"]
    assert {(mount["name"], mount["mountPath"], mount["subPath"]) for mount in mounts} == {
        (volumes[0]["name"], "/data", "data"),
        (volumes[0]["name"], "/logs", "logs"),
    }


def shared_memory_is_bounded(result: Result) -> None:
    volume = next(v for v in result.pod("worker")["volumes"] if "emptyDir" in v)
    assert volume["emptyDir"] == {"medium": "Memory", "sizeLimit": "2Gi"}
    assert {"name": volume["name"], "mountPath": "/dev/shm"} in result.container("worker")["volumeMounts"]  # noqa: S108


def pods_are_not_restarted(result: Result) -> None:
    policies = [task["template"]["spec"]["restartPolicy"] for task in result.job()["spec"]["tasks"]]
    assert set(policies) == {"Never"}


def pods_may_restart_on_failure(result: Result) -> None:
    assert result.pod("worker")["restartPolicy"] == "OnFailure"


def policy_waits(result: Result) -> None:
    assert {"event": "PodPending", "action": "RestartJob", "timeout": "10m"} in result.job()["spec"]["policies"]


def chief_decides(result: Result) -> None:
    assert deciders(result) == ["chief"]


def worker_decides(result: Result) -> None:
    assert deciders(result) == ["worker"]


def deciders(result: Result) -> list[str]:
    """Name the tasks whose end completes the job; the Job itself must not say so."""
    completes = {"event": "TaskCompleted", "action": "CompleteJob"}
    spec = result.job()["spec"]
    assert not any(policy.get("action") == "CompleteJob" for policy in spec["policies"])
    return [task["name"] for task in spec["tasks"] if completes in task.get("policies", [])]


def names_resolve_before_ready(result: Result) -> None:
    assert "--publish-not-ready-addresses=true" in result.job()["spec"]["plugins"]["svc"]
    assert result.container("ps")["readinessProbe"]["tcpSocket"]["port"] == 2222


def new_object(result: Result, after: Result) -> None:
    old, new = result.job()["metadata"], after.job()["metadata"]
    assert old["name"] != new["name"]
    assert old["labels"]["tfgitops/job"] == new["labels"]["tfgitops/job"] == "train"


def same_bytes(result: Result, after: Result) -> None:
    assert result.ok, result.text
    assert result.files == after.files


def same_object(result: Result, after: Result) -> None:
    assert result.job() != after.job()
    assert result.job()["metadata"]["name"] == after.job()["metadata"]["name"]


def every_default_is_written(result: Result) -> None:
    spec = result.job()["spec"]
    assert {"schedulerName", "queue", "maxRetry", "minAvailable", "plugins"} <= set(spec)
    assert type(spec["plugins"]["svc"]) is list
    for task in spec["tasks"]:
        assert {"name", "replicas", "minAvailable", "maxRetry"} <= set(task)
        pod = task["template"]["spec"]
        assert pod["dnsPolicy"] == "ClusterFirstWithHostNet"
        assert all(port["protocol"] == "TCP" for port in pod["containers"][0]["ports"])


def waves_follow_no_health(result: Result) -> None:
    waves = [wave(result.manifest(path)) for path in result.files]
    assert waves == sorted(waves)
    assert wave(result.job()) == wave(result.manifest("workloads/pvc-logs.yaml")) == max(waves)
    assert "argocd.argoproj.io/hook" not in result.job()["metadata"].get("annotations", {})


def braces_are_kept(result: Result) -> None:
    assert result.job()["metadata"]["annotations"] == {SUBSTITUTE: "disabled"}
    assert result.container("worker")["command"][-1].endswith("${VC_WORKER_HOSTS}")
    assert "${" not in result.env("worker")["TF_CONFIG"]


def nothing_to_substitute(result: Result) -> None:
    assert SUBSTITUTE not in result.job()["metadata"].get("annotations", {})
    assert "${" not in result.files["workloads/job-train.yaml"]


def job_ends_on_eviction(result: Result) -> None:
    assert {"event": "PodEvicted", "action": "TerminateJob"} in result.job()["spec"]["policies"]
    assert re.fullmatch(r"train-[0-9a-f]{8}", result.job()["metadata"]["name"])


def numbers_become_text(result: Result) -> None:
    assert result.pod("worker")["nodeSelector"] == {"pool-id": "7"}


def words_stay_words(result: Result) -> None:
    labels = result.job()["metadata"]["labels"]
    assert (labels["country"], labels["debug"], labels["answer"]) == ("no", "off", "y")
    assert result.env("worker")["REGION"] == "no"


def awkward_texts_are_quoted(result: Result) -> None:
    labels = result.job()["metadata"]["labels"]
    assert {key: labels[key] for key in AWKWARD} == AWKWARD
    assert result.env("worker")["CI_COMMIT_SHORT_SHA"] == "25921e05"
    text = result.files["workloads/job-train.yaml"]
    for value in AWKWARD.values():
        assert re.search(rf": (['\"]){value}\1$", text, re.MULTILINE), value


def bom_changes_nothing(result: Result, after: Result) -> None:
    same_bytes(result, after)
    assert not any(text.startswith("\ufeff") for text in [*result.files.values(), *after.files.values()])


def other_scripts_are_kept(result: Result) -> None:
    assert result.job()["metadata"]["annotations"]["note"] == "Größe 训练 😀"
    assert result.env("worker")["CITY"] == "Zürich"


def env_is_text(result: Result) -> None:
    wanted = {"EPOCHS": "10", "LR": "0.001", "TAG": "1.10", "DEBUG": "false"}
    env = result.env("worker")
    assert {name: env[name] for name in wanted} == wanted
    assert all(type(value) is str for value in values(result.container("worker")["env"]))
    json.loads(env["TF_CONFIG"].replace("$(TASK_INDEX)", "0"))


def values(env: list[dict[str, Any]]) -> Iterator[Any]:
    """Yield the plain values of a list of variables."""
    return (entry["value"] for entry in env if "value" in entry)


def canonical_memory(result: Result) -> None:
    assert resources(result)["limits"] == {"memory": "1536Mi"}


def evaluator_finds_itself(result: Result) -> None:
    """What MultiWorkerMirroredStrategy looks up: the hosts of its own role in the cluster of its own pod."""
    job = result.job()
    others = [task["name"] for task in job["spec"]["tasks"] if task["name"] != "evaluator"]
    clusters = [result.tf_config(role)["cluster"] for role in others]
    assert all("evaluator" not in cluster and cluster == clusters[0] for cluster in clusters)
    own = result.tf_config("evaluator")["cluster"].pop("evaluator")
    name = job["metadata"]["name"]
    (port,) = [port["containerPort"] for port in result.container("evaluator")["ports"] if port["name"] == "tensorflow"]
    assert own == [f"{name}-evaluator-0.{name}:{port}"]
    assert result.tf_config("evaluator")["cluster"] == {**clusters[0], "evaluator": own}


def evaluator_comes_back_by_itself(result: Result) -> None:
    (task,) = [task for task in result.job()["spec"]["tasks"] if task["name"] == "evaluator"]
    assert task["template"]["spec"]["restartPolicy"] == "OnFailure"
    actions = {policy["event"]: policy["action"] for policy in task["policies"]}
    assert (actions["PodFailed"], actions["PodEvicted"]) == ("RestartPod", "ResumeJob")


def evaluator_ends_the_job(result: Result) -> None:
    spec = result.job()["spec"]
    ends = [
        task["name"]
        for task in spec["tasks"]
        if {"event": "TaskCompleted", "action": "CompleteJob"} in task["policies"]
    ]
    assert ends == ["evaluator"]
    failing = {
        task["name"]: [p["action"] for p in task["policies"] if p["event"] == "PodFailed"] for task in spec["tasks"]
    }
    assert failing.get("chief", ["RestartJob"]) == ["RestartJob"]
    evaluator_comes_back_by_itself(result)


def a_failed_pod_restarts_the_job(result: Result) -> None:
    spec = result.job()["spec"]
    policies = [*spec["policies"], *spec["tasks"][0]["policies"]]
    assert {"event": "PodFailed", "action": "RestartJob"} in policies
    assert spec["maxRetry"] == 100


def lost_pods_come_back_in_place(result: Result) -> None:
    spec = result.job()["spec"]
    tolerant = {
        task["name"] for task in spec["tasks"]
        if {"event": "PodEvicted", "action": "ResumeJob"} in task.get("policies", ())
    }  # fmt: skip
    assert tolerant == {"worker", "feeder"} & {task["name"] for task in spec["tasks"]}
    assert {"event": "PodEvicted", "action": "RestartJob"} in spec["policies"]
    assert spec["maxRetry"] == 100


def feeder_comes_back_in_place(result: Result) -> None:
    tasks = {task["name"]: task.get("policies", []) for task in result.job()["spec"]["tasks"]}
    assert {"event": "PodEvicted", "action": "ResumeJob"} in tasks["feeder"]
    assert {"event": "PodFailed", "action": "RestartPod"} in tasks["feeder"], "else the job's own policy restarts all"
    assert "ResumeJob" not in [policy["action"] for policy in tasks["worker"]]
