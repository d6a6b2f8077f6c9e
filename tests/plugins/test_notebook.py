"""Notebooks: the token only from a Secret, the hosts of the job that runs, and who may reach its servers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

if TYPE_CHECKING:
    from collections.abc import Callable

    from repository import Repository

    from tfgitops.testing import Result

    Compile = Callable[..., Result]

SERVERS = "jobs:\n  servers: {strategy: in-graph, image: tf, worker: 2, ps: 1, port: 3333%s}\n"
HOSTS = [("PS_HOSTS", 1), ("WORKER_HOSTS", 2)]


def spec(notebook: str, more: str = "", jobs: str = SERVERS % "") -> str:
    return f"notebooks:\n  alice: {{image: lab, token: {{secret: mine}}{notebook}}}\n{more}{jobs}"


def pod(result: Result) -> dict[str, Any]:
    found: dict[str, Any] = result.object("Deployment", "notebook-alice")["spec"]["template"]["spec"]
    return found


def env(result: Result) -> dict[str, str]:
    return {one["name"]: one.get("value", "") for one in pod(result)["containers"][0]["env"]}


def test_the_token_comes_from_the_secret_alone(compile_spec: Compile) -> None:
    result = compile_spec(spec(""))
    (variable,) = pod(result)["containers"][0]["env"]
    assert variable == {"name": "JUPYTER_TOKEN", "valueFrom": {"secretKeyRef": {"name": "mine", "key": "token"}}}
    assert not any("token" in word for word in pod(result)["containers"][0]["command"])
    assert pod(result)["automountServiceAccountToken"] is False


def test_a_notebook_has_the_hosts_of_the_run_that_is_built(compile_spec: Compile) -> None:
    result = compile_spec(spec(", job: servers, command: [lab, --ps=$(PS_HOSTS), --text=$$(RUN), $(OTHER_HOSTS)]"))
    run = result.job()["metadata"]["name"]
    assert env(result)["RUN"] == run
    for name, count in HOSTS:
        task = name.partition("_")[0].lower()
        assert env(result)[name] == ",".join(f"{run}-{task}-{index}.{run}:3333" for index in range(count))
    command = pod(result)["containers"][0]["command"]
    assert command == ["lab", f"--ps={run}-ps-0.{run}:3333", "--text=$$(RUN)", "$(OTHER_HOSTS)"]


def test_a_pinned_job_keeps_its_hosts(repository: Repository) -> None:
    head = "apiVersion: tfgitops/v1alpha1\nkind: Environment\nnamespace: ml\n"
    repository.write("environments/lab/environment.yaml", head + spec(", job: servers"))
    repository.build("environments/lab")
    path = "environments/lab/manifests/workloads/deployment-notebook-alice.yaml"
    before = repository.read(path)
    run = yaml.safe_load(repository.read("environments/lab/manifests/workloads/job-servers.yaml"))["metadata"]["name"]
    repository.commit("lab")
    repository.edit("environments/lab/environment.yaml", ("worker: 2", f"pin: {run}, worker: 5"))
    repository.build("environments/lab")
    assert repository.read(path) == before


def test_the_own_variables_may_refer_to_the_run(compile_spec: Compile) -> None:
    result = compile_spec(spec(", job: servers, workdir: /home, env: {OUT: /out/$(RUN), N: 1}"))
    assert env(result)["OUT"] == f"/out/{env(result)['RUN']}"
    assert env(result)["N"] == "1"
    assert pod(result)["containers"][0]["workingDir"] == "/home"


@pytest.mark.parametrize(
    ("more", "closed"),
    [
        ("", True),
        (", plugins: {svc: [--disable-network-policy=false]}", True),
        (", plugins: {svc: [--disable-network-policy=true]}", False),
    ],
)
def test_a_network_policy_admits_the_notebook_unless_the_job_is_open(
    compile_spec: Compile, more: str, *, closed: bool
) -> None:
    result = compile_spec(spec(", job: servers", jobs=SERVERS % more))
    found = result.objects("NetworkPolicy")
    assert len(found) == closed
    for policy in found:
        assert policy["spec"]["podSelector"] == {"matchLabels": {"tfgitops/job": "servers"}}
        (rule,) = policy["spec"]["ingress"]
        assert rule["ports"] == [{"port": 3333, "protocol": "TCP"}]
        labels = result.object("Deployment", "notebook-alice")["spec"]["template"]["metadata"]["labels"]
        assert rule["from"] == [{"podSelector": {"matchLabels": labels}}]


def test_a_queue_needs_volcanos_scheduler(compile_spec: Compile) -> None:
    result = compile_spec(spec(", queue: lab", "queues: {lab: {}}\n"))
    template = result.object("Deployment", "notebook-alice")["spec"]["template"]
    assert template["metadata"]["annotations"] == {"scheduling.volcano.sh/queue-name": "lab"}
    assert template["spec"]["schedulerName"] == "volcano"


def test_two_volumes_of_one_claim_are_one_volume_of_the_pod(compile_spec: Compile) -> None:
    volumes = "volumes: {b: {claim: all, path: /b, subPath: b}, a: {claim: all, path: /a, subPath: $(RUN)}}\n"
    found = pod(compile_spec(spec(", volumes: [b, {name: a, readOnly: true, path: /c}]", volumes)))
    assert found["volumes"] == [{"name": "a", "persistentVolumeClaim": {"claimName": "all"}}]
    assert found["containers"][0]["volumeMounts"] == [
        {"name": "a", "mountPath": "/b", "subPath": "b"},
        {"name": "a", "mountPath": "/c", "readOnly": True},
    ]


def test_gpus_of_a_vendor_tolerate_its_taint(compile_spec: Compile) -> None:
    found = pod(compile_spec(spec(", gpu: {count: 2, resource: amd.com/gpu}, nodeSelector: {a: b}")))
    assert found["containers"][0]["resources"] == {"requests": {"amd.com/gpu": "2"}, "limits": {"amd.com/gpu": "2"}}
    assert found["tolerations"] == [{"key": "amd.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    assert found["nodeSelector"] == {"a": "b"}


def test_a_port_of_the_nodes_is_there_when_it_is_asked_for(compile_spec: Compile) -> None:
    service = compile_spec(spec(", service: NodePort")).object("Service", "notebook-alice")["spec"]
    assert service["type"] == "NodePort"
    assert "nodePort" not in service["ports"][0]
    assert compile_spec(spec("")).object("Service", "notebook-alice")["spec"]["type"] == "ClusterIP"


def test_a_claim_for_one_node_is_shared_with_a_job_or_a_board(compile_spec: Compile) -> None:
    for users in (
        "jobs: {train: {image: tf, worker: 1, volumes: [home]}}\n",
        f"tensorboards: {{b: home}}\n{SERVERS % ''}",
    ):
        for access, severity in (("ReadWriteOnce", "warning"), ("ReadWriteOncePod", "error"), ("ReadWriteMany", "")):
            more = f"volumes: {{home: {{size: 1Gi, path: /home, access: {access}}}}}\n"
            result = compile_spec(spec(", volumes: [home]", more, users))
            found = [one for one in result.compiled.diagnostics if one.code == "STORE04"]
            assert [one.severity for one in found] == [severity] * bool(severity)
            for one in found:
                assert "deployment/notebook-alice and " in one.message
                assert result.line("STORE04") == 6


@pytest.mark.parametrize("service", ["{nodePort: 30080}", "{type: ClusterIP, nodePort: 30080}"])
def test_only_a_service_of_type_node_port_has_one(compile_spec: Compile, service: str) -> None:
    result = compile_spec(spec(f", service: {service}"))
    assert result.codes == ["TF501"]
    assert result.found("TF501").message == "nodePort is not for a Service of type ClusterIP"
    assert "write `type: NodePort`" in result.found("TF501").hint


def test_a_quota_counts_notebooks_and_boards(compile_spec: Compile) -> None:
    head = "apiVersion: tfgitops/v1alpha1\nkind: Environment\nnamespace: {name: ml, quota: {requests.cpu: %s}}\n"
    more = "volumes: {logs: {claim: logs}}\ntensorboards: {b: logs}\n"
    jobs = "jobs: {train: {image: tf, worker: {cpu: 4}}}\n"
    assert compile_spec(head % 7 + spec(", cpu: 2", more, jobs)).codes == []
    crowded = compile_spec(head % 6 + spec(", cpu: 2", more, jobs)).found("TF309")
    assert "ask for 6100m requests.cpu, more than the quota: train, deployment/notebook-alice" in crowded.message
    alone = compile_spec(head % 6 + spec(", cpu: 8", "", jobs))
    assert alone.found("TF309").message.startswith("deployment/notebook-alice needs 8 requests.cpu, and the quota")
    assert alone.line("TF309") == 5
    silent = compile_spec(head % 6 + spec("", "", jobs)).found("TF310")
    assert (
        silent.message
        == "the quota counts requests.cpu, and containers of 'deployment/notebook-alice' do not say how much"
    )


def test_images_and_reviews_see_notebooks(repository: Repository) -> None:
    head = "apiVersion: tfgitops/v1alpha1\nkind: Environment\nnamespace: ml\n"
    repository.write("environments/lab/environment.yaml", head + spec(", job: servers, imagePullSecrets: [pull]"))
    repository.build("environments/lab")
    repository.commit("a notebook")
    repository.edit("environments/lab/environment.yaml", ("worker: 2", "worker: 3"))
    repository.build("environments/lab", "--restart-all")
    said = repository.review("--against", "HEAD").stdout
    assert "Deployment notebook-alice\n        the addresses of the pods of a job\n" in said
    assert "its pods are ended, and then replaced" in said
