"""Faults of planned manifests become problems of the spec: each once, with the code and the words that fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tfgitops.spec import bounds
from tfgitops.targets.routes import leaves
from tfgitops.targets.volcano.defaults import DRIFT_RULES
from tfgitops.targets.volcano.stricter import ADMITTED, STRICTER

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfgitops.testing import Result

    Compile = Callable[..., Result]

IN_ROLE = "jobs:\n  train: {image: tf, worker: {%s}}\n"
JOBS = "jobs:\n  train: {image: tf, worker: 2%s}\n"


def queues(text: str) -> str:
    return f"queues:\n{text}\njobs: {{}}\n"


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        (
            "  t: {deserved: {cpu: 4}}\n  a: {parent: t, deserved: {cpu: 3}}\n  b: {parent: t, deserved: {cpu: 2}}",
            "deserved of cpu in a and b together is 5, more than that of t (4)",
        ),
        (
            "  top: {deserved: {memory: 200Gi}}\n  a: {parent: top, deserved: {memory: 1Ti}}",
            "deserved of memory in a is 1Ti, more than that of top (200Gi)",
        ),
        (
            "  top: {capability: {memory: 100G}}\n  a: {parent: top, capability: {memory: 1T}}",
            "capability of memory is 1T, more than that of top (100G)",
        ),
        (
            "  top: {capability: {cpu: 8}}\n  a: {parent: top}\n  b: {parent: a, capability: {cpu: 9500m}}",
            "capability of cpu is 9500m, more than that of top (8)",
        ),
    ],
)
def test_a_relation_of_queues_is_told_once_and_in_the_users_units(
    compile_spec: Compile, blocks: str, message: str
) -> None:
    result = compile_spec(queues(blocks))
    assert result.codes == ["TF501"]
    assert message in result.text


def test_nothing_is_known_of_the_amounts_of_an_external_queue(compile_spec: Compile) -> None:
    blocks = (
        "  research: {external: true}\n"
        "  vision: {parent: research, capability: {cpu: 9}, deserved: {cpu: 8}, guarantee: {cpu: 1}}"
    )
    assert compile_spec(queues(blocks)).codes == []


@pytest.mark.parametrize(
    ("spec", "line", "column"),
    [
        ("queues:\n  a:\n    deserved: {cpu: 5}\n    capability: {cpu: 4}\n", 3, 21),
        ("queues:\n  a:\n    deserved: {pods: 4}\n    guarantee:\n      pods: 0.5\n", 5, 13),
        ("queues:\n  a:\n    weight: 1\n    annotations:\n      x: y\n      volcano.sh/hierarchy: a\n", 4, 5),
        ("volumes:\n  data:\n    path: /d\n    access: ReadWriteOnce\n    size: 100m\n", 5, 11),
        ("namespace:\n  name: ml\n  create: true\n  quota:\n    cpu: 1\n    services: 0.5\n", 6, 15),
        ("namespace:\n  name: ml\n  create: true\n  labels: {pod-security.kubernetes.io/enforce: restricted}\n", 4, 48),
        ("jobs:\n  a:\n    image: tf\n    worker: 1\n    plugins:\n      svc: []\n      ray: [x]\n", 7, 7),
    ],
)
def test_a_fault_is_shown_at_the_key_that_gives_the_value(
    compile_spec: Compile, spec: str, line: int, column: int
) -> None:
    rest = {"namespace": "namespace: ml\n", "queues": "queues: {q: {}}\n", "jobs": "jobs: {a: {image: a, worker: 1}}\n"}
    others = "".join(text for key, text in rest.items() if f"{key}:" not in spec)
    result = compile_spec(f"{spec}{others}apiVersion: tfgitops/v1alpha1\nkind: Environment\n")
    assert f" --> environment.yaml:{line}:{column}\n" in result.text


ONE_FAULT = "  {}:\n    image: tf\n    worker: 1\n    pod:\n      spec: {{priority: 10}}\n"


def test_after_as_many_faults_as_a_command_shows_the_others_are_told_at_their_jobs(
    compile_spec: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "SHOWN", 2)
    result = compile_spec("jobs:\n" + "".join(map(ONE_FAULT.format, "abc")))
    places = [(found.span.line, found.span.column) for found in result.compiled.diagnostics if found.span]
    assert places == [(9, 24), (14, 24), (15, 3)]


@pytest.mark.parametrize("fewer", [0, 1])
def test_the_faults_of_a_job_of_too_many_values_are_told_at_the_job(
    fewer: int, compile_spec: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = "jobs:\n" + ONE_FAULT.format("a")
    environment = compile_spec(spec).compiled.environment
    assert environment is not None
    [job] = environment.jobs
    values = sum(1 for data in (job.data, job.roles[0].data) for _ in leaves(data))
    monkeypatch.setattr(bounds, "TRACED", values - fewer)
    [found] = compile_spec(spec).compiled.diagnostics
    assert found.span is not None
    assert found.span.line == (5 if fewer else 9)


@pytest.mark.parametrize(
    ("job", "codes"),
    [
        ("", []),
        (", annotations: {argocd.argoproj.io/sync-options: Replace=true}", ["TF502"]),
        (", pod: {spec: {os: {name: windows}}}", ["TF502"]),
        (", pod: {spec: {priority: 10}}", ["TF502"]),
        (", pod: {spec: {preemptionPolicy: Never}}", ["TF502"]),
        (", container: {readinessProbe: {httpGet: {port: nosuch}}}", ["TF502"]),
        (", container: {readinessProbe: {httpGet: {port: tensorflow}}}", []),
        (", ports: {http: 80}, container: {readinessProbe: {httpGet: {port: http}}}", []),
    ],
)
def test_the_code_says_whether_the_cluster_refuses(compile_spec: Compile, job: str, codes: list[str]) -> None:
    assert sorted(compile_spec(JOBS % job).codes) == codes


def test_a_port_that_is_misspelt_is_answered_by_the_one_that_is_meant(compile_spec: Compile) -> None:
    result = compile_spec(JOBS % ", ports: {http: 80}, container: {readinessProbe: {httpGet: {port: htpp}}}")
    assert "expected: tensorflow or http" in result.text
    assert "did you mean 'http'?" in result.text


@pytest.mark.parametrize("job", [", priority: 10", ", nodeName: a", ", pod: {spec: {priority: 10}}"])
def test_no_hint_leads_to_what_is_refused(compile_spec: Compile, job: str) -> None:
    for text in (JOBS % job, IN_ROLE % job[2:]):
        hint = compile_spec(text).text.split("help: ")[1]
        assert "pod: {spec:" not in hint
        assert "`priorityClassName`" in hint or "`nodeSelector`" in hint


@pytest.mark.parametrize("given", ["mpi: [--master=a]", "mpi: [--master=a], ssh: [--ssh-port=2222]"])
def test_the_plugins_that_others_need_are_written_out(compile_spec: Compile, given: str) -> None:
    result = compile_spec(
        f"jobs: {{train: {{image: tf, strategy: none, completes: a, tasks: {{a: 1, b: 2}}, plugins: {{{given}}}}}}}"
    )
    assert result.text == ""
    assert result.job()["spec"]["plugins"].keys() == {"mpi", "ssh", "svc"}


def test_a_rule_that_the_cluster_has_too_is_not_told_as_admitted() -> None:
    assert ADMITTED.keys() < STRICTER.keys()
    assert not {"pod-corner", "crd-required", "resource-beyond-counting"} & ADMITTED.keys()


def test_drift_is_told_beside_a_warning(compile_spec: Compile, monkeypatch: pytest.MonkeyPatch) -> None:
    policies = ", policies: [{event: TaskCompleted, action: CompleteJob}], ps: 1, chief: 1"
    assert compile_spec(JOBS % policies).codes == ["TF502"]
    monkeypatch.setattr(
        "tfgitops.admission.admit.judge_drift",
        lambda *_: [DRIFT_RULES.fault("drift-dropped", ("spec", "queue"), place="x", after="y")],
    )
    assert compile_spec(JOBS % policies).codes == ["TF502", "TF502"]


@pytest.mark.parametrize("plugin", ["ray", "pytorch", "tensorflow"])
def test_a_discovery_plugin_is_refused_for_a_reason_that_holds(compile_spec: Compile, plugin: str) -> None:
    beside = compile_spec(JOBS % f", plugins: {{{plugin}: []}}")
    alone = compile_spec(f"jobs:\n  train: {{image: x, tasks: {{head: 1}}, plugins: {{{plugin}: []}}}}\n")
    assert beside.codes == alone.codes == ["TF502"]
    assert "TF_CONFIG and the hosts are written already" in beside.text
    assert "TF_CONFIG" not in alone.text
    assert "no manifest or review shows it" in alone.text


@pytest.mark.parametrize("field", ["hostname", "subdomain"])
def test_a_field_that_volcano_writes_is_refused_without_talk_of_tf_config(compile_spec: Compile, field: str) -> None:
    result = compile_spec(f"jobs:\n  train: {{image: x, tasks: {{head: {{pod: {{spec: {{{field}: a}}}}}}}}}}\n")
    assert result.codes == ["TF402"]
    assert "TF_CONFIG" not in result.text


def test_a_plugin_that_writes_only_an_annotation_stands_beside_discovery(compile_spec: Compile) -> None:
    assert compile_spec(JOBS % ", plugins: {hcclrank: []}").ok
