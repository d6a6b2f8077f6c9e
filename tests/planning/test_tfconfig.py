"""Discovery: what the pods of a job are told of each other, and what is said of variables without a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tfgitops.planning.expansion import in_order, references

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfgitops.testing import Result


def test_each_pod_knows_the_cluster_and_its_own_place(compile_spec: Callable[[str], Result]) -> None:
    result = compile_spec("jobs: {train: {image: a, chief: {}, ps: 2, worker: 3}}")
    name = result.job()["metadata"]["name"]
    config = result.tf_config("worker", index=2)
    assert config["task"] == {"type": "worker", "index": 2}
    assert config["cluster"] == {
        "chief": [f"{name}-chief-0.{name}:2222"],
        "ps": [f"{name}-ps-{index}.{name}:2222" for index in range(2)],
        "worker": [f"{name}-worker-{index}.{name}:2222" for index in range(3)],
    }
    assert result.tf_config("ps")["cluster"] == config["cluster"]


def test_the_evaluator_stands_beside_the_cluster(compile_spec: Callable[[str], Result]) -> None:
    result = compile_spec("jobs: {train: {image: a, worker: 2, evaluator: 1}}")
    assert result.tf_config("evaluator")["task"] == {"type": "evaluator", "index": 0}
    assert "evaluator" not in result.tf_config("worker")["cluster"]


def test_the_index_stands_before_what_refers_to_it(compile_spec: Callable[[str], Result]) -> None:
    result = compile_spec("jobs: {train: {image: a, worker: 2, env: {A: $(B), B: $(RUN)}}}")
    names = [entry["name"] for entry in result.container("worker")["env"]]
    assert names == ["RUN", "TASK_INDEX", "TF_CONFIG", "B", "A"]


@pytest.mark.parametrize(
    "text", ["[bash, -c, 'echo $PS_HOSTS']", "$(PS_HOSTS)", "'echo $PS_HOSTS'", "'echo ${PS_HOSTS}'"]
)
def test_a_command_is_given_the_hosts_that_it_refers_to(compile_spec: Callable[[str], Result], text: str) -> None:
    result = compile_spec(f"jobs: {{train: {{image: a, ps: 2, worker: 1, command: {text}}}}}")
    name = result.job()["metadata"]["name"]
    assert result.env("worker")["PS_HOSTS"] == f"{name}-ps-0.{name}:2222,{name}-ps-1.{name}:2222"
    assert "WORKER_HOSTS" not in result.env("worker")


def test_a_task_outside_is_named_with_underscores(compile_spec: Callable[[str], Result]) -> None:
    result = compile_spec("jobs: {train: {image: a, args: [$(DATA_FEED_HOSTS)], worker: 1, tasks: {data-feed: 1}}}")
    assert result.env("worker")["DATA_FEED_HOSTS"].endswith(":2222")
    assert "TF_CONFIG" not in result.env("data-feed")


@pytest.mark.parametrize(
    ("ports", "port"),
    [
        ("tasks: {feed: 1}", 2222),  # none: as TensorFlow's servers
        ("tasks: {feed: 1}, port: 3333", 3333),
        ("tasks: {feed: {ports: {grpc: 5050}}}", 5050),
        ("tasks: {feed: {ports: {grpc: 5050}}}, port: 3333", 5050),
        ("tasks: {feed: {ports: {grpc: 5050, metrics: 9090}}}, port: 5050", 5050),
        ("tasks: {feed: {ports: {grpc: 5050}}}, ports: {metrics: 9090}", 5050),  # its own before everybody's
        ("tasks: {feed: {ports: {metrics: 5050}}}, ports: {metrics: 9090}", 5050),
        ("tasks: {feed: 1}, ports: {grpc: 5050}", 5050),
    ],
)
def test_a_task_outside_is_found_at_the_port_that_it_serves(
    compile_spec: Callable[[str], Result], ports: str, port: int
) -> None:
    result = compile_spec(f"jobs: {{train: {{image: a, args: [$(FEED_HOSTS) $(WORKER_HOSTS)], worker: 1, {ports}}}}}")
    assert result.text == ""
    assert result.env("worker")["FEED_HOSTS"].endswith(f":{port}")
    servers = result.tf_config("worker")["cluster"]["worker"]
    assert result.env("worker")["WORKER_HOSTS"] == ",".join(servers)


@pytest.mark.parametrize(
    ("job", "marked"),
    [
        ("worker: {args: [a, --at=$(FEED_HOSTS)]}", "--at=$(FEED_HOSTS)"),
        ("worker: {env: {A: $(FEED_HOSTS)}}", "$(FEED_HOSTS)"),
        ("worker: {command: 'a $FEED_HOSTS'}", "'a $FEED_HOSTS'"),
        ("worker: 1, pod: {spec: {initContainers: [{name: i, image: b, args: [$(FEED_HOSTS)]}]}}", "$(FEED_HOSTS)"),
    ],
)
def test_where_a_task_has_several_ports_its_hosts_are_in_doubt(
    compile_spec: Callable[[str], Result], job: str, marked: str
) -> None:
    tasks = "tasks: {feed: {ports: {metrics: 9090, grpc: 5050}}}"
    result = compile_spec(f"jobs: {{train: {{image: a, {job}, {tasks}}}}}")
    assert result.ok
    assert set(result.codes) == {"TF307"}
    assert "grpc 5050, metrics 9090" in result.text
    assert "one of 5050, 9090" in result.text
    span = result.compiled.diagnostics[0].span
    assert span is not None
    assert span.excerpt[span.column - 1 :][: span.width] == marked


def test_ports_that_nobody_asks_for_are_in_no_doubt(compile_spec: Callable[[str], Result]) -> None:
    assert compile_spec("jobs: {a: {image: a, worker: 1, tasks: {feed: {ports: {a: 1, b: 2}}}}}").text == ""


def test_init_containers_get_what_they_refer_to_and_no_more(compile_spec: Callable[[str], Result]) -> None:
    init = "{name: i, image: b, command: [mkdir, /log/$(RUN)]}"
    result = compile_spec(f"jobs: {{train: {{image: a, worker: 1, pod: {{spec: {{initContainers: [{init}]}}}}}}}}")
    assert [entry["name"] for entry in result.pod("worker")["initContainers"][0]["env"]] == ["RUN"]


def test_a_role_that_the_job_has_not_has_no_hosts(compile_spec: Callable[[str], Result]) -> None:
    result = compile_spec("jobs: {train: {image: a, worker: 2, env: {X: $(PS_HOSTS)}}}")
    assert result.codes == ["TF305"]
    assert "env: {X: $(PS_HOSTS)}" in result.text
    assert "add the role `ps`" in result.text


def test_a_misspelt_variable_in_a_list_is_a_warning(compile_spec: Callable[[str], Result]) -> None:
    result = compile_spec("jobs: {train: {image: a, worker: 2, args: [--hosts=$(WORKERS_HOSTS)]}}")
    assert result.ok
    assert "did you mean 'WORKER_HOSTS'?" in result.text


@pytest.mark.parametrize("command", ["[echo, $$(X)]", "'echo $(date) $$(X)'", "'echo $X ${Y}'"])
def test_escapes_and_what_a_shell_expands_are_not_ours(compile_spec: Callable[[str], Result], command: str) -> None:
    result = compile_spec(f"jobs: {{train: {{image: a, worker: 2, command: {command}}}}}")
    assert result.text == ""
    assert set(result.env("worker")) == {"TASK_INDEX", "TF_CONFIG"}


def test_a_shell_variable_where_no_shell_is_is_a_warning(compile_spec: Callable[[str], Result]) -> None:
    result = compile_spec("jobs: {train: {image: a, worker: 2, args: [--out=/log/$RUN]}}")
    assert (result.ok, result.codes) == (True, ["TF305"])
    assert "write $(RUN)" in result.text


def test_a_misspelt_variable_in_a_text_is_a_warning_too(compile_spec: Callable[[str], Result]) -> None:
    result = compile_spec("jobs: {train: {image: a, worker: 2, command: 'a --hosts=$(WORKER_HOST)'}}")
    assert (result.ok, result.codes) == (True, ["TF305"])
    assert "did you mean 'WORKER_HOSTS'?" in result.text


def test_a_folder_of_an_unknown_variable_is_refused(compile_spec: Callable[[str], Result]) -> None:
    volumes = "volumes: {log: {claim: log, path: /log, subPath: runs/$(RUNN)}}\n"
    result = compile_spec(f"{volumes}jobs: {{train: {{image: a, worker: 1, volumes: [log]}}}}")
    assert result.codes == ["TF305"]
    assert "did you mean 'RUN'?" in result.text


def test_a_list_of_hosts_that_linux_cannot_pass_on_is_refused(compile_spec: Callable[[str], Result]) -> None:
    result = compile_spec("jobs: {train: {image: a, worker: 3000}}")
    assert result.codes == ["TF303"]
    assert "131,071" in result.text


def test_variables_are_sorted_each_behind_those_it_needs() -> None:
    entries: list[dict[str, Any]] = [
        {"name": "C", "value": "$(B)"},
        {"name": "A", "value": "$(C)"},
        {"name": "B", "value": "x"},
        {"name": "D", "value": "$(D) $(NONE)"},
    ]
    assert [entry["name"] for entry in in_order(entries)] == ["B", "C", "A", "D"]


def test_a_circle_of_variables_is_no_endless_loop() -> None:
    entries = [{"name": "A", "value": "$(B)"}, {"name": "B", "value": "$(A)"}]
    assert {entry["name"] for entry in in_order(entries)} == {"A", "B"}


def test_references_are_found_wherever_kubernetes_expands_them() -> None:
    container = {
        "command": ["a", "$(A)"],
        "args": ["$$(NO) $(B)"],
        "env": [{"name": "X", "value": "$(C)"}],
        "volumeMounts": [{"subPathExpr": "$(D)"}],
        "workingDir": "$(E)",
    }
    assert sorted(references(container)) == ["A", "B", "C", "D"]
