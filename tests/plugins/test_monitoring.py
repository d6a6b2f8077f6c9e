"""Monitoring: what Prometheus finds of each job, in place or by a new run, and what keeps it from finding anything."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from commandline import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from repository import Repository

    from tfgitops.testing import Result

    Compile = Callable[..., Result]

OPEN = "plugins: {svc: [--disable-network-policy=true]}"
FOUND = "monitoring: {podMonitor: {name: trainings, labels: {release: prometheus}, interval: 30s}}\n"
JOB = f"image: a, {OPEN}, ports: {{metrics: 9090}}, worker: 2"


def jobs(*lines: str) -> str:
    return "jobs:\n" + "".join(f"  {line}\n" for line in lines)


def annotations(result: Result, job: str = "") -> dict[str, dict[str, str]]:
    return {
        task["name"]: task["template"]["metadata"].get("annotations", {}) for task in result.job(job)["spec"]["tasks"]
    }


def monitor(result: Result) -> dict[str, Any]:
    spec: dict[str, Any] = result.object("PodMonitor", "trainings")["spec"]
    return spec


def said(result: Result) -> list[tuple[str, str]]:
    return [(one.code, one.severity) for one in result.compiled.diagnostics]


@pytest.mark.parametrize(
    ("target", "more"),
    [
        ("metrics", {}),
        ("{port: metrics}", {}),
        ("{port: metrics, path: /m, scheme: https}", {"path": "/m", "scheme": "https"}),
    ],
)
def test_annotations_are_of_the_pods_that_have_the_port(
    compile_spec: Compile, target: str, more: dict[str, str]
) -> None:
    result = compile_spec(
        jobs(f"train: {{image: a, {OPEN}, monitoring: {target}, chief: {{ports: {{metrics: 9090}}}}, worker: 2}}")
    )
    wanted = {f"prometheus.io/{key}": value for key, value in {"scrape": "true", "port": "9090", **more}.items()}
    assert annotations(result) == {"chief": wanted, "worker": {}}
    assert (said(result), result.objects("PodMonitor")) == ([], [])


def test_two_roles_may_have_the_port_at_different_numbers(compile_spec: Compile) -> None:
    ports = "chief: {ports: {metrics: 9090}}, worker: {ports: {metrics: 9091}}"
    result = compile_spec(jobs(f"train: {{image: a, {OPEN}, monitoring: metrics, {ports}}}"))
    assert [one["prometheus.io/port"] for one in annotations(result).values()] == ["9090", "9091"]


def test_an_annotation_of_the_overlay_wins(compile_spec: Compile) -> None:
    overlay = "pod: {metadata: {annotations: {prometheus.io/path: /other}}}"
    result = compile_spec(jobs(f"train: {{{JOB}, monitoring: {{port: metrics, path: /m}}, {overlay}}}"))
    assert annotations(result)["worker"]["prometheus.io/path"] == "/other"


def test_one_pod_monitor_finds_the_pods_of_all_monitored_jobs(compile_spec: Compile) -> None:
    result = compile_spec(
        FOUND
        + f"defaults: {{{JOB}, monitoring: metrics}}\n"
        + jobs("b: {worker: 2}", "a: {worker: 2}", "c: {worker: 2, monitoring: null}")
    )
    assert result.object("PodMonitor", "trainings")["metadata"]["labels"] == {"release": "prometheus"}
    assert monitor(result) == {
        "jobLabel": "tfgitops/job",
        "podTargetLabels": ["volcano.sh/job-name", "volcano.sh/task-spec", "volcano.sh/task-index"],
        "selector": {"matchExpressions": [{"key": "tfgitops/job", "operator": "In", "values": ["a", "b"]}]},
        "podMetricsEndpoints": [{"port": "metrics", "interval": "30s"}],
    }
    assert annotations(result, "a") == {"worker": {}}, "the pods are found by their labels"
    labels = result.job("a")["spec"]["tasks"][0]["template"]["metadata"]["labels"]
    assert labels == {"tfgitops/job": "a"}


def test_jobs_that_differ_have_an_endpoint_each(compile_spec: Compile) -> None:
    """Every endpoint counts for every selected pod, so each keeps its own jobs alone."""
    result = compile_spec(
        "monitoring: {podMonitor: trainings}\n"
        f"defaults: {{{JOB}, monitoring: metrics}}\n"
        + jobs("a: {worker: 2}", "b: {worker: 2, monitoring: {path: /m}}", "c: {worker: 2}")
    )
    endpoints = monitor(result)["podMetricsEndpoints"]
    label = ["__meta_kubernetes_pod_label_tfgitops_job"]
    assert endpoints == [
        {"path": "/m", "port": "metrics", "relabelings": [{"action": "keep", "sourceLabels": label, "regex": "b"}]},
        {"port": "metrics", "relabelings": [{"action": "keep", "sourceLabels": label, "regex": "a|c"}]},
    ]
    assert "labels" not in result.object("PodMonitor", "trainings")["metadata"], (
        "labels are for those who select by them"
    )


def test_nobody_asks_so_nothing_is_written(compile_spec: Compile) -> None:
    result = compile_spec(FOUND + jobs(f"train: {{{JOB}}}"))
    assert (said(result), result.objects("PodMonitor"), annotations(result)) == ([], [], {"worker": {}})


@pytest.mark.parametrize(
    ("top", "job", "message", "hint"),
    [
        ("", "monitoring: metric", "no role of the job 'train' has a port 'metric'", "did you mean 'metrics'?"),
        ("", "monitoring: prom", "no role of the job", "declare it, and use its name: `ports: {prom: 9090}`"),
        ("", "monitoring: {path: /m}", "'train.monitoring' has no 'port'", "the name of the metrics port"),
        ("", "monitoring: 9090", "has a port '9090'", "write its name: `monitoring: {port: metrics}`"),
        ("", "monitoring: 8080", "has a port '8080'", "`ports: {metrics: 8080}`"),
        ("", "monitoring: {port: metrics, path: m}", "'m' is not an absolute path", "write '/m'"),
        ("", "monitoring: {port: metrics, scheme: HTTP}", "'HTTP'", "http"),
        ("", "monitoring: {port: metrics, interval: 30s}", "unknown key 'interval'", "it stands at the top"),
        ("monitoring: {podMonitor: {name: a, interval: soon}}\n", "", "'soon' is not a duration", "30s"),
        ("monitoring: {podMonitor: {name: a, interval: 1.5m}}\n", "", "must be a duration of Prometheus", "30s or 1m"),
        ("monitoring: {podMonitor: {labels: {a: b}}}\n", "", "has no 'name'", "the name of the PodMonitor"),
        ("monitoring: {podMonitor: A_b}\n", "", "'A_b' cannot be a name in Kubernetes", "write 'a-b'"),
        ("monitoring: {podMonitor: {name: a, labels: {release: true}}}\n", "", "label", ""),
        ("prometheus: {}\n", "", "unknown key 'prometheus'", "write `monitoring: {podMonitor: NAME}`"),
        ("", "serviceMonitor: a", "unknown key 'serviceMonitor'", "the key is `monitoring`: the name of a port"),
        ("monitoring: {port: metrics}\n", "", "unknown key 'port'", "it belongs to a job"),
    ],
)
def test_bad_input(compile_spec: Compile, top: str, job: str, message: str, hint: str) -> None:
    asked = job or "monitoring: metrics"
    found = compile_spec(top + jobs(f"train: {{{JOB}, {asked}}}")).compiled.diagnostics
    assert [one.severity for one in found] == ["error"]
    assert message in found[0].message
    assert hint in found[0].hint + found[0].expected


@pytest.mark.parametrize(
    ("network", "severity"),
    [
        ("", ["warning"]),
        ("plugins: {svc: [--publish-not-ready-addresses=true]}, ", ["warning"]),
        ("plugins: {svc: [--disable-network-policy=false]}, ", ["warning"]),
        ("plugins: {svc: []}, ", ["warning"]),
        (f"{OPEN}, ", []),
    ],
)
@pytest.mark.parametrize("top", ["", FOUND])
def test_a_port_without_a_door_is_a_warning(compile_spec: Compile, network: str, severity: list[str], top: str) -> None:
    result = compile_spec(
        top + jobs(f"train: {{image: a, {network}ports: {{metrics: 9090}}, monitoring: metrics, chief: 1, worker: 2}}")
    )
    assert said(result) == [("METRIC02", one) for one in severity]
    if severity:
        found = result.found("METRIC02")
        assert found.hint.startswith("write `metrics: {port: 9090, from: {namespace: NAMESPACE}}`")


@pytest.mark.parametrize("door", ["namespace", "{namespace: monitoring}", "[{namespace: monitoring}, namespace]"])
def test_a_port_with_a_door_is_none(compile_spec: Compile, door: str) -> None:
    """`from` of a port says who is let in, whatever its form."""
    ports = f"ports: {{metrics: {{port: 9090, from: {door}}}}}"
    result = compile_spec(jobs(f"train: {{image: a, {ports}, monitoring: metrics, worker: 2}}"))
    assert result.codes == []
    assert result.objects("NetworkPolicy")


def test_labels_of_a_pod_monitor_may_be_numbers(compile_spec: Compile) -> None:
    result = compile_spec(
        "monitoring: {podMonitor: {name: a, labels: {release: 1}}}\n" + jobs(f"train: {{{JOB}, monitoring: metrics}}")
    )
    assert result.object("PodMonitor", "a")["metadata"]["labels"]["release"] == "1"


PLAIN = f"""\
apiVersion: tfgitops/v1alpha1
kind: Environment
namespace: ml
monitoring: {{podMonitor: trainings}}
jobs:
  train: {{{JOB}, monitoring: metrics}}
