"""Slots of nodes: pods share one just where Kubernetes would not put them on one node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfgitops_nodes.pools import slots_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tfgitops.testing import Result

    Port = tuple[int, str, str]

NODES = "nodes: {some: {count: 2}}"
ANY = "0.0.0.0"  # noqa: S104 - a hostIP
LABELS = {"app": "x", "rank": "2"}
SELF = {"matchLabels": {"app": "x"}}


def planned(*templates: Mapping[str, Any]) -> dict[str, Any]:
    """Return a planned Job with a task of each template."""
    tasks = [{"name": f"task-{index}", "template": template} for index, template in enumerate(templates)]
    return {"metadata": {"name": "train-00000000", "namespace": "ml"}, "spec": {"queue": "default", "tasks": tasks}}


def with_ports(ports: set[Port]) -> dict[str, Any]:
    listed = [
        {"containerPort": 1, "hostPort": number, "protocol": protocol, **({"hostIP": address} if address else {})}
        for number, protocol, address in sorted(ports)
    ]
    return {"spec": {"containers": [{"ports": listed}]}}


def conflict(one: Port, other: Port) -> bool:
    """Tell whether a node has no room for both, as the scheduler's `HostPortInfo.CheckConflict` does."""
    addresses = {one[2] or ANY, other[2] or ANY}
    return one[:2] == other[:2] and (len(addresses) == 1 or ANY in addresses)


@given(
    st.lists(
        st.sets(
            st.tuples(
                st.integers(1, 2), st.sampled_from(["TCP", "UDP"]), st.sampled_from(["", ANY, "10.0.0.1", "::1"])
            ),
            max_size=3,
        ),
        min_size=2,
        max_size=4,
    )
)
def test_pods_share_a_slot_where_their_ports_conflict(tasks: list[set[Port]]) -> None:
    taken = [{slot for slot, _ in amounts} for amounts in slots_of(planned(*map(with_ports, tasks)))]
    for ours, our_slots in zip(tasks, taken, strict=True):
        for theirs, their_slots in zip(tasks, taken, strict=True):
            assert bool(our_slots & their_slots) == any(conflict(one, other) for one in ours for other in theirs)


def test_ports_of_init_containers_count_only_while_the_pod_runs() -> None:
    sidecar = {"restartPolicy": "Always", "ports": [{"containerPort": 3}]}
    init = {"ports": [{"containerPort": 4, "hostPort": 4}]}
    spec = {"hostNetwork": True, "containers": [{}], "initContainers": [sidecar, init]}
    assert [slot for slot, _ in slots_of(planned({"spec": spec}))[0]] == ["with host port 3 free"]


def apart(**term: Any) -> dict[str, Any]:
    """Return a pod template whose one required term has its pods keep apart by node, unless it says otherwise."""
    whole = {"topologyKey": "kubernetes.io/hostname", "labelSelector": SELF, **term}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [whole]}}
    return {"metadata": {"labels": LABELS}, "spec": {"affinity": affinity, "containers": [{}]}}


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, **({"values": list(values)} if values else {})}]}


CERTAIN = {
    "its own label": {},
    "all pods": {"labelSelector": {}},
    "one of several values": {"labelSelector": expression("app", "In", "w", "x")},
    "a label that it has": {"labelSelector": expression("rank", "Exists")},
    "a label that it has not": {"labelSelector": expression("zone", "DoesNotExist")},
    "not another value": {"labelSelector": expression("app", "NotIn", "y")},
    "its namespace by name": {"namespaces": ["other", "ml"]},
    "all namespaces": {"namespaceSelector": {}},
    "its namespace, and those with a label": {"namespaces": ["ml"], "namespaceSelector": SELF},
    "its own value of a label": {"matchLabelKeys": ["rank"]},
    "a key that it has not, which is passed over": {"mismatchLabelKeys": ["zone"]},
    "the job, as Volcano labels it": {"labelSelector": {"matchLabels": {"volcano.sh/job-name": "train-00000000"}}},
    "the task, as Volcano labels it": {"labelSelector": expression("volcano.sh/task-spec", "In", "task-0")},
}


@pytest.mark.parametrize("term", CERTAIN.values(), ids=CERTAIN)
def test_pods_that_a_term_of_their_own_selects_keep_apart(term: dict[str, Any]) -> None:
    [(slot, _)] = slots_of(planned(apart(**term)))[0]
    assert slot.startswith("to keep pods ")


UNSURE = {
    "another label": {"labelSelector": {"matchLabels": {"app": "y"}}},
    "one label of two": {"labelSelector": {"matchLabels": {"app": "x", "rank": "3"}}},
    "no pod": {"labelSelector": None},
    "another value": {"labelSelector": expression("app", "NotIn", "x")},
    "another namespace": {"namespaces": ["other"]},
    "namespaces by labels that nobody knows": {"namespaceSelector": SELF},
    "another value of a label": {"mismatchLabelKeys": ["rank"]},
    "zones": {"topologyKey": "topology.kubernetes.io/zone"},
    "an index that is another for each pod": {"labelSelector": {"matchLabels": {"volcano.sh/task-index": "0"}}},
    "all pods of one index": {"matchLabelKeys": ["volcano.sh/task-index"]},
    "another job": {"labelSelector": {"matchLabels": {"volcano.sh/job-name": "train-11111111"}}},
}


