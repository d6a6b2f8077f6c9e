"""A fault in a manifest is shown on the words of the spec that caused it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfgitops.testing import Result

CASES = [
    # overlays, by Kubernetes's list keys whatever their order
    ("worker: 1, container: {readinessProbe: {tcpSocket: {port: 99999}}}", "99999"),
    ("worker: {container: {securityContext: {runAsUser: -1}}}", "-1"),
    ("worker: 1, pod: {spec: {terminationGracePeriodSeconds: -7}}", "-7"),
    ("worker: 1, pod: {spec: {volumes: [{name: a, emptyDir: {}}, {name: b, emptyDir: {medium: Disk}}]}}", "Disk"),
    ("worker: 1, pod: {spec: {containers: [{name: tensorflow, imagePullPolicy: Sometimes}]}}", "Sometimes"),
    ("worker: 1, env: {Z: 1}, container: {env: [{name: A, valueFrom: {}}]}", "valueFrom"),
    ("worker: 1, pod: {spec: {initContainers: [{name: i, image: a, stdin: true, lifecycle: {}}]}}", "lifecycle"),
    ("worker: 1, pod: {spec: {dnsPolicy: Nowhere}}", "Nowhere"),
    ("worker: 1, pod: {metadata: {labels: {team: a b}}}", "a b"),
    # keys of the spec itself
    ("worker: {cpu: {request: 4, limit: 2}}", "4"),
    ("worker: 1, cpu: {request: 4, limit: 2}", "4"),
    (
        "worker: 1, policies: [{event: PodFailed, action: AbortJob}, {event: PodFailed, action: RestartJob}]",
        "PodFailed",
    ),
    ("worker: {policies: [{event: PodPending, action: RestartJob}]}", "{event: PodPending, action: RestartJob}"),
    ("worker: 1, tolerations: [{key: a, operator: Exists}, {key: b, effect: Never}]", "Never"),
    ("worker: 1, plugins: {svc: [--disable-network-policy=true, --colour=red]}", "--colour=red"),
    ("worker: 1, plugins: {nothing: []}", "nothing"),
    ("worker: {container: {ports: [{containerPort: 80, name: x}], env: []}, ports: {x: 90}}", "x"),
]


@pytest.mark.parametrize(("job", "words"), CASES)
def test_the_words_that_caused_a_fault_are_marked(compile_spec: Callable[[str], Result], job: str, words: str) -> None:
    result = compile_spec(f"jobs:\n  train: {{image: a, {job}}}\n")
    assert not result.ok
    spans = [diagnostic.span for diagnostic in result.compiled.diagnostics]
    marked = [span.excerpt[span.column - 1 :][: span.width] for span in spans if span]
    assert words in marked, result.text


def test_what_a_plugin_added_is_shown_on_the_line_that_asked_for_it(compile_spec: Callable[[str], Result]) -> None:
    volumes = "volumes: {data: {claim: data, path: '/da:ta'}}\n"
    result = compile_spec(f"{volumes}jobs: {{train: {{image: a, worker: 1, volumes: [data]}}}}\n")
    assert "path: '/da:ta'" in result.text


def test_what_defaults_brought_is_shown_there_and_says_for_whom(compile_spec: Callable[[str], Result]) -> None:
    defaults = "defaults:\n  container: {readinessProbe: {tcpSocket: {port: 99999}}}\n"
    result = compile_spec(f"{defaults}jobs:\n  a: {{image: a, worker: 1}}\n  b: {{image: a, worker: 1}}\n")
    assert result.codes == ["TF501"]  # said once, however many inherit it
    assert "5 |   container:" in result.text
    assert "inherited by the job 'a'" in result.text