"""


def test_a_pod_monitor_changes_in_place_and_annotations_restart(repository: Repository) -> None:
    repository.write("environments/prod/environment.yaml", PLAIN)
    assert run("build", "environments/prod", "--restart-all").exit_code == 0
    repository.commit("first")
    repository.write("environments/prod/environment.yaml", PLAIN.replace("metrics}", "{port: metrics, path: /m}}"))
    assert run("build", "environments/prod").exit_code == 0
    changes = json.loads(run("review", "environments/prod", "--format", "json").stdout)
    assert "new run" not in json.dumps(changes)
    repository.write("environments/prod/environment.yaml", PLAIN.replace("monitoring: {podMonitor: trainings}\n", ""))
    refused = run("build", "environments/prod")
    assert (refused.exit_code, "TF604" in refused.stderr) == (1, True)


def test_a_pinned_job_is_still_found(repository: Repository) -> None:
    repository.write("environments/prod/environment.yaml", PLAIN)
    assert run("build", "environments/prod", "--restart-all").exit_code == 0
    repository.commit("first")
    assert run("pin", "environments/prod", "train").exit_code == 0
    spec = repository.read("environments/prod/environment.yaml").replace("image: a", "image: b")
    repository.write(
        "environments/prod/environment.yaml",
        spec.replace("podMonitor: trainings", "podMonitor: {name: trainings, interval: 1m}"),
    )
    built = run("build", "environments/prod")
    assert (built.exit_code, built.stderr) == (0, "")
    text = repository.read("environments/prod/manifests/workloads/podmonitor-trainings.yaml")
    assert ("- train" in text, "interval: 1m" in text) == (True, True)