@pytest.mark.parametrize("term", UNSURE.values(), ids=UNSURE)
def test_a_term_that_may_select_others_alone_is_left_out(term: dict[str, Any]) -> None:
    assert slots_of(planned(apart(**term))) == [()]


def test_tasks_with_equal_terms_share_a_slot() -> None:
    same = apart(labelSelector=expression("app", "In", "x"))
    by_rank = apart(matchLabelKeys=["rank"])
    first, second, third = slots_of(planned(apart(), same, by_rank))
    assert first == second != third


def keeping_apart(selector: str) -> str:
    term = f"{{topologyKey: kubernetes.io/hostname, labelSelector: {{matchLabels: {{{selector}}}}}}}"
    required = f"{{requiredDuringSchedulingIgnoredDuringExecution: [{term}]}}"
    return f"pod: {{spec: {{affinity: {{podAntiAffinity: {required}}}}}}}"


HOST = "pod: {spec: {hostNetwork: true}}"
PORT = "container: {ports: [{name: x, containerPort: 7, hostPort: 7, protocol: UDP}]}"
ANOTHER_PORT = "container: {ports: [{name: x, containerPort: 8, hostPort: 8, protocol: UDP}]}"
REFUSED = {
    "pods on the network of the node": (
        f"worker: 4, {HOST}", "true",
        "the gang of 'train' needs 4 nodes with host port 2222 free, and the pools it may use ('some', 2 nodes) have 2",
    ),
    "roles alike, and all their ports": (
        f"ps: 1, worker: 2, ports: {{metrics: 9090}}, {HOST}", "true",
        "needs 3 nodes with host ports 2222 and 9090 free",
    ),
    "a port of the node": (
        f"ps: 3, worker: {{replicas: 3, {PORT}}}",
        "ports", "needs 3 nodes with host port 7/UDP free",
    ),
    "pods that keep apart": (
        f"worker: 4, {keeping_apart('tfgitops/job: train')}", "podAntiAffinity",
        "needs 4 nodes to keep pods with tfgitops/job: train apart",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("keys", "marked", "said"), REFUSED.values(), ids=REFUSED)
def test_more_pods_than_nodes_for_them_are_refused(
    keys: str, marked: str, said: str, compile_spec: Callable[[str], Result]
) -> None:
    result = compile_spec(f"{NODES}\njobs:\n  train: {{image: a, {keys}}}\n")
    assert result.codes == ["NODES03"], result.text
    assert said in result.text
    [problem] = result.compiled.diagnostics
    assert problem.span is not None
    start = problem.span.column - 1
    assert problem.span.excerpt[start : start + problem.span.width] == marked
    assert "note: the pool 'some'" in result.text


ROOM = {
    "a node for each": f"worker: 2, {HOST}",
    "another port for each role": f"ps: {{replicas: 2, {PORT}}}, worker: {{replicas: 2, {ANOTHER_PORT}}}",
    "roles that keep apart, each from its like": (
        f"ps: {{replicas: 2, {keeping_apart('volcano.sh/task-spec: ps')}}},"
        f" worker: {{replicas: 2, {keeping_apart('volcano.sh/task-spec: worker')}}}"
    ),
    "as many as must run at once": f"tasks: {{shard: {{replicas: 4, minAvailable: 2}}}}, {HOST}, ports: {{x: 7}}",
}


@pytest.mark.parametrize("keys", ROOM.values(), ids=ROOM)
def test_pods_with_a_node_for_each_are_accepted(keys: str, compile_spec: Callable[[str], Result]) -> None:
    result = compile_spec(f"{NODES}\njobs:\n  train: {{image: a, {keys}}}\n")
    assert result.ok, result.text


def test_slots_are_packed_beside_amounts(compile_spec: Callable[[str], Result]) -> None:
    """Each node has a port for one of the two that need it, and cpu for two chiefs and ps only if these are apart."""
    roles = f"chief: {{cpu: 6, {PORT}}}, ps: {{cpu: 4, {PORT}}}, worker: {{replicas: 2, cpu: 5}}"
    text = f"jobs:\n  train: {{image: a, {roles}}}\n"
    assert compile_spec(f"nodes: {{some: {{count: 2, cpu: 11}}}}\n{text}").ok
    result = compile_spec(f"nodes: {{some: {{count: 2, cpu: 10}}}}\n{text}")
    assert result.codes == ["NODES03"], result.text
    assert "1 chief with 6 cpu and 1 node with host port 7/UDP free" in result.text
