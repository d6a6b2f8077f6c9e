"""Faults of planned manifests become problems of the spec: each once, with the code and the words that fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

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
