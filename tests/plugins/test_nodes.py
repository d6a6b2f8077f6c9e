"""Declared nodes: what cannot run on them is refused, and nothing that could."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tfgitops_nodes.packing import fits

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfgitops.testing import Result

NODES = """
nodes:
  a100:
    count: 2
    cpu: 60
    memory: 480Gi
    accelerators: {nvidia.com/gpu: 8, nvidia.com/mig-1g.10gb: 7}
    labels: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB, zone: a, generation: 8}
  plain: {count: 3, cpu: 16, memory: 64Gi, labels: {zone: b}}
  shared: {count: 1, accelerators: {volcano.sh/vgpu-number: 10}, labels: {zone: c}}
"""


def affinity(*terms: str) -> str:
    joined = ", ".join(terms)
    required = f"requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{joined}]}}"
    return f"{{image: a, worker: 1, pod: {{spec: {{affinity: {{nodeAffinity: {{{required}}}}}}}}}}}"


def term(key: str, operator: str, values: str = "") -> str:
    return f"{{matchExpressions: [{{key: {key}, operator: {operator}{values and f', values: [{values}]'}}}]}}"


def job(keys: str) -> str:
    return f"{{image: a, {keys}}}"


def sidecar(cpu: int) -> str:
    return f"{{name: s, image: s, restartPolicy: Always, resources: {{requests: {{cpu: {cpu}}}}}}}"


def init(cpu: int) -> str:
    return f"{{name: i, image: i, resources: {{requests: {{cpu: {cpu}}}}}}}"


def beside(cpu: int, *containers: str) -> str:
    pod = f"pod: {{spec: {{nodeSelector: {{zone: b}}, initContainers: [{', '.join(containers)}]}}}}"
    return job(f"worker: {{cpu: {cpu}}}, {pod}")


FINE = {
    "fills both nodes": job("worker: {replicas: 2, cpu: 60, memory: 480Gi, gpu: 8}"),
    "asks for nothing": job("worker: 1000"),
    "a pool without cpu has no limit": job("worker: {cpu: 1000, memory: 100Ti, nodeSelector: {zone: c}}"),
    "a product": job("worker: {gpu: {count: 8, product: NVIDIA-A100-SXM4-80GB}}"),
    "a slice": job("worker: {replicas: 14, gpu: {mig: 1g.10gb}}"),
    "a share of a GPU, whose memory and cores are no resources of a node": job(
        "worker: {replicas: 10, gpu: {vgpu: {number: 1, memory: 8192, cores: 25}}}"
    ),
    "storage and huge pages are not looked at": job(
        "worker: {memory: 1Gi, container: {resources: {limits: {ephemeral-storage: 9Ti, hugepages-2Mi: 4Gi}}}}"
    ),
    "ps and workers on pools of their own": job(
        "ps: {replicas: 3, cpu: 16}, worker: {replicas: 2, cpu: 60, gpu: 8}"
    ),
    "small pods beside large ones": job("chief: {cpu: 20}, worker: {replicas: 2, cpu: 30, gpu: 1}, ps: {cpu: 10}"),
    "one of two terms": affinity(term("zone", "In", "x"), term("zone", "In", "b, c")),
    "a label that is there": affinity(term("generation", "Exists")),
    "a label that is not": affinity(term("generation", "DoesNotExist")),
    "another value": affinity(term("zone", "NotIn", "a, b")),
    "anything but": affinity(term("disk", "NotIn", "hdd")),
    "a number": affinity(term("generation", "Gt", '"7"')),
    "a smaller number": affinity(term("generation", "Lt", '"9"')),
    "the name of one node, which no pool can say": job("worker: {nodeSelector: {kubernetes.io/hostname: n1}}"),
    "a field, which no pool can say": affinity(
        "{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}"
    ),
    "a sidecar and the training": beside(10, sidecar(6)),
    "an init container runs alone": beside(10, init(16)),
    "a request below its limit": job("worker: {cpu: {request: 60, limit: 90}}"),
    "tasks that wait for others come when these are done": job(
        "tasks: {first: {replicas: 2, cpu: 60}, then: {replicas: 2, cpu: 60, dependsOn: [first]}},"
        " nodeSelector: {zone: a}"
    ),
    "any two pods, since Volcano counts no role where some wait": job(
        "tasks: {first: {replicas: 2, cpu: 60}, other: {replicas: 4, minAvailable: 2, cpu: 60},"
        " then: {cpu: 1, dependsOn: [first]}}, minAvailable: 2, nodeSelector: {zone: a}"
    ),
    "a gang smaller than its roles": job(
        "tasks: {shard: {replicas: 100, minAvailable: 1, cpu: 60, nodeSelector: {zone: a}}}, minAvailable: 2"
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", FINE.values(), ids=FINE)
def test_what_has_room_is_accepted(text: str, compile_spec: Callable[[str], Result]) -> None:
    result = compile_spec(f"{NODES}jobs:\n  train: {text}\n")
    assert result.ok, result.text


IMPOSSIBLE = {
    "a product that no pool has": (
        job("worker: {gpu: {count: 1, product: NVIDIA-A100-SXM4-80G}}"), "NODES01",
        ["did you mean 'NVIDIA-A100-SXM4-80GB'?", "the labels of 'a100'"],
    ),
    "a label of which pools say nothing": (
        job("worker: {gpu: 1, nodeSelector: {disk: ssd}}"), "NODES01", ["if the nodes of 'a100' have this label"],
    ),
    "labels that no pool has together": (
        job("worker: {nodeSelector: {zone: b, generation: 8}}"), "NODES01",
        ["no pool that suits it otherwise", "help: select other nodes"],
    ),
    "labels that smaller pools have": (
        job("worker: {gpu: 1, nodeSelector: {zone: b, disk: ssd}}"), "NODES01",
        ["disk: ssd, and no pool has such nodes", "the labels of 'a100'"],
    ),
    "a label that smaller pools have": (
        job("worker: {gpu: 1, nodeSelector: {zone: b}}"), "NODES02", ["(pool 'plain') has 0"],
    ),
    "a label by an overlay": (
        job("worker: 1, pod: {spec: {nodeSelector: {zone: d}}}"), "NODES01", ["expected: zone: a or b or c"],
    ),
    "no term": (affinity(term("zone", "In", "x, y"), term("zone", "Lt", '"5"')), "NODES01", ["zone In x, y"]),
    "excluded everywhere": (affinity(term("y", "Exists"), term("x", "Exists")), "NODES01", []),
    "cpu above every node": (
        job("worker: {cpu: 61, nodeSelector: {zone: a}}"), "NODES02",
        ["asks for 61 cpu, and the largest node it may run on (pool 'a100') has 60"],
    ),
    "memory above every node": (
        job("worker: {memory: 1Ti, nodeSelector: {zone: b}}"), "NODES02", ["1Ti memory", "(pool 'plain') has 64Gi"],
    ),
    "cpu above the nodes that have GPUs": (
        job("worker: {cpu: 61, gpu: 1}"), "NODES02", ["the largest node with 1 nvidia.com/gpu it may run on"],
    ),
    "devices above every node": (job("worker: {gpu: 9}"), "NODES02", ["9 nvidia.com/gpu", "has 8"]),
    "a slice of another size": (
        job("worker: {gpu: {mig: 1g.5gb}}"), "NODES02", ["did you mean 'nvidia.com/mig-1g.10gb'?", "has 0"],
    ),
    "a vendor that is not there": (job("worker: {gpu: {resource: amd.com/gpu}}"), "NODES02", ["1 amd.com/gpu"]),
    "a sidecar counts": (beside(10, sidecar(7)), "NODES02", ["17 cpu"]),
    "a sidecar runs while others start": (beside(1, sidecar(7), init(10)), "NODES02", ["17 cpu"]),
    "a large init container": (beside(1, init(17)), "NODES02", ["17 cpu"]),
    "more GPUs than there are": (
        job("ps: 1, worker: {replicas: 17, gpu: 1}"), "NODES03",
        ["the gang of 'train' needs 17 nvidia.com/gpu", "('a100', 2 nodes) have 16 together"],
    ),
    "thousands of GPUs": (
        job("worker: {replicas: 250, gpu: 8}"), "NODES03",
        ["needs 2000 nvidia.com/gpu, and", "found: 2000 nvidia.com/gpu"],
    ),
    "thousands of pods": (
        job("worker: {replicas: 2000, cpu: 10, nodeSelector: {zone: a}}"), "NODES03", ["needs 20000 cpu"],
    ),
    "thousands of GPUs for one pod": (
        job("worker: {gpu: {resource: example.com/core, count: 1000}}"), "NODES02", ["asks for 1000 example.com/core"],
    ),
    "two roles on one pool": (
        job("ps: {cpu: 30}, worker: {replicas: 2, cpu: 50}, nodeSelector: {zone: a}"), "NODES03",
        ["the gang of 'train' needs 130 cpu"],
    ),
    "one role of several that share a pool": (
        job("ps: {cpu: 2}, worker: {replicas: 3, cpu: 50, gpu: 1}"), "NODES03",
        ["the pods of 'worker' of 'train' need 150 cpu"],
    ),
    "room that is in pieces": (
        job("worker: {replicas: 3, gpu: 5}"), "NODES03", ["needs 3 pods of 'worker'", "have room for 2"],
    ),
    "two roles that are larger than half a node": (
        job("chief: {cpu: 1}, ps: {replicas: 2, cpu: 32}, worker: {cpu: 40}, nodeSelector: {zone: a}"), "NODES03",
        ["the 3 pods of 'ps' and 'worker' of 'train' do not go together on the pools they may use ('a100', 2 nodes)"],
    ),
    "a cluster that waits for its ps runs beside it": (
        job("ps: {cpu: 50}, worker: {replicas: 2, cpu: 50, gpu: 1, dependsOn: [ps]}, nodeSelector: {zone: a}"),
        "NODES03", ["150 cpu"],
    ),
    "a task that waits for servers runs beside them": (
        job("worker: {replicas: 2, cpu: 60}, tasks: {report: {cpu: 1, dependsOn: [worker]}}, nodeSelector: {zone: a}"),
        "NODES03", ["121 cpu"],
    ),
    "tasks that wait for others must fit a node all the same": (
        job("tasks: {first: {cpu: 1}, then: {cpu: 61, dependsOn: [first]}}, nodeSelector: {zone: a}"), "NODES02", [],
    ),
    "as many as the job needs of any": (
        job("tasks: {shard: {replicas: 100, minAvailable: 1, cpu: 60, nodeSelector: {zone: a}}}, minAvailable: 3"),
        "NODES03", ["needs 180 cpu"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "code", "said"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_what_has_no_room_is_refused(
    text: str, code: str, said: list[str], compile_spec: Callable[[str], Result]
) -> None:
    result = compile_spec(f"{NODES}jobs:\n  train: {text}\n")
    assert result.codes == [code], result.text
    assert [words for words in said if words not in result.text] == []


PLACES = {
    "gpu": ("worker: {gpu: 9}", "9"),
    "product": ("worker: {gpu: {product: NVIDIA}}", "NVIDIA"),
    "cpu of the role": ("worker: {cpu: 99, gpu: 1}", "99"),
    "cpu of the job": ("worker: {gpu: 1}, cpu: 98", "98"),
    "request": ("worker: {gpu: 1, cpu: {limit: 100, request: 99}}", "99"),
    "overlay": ("worker: {gpu: 1}, container: {resources: {requests: {cpu: 97}}}", "97"),
    "selector by an overlay": ("worker: {pod: {spec: {nodeSelector: {zone: zzz}}}}", "zzz"),
    "selector": ("worker: 1, nodeSelector: {zone: zzz}", "zzz"),
    "replicas": ("worker: {replicas: 3, gpu: 5}", "3"),
    "replicas, short": ("worker: 3, gpu: 5", "3"),
}


@pytest.mark.parametrize(("text", "marked"), PLACES.values(), ids=PLACES)
def test_the_line_that_asked_is_shown(text: str, marked: str, compile_spec: Callable[[str], Result]) -> None:
    result = compile_spec(f"{NODES}jobs:\n  train: {job(text)}\n")
    [problem] = result.compiled.diagnostics
    assert problem.span is not None
    start = problem.span.column - 1
    assert problem.span.excerpt[start : start + problem.span.width] == marked, result.text
    assert problem.notes


def test_an_environment_may_change_and_remove_the_pools_of_its_base(compile_spec: Callable[..., Result]) -> None:
    base = {"../base.yaml": f"apiVersion: tfgitops/v1alpha1\nkind: Environment\n{NODES}"}
    jobs = "jobs:\n  train: {image: a, worker: {replicas: 3, cpu: 60, gpu: 8}}\n"

    def compiled(nodes: str) -> Result:
        return compile_spec(f"extends: ../base.yaml\n{nodes}\n{jobs}", base)

    assert compiled("").codes == ["NODES03", "NODES03"]
    assert compiled("nodes: {a100: {count: 3}}").ok
    assert compiled("nodes: {a100: null}").codes == ["NODES02"]
    assert compiled("nodes: null").ok


def test_jobs_alike_are_judged_once(compile_spec: Callable[[str], Result]) -> None:
    text = job("ps: {cpu: 16}, worker: {replicas: 4, cpu: 16, gpu: 1}")
    fits.cache_clear()
    assert compile_spec(f"{NODES}jobs:\n" + "".join(f"  train-{index}: {text}\n" for index in range(20))).ok
    assert (fits.cache_info().misses, fits.cache_info().hits) == (1, 19)


def test_one_mistake_in_the_defaults_is_said_once(compile_spec: Callable[[str], Result]) -> None:
    result = compile_spec(
        f"{NODES}defaults: {{image: a, worker: {{gpu: 9}}}}\njobs: {{one: {{worker: 1}}, two: {{worker: 1}}}}\n"
    )
    assert result.codes == ["NODES02"], result.text
    assert "defaults: {image: a, worker: {gpu: 9}}" in result.text


SHAPE = {
    "{a: {cpu: 4}}": "'nodes.a' has no 'count'",
    "{a: {count: 0}}": "must be at least 1",
    "{a: {count: 1, cpu: 4Gi}}": "an amount of memory",
    "{a: {count: 1, memory: 4GB}}": "not a quantity",
    "{a: {count: 1, gpu: 8}}": "write `accelerators: {nvidia.com/gpu: 8}`",
    "{a: {count: 1, capacity: {}}}": "directly",
    "{a: {count: 1, taints: []}}": "taints are not looked at",
    "{a: {count: 1, accelerators: {gpu: 8}}}": "not the resource of a device",
    "{a: {count: 1, accelerators: {nvidia.com/gpu: half}}}": "must be an integer",
    "{a: {count: 1, labels: {zone: a b}}}": "cannot be the value of a label",
    "{a: {count: 1, lables: {}}}": "did you mean 'labels'?",
    "{A_1: {count: 1}}": "write 'a-1'",
}


@pytest.mark.parametrize(("nodes", "said"), SHAPE.items())
def test_a_pool_that_is_written_wrong(nodes: str, said: str, compile_spec: Callable[[str], Result]) -> None:
    result = compile_spec(f"nodes: {nodes}\njobs:\n  train: {{image: a, worker: 1}}\n")
    assert not result.ok
    assert said in result.text
