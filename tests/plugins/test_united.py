"""What plugins contribute is united into the same bytes, however it is cut, named and ordered, or is a conflict."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest
from cuts import MISSING, cut
from fuzzed import fuzz
from hypothesis import given
from hypothesis import strategies as st

from tfgitops import Patch, Plugins, compile_environment, discover, hookimpl
from tfgitops.plugins.door import Plugin
from tfgitops.report.text import render
from tfgitops.targets.kubernetes.merge import RULES, union

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from tfgitops import Compiled
    from tfgitops.targets.kubernetes.merge import SchemaName

SPEC = """\
apiVersion: tfgitops/v1alpha1
kind: Environment
namespace: ml
queues: {vision: {capability: {cpu: 64, nvidia.com/gpu: 8}}}
volumes: {logs: {size: 10Gi, access: ReadWriteMany, path: /logs}}
jobs:
  train:
    image: tf:2.21
    queue: vision
    volumes: [logs]
    labels: {team: vision}
    chief: {}
    worker:
      replicas: 2
      gpu: 1
      tolerations: [{key: own, operator: Exists}]
"""
LINES = {("jobs", "train", key): line for line, key in enumerate(("image", "queue", "volumes", "labels"), start=8)}
SCHEMAS: dict[tuple[str, ...], SchemaName] = {
    ("job",): "Job", ("pod", "worker"): "PodTemplateSpec", ("container", "worker"): "Container",
}  # fmt: skip
BUNDLED = ("gpu", "nodes", "queue", "storage")
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"

Piece = tuple[tuple[str, ...], dict[str, Any]]


class Contributor:
    """A plugin that adds some pieces to each job, in an order of its own."""

    def __init__(self, pieces: Sequence[Piece], because: tuple[str, ...] = ("jobs", "train")) -> None:
        self._pieces, self._because = pieces, because

    @hookimpl
    def tfgitops_contribute(self) -> Iterator[Patch]:
        for target, value in self._pieces:
            yield Patch(target, value, self._because)


def _affinity(*terms: Any) -> dict[str, Any]:
    return {"spec": {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [*terms]}}}}}


def _term(*keys: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": "Exists"} for key in keys]}


def _pieces() -> Iterator[Piece]:
    """Yield what no two of which contradict each other, nor what the bundled plugins say."""
    pod, container = ("pod", "worker"), ("container", "worker")
    for name in ("a", "b", "c"):
        yield ("job",), {"metadata": {"annotations": {name: name}}}
        yield pod, {"metadata": {"labels": {name: name}}}
        yield pod, {"spec": {"nodeSelector": {name: name}}}
        yield pod, {"spec": {"tolerations": [{"key": name, "operator": "Exists"}, {"key": "b", "operator": "Exists"}]}}
        yield pod, {"spec": {"volumes": [{"name": name, "emptyDir": {"medium": "Memory"}}]}}
        yield container, {"volumeMounts": [{"name": "logs", "mountPath": f"/{name}"}]}
        yield container, {"env": [{"name": name.upper(), "value": name}, {"name": "Z", "value": "z"}]}
    for arguments in (["--disable-network-policy=true"], ["--disable-network-policy=true", "--inject-hosts-env=false"]):
        yield ("job",), {"spec": {"plugins": {"svc": arguments}}}
    for protocol in ("TCP", "UDP"):
        yield container, {"ports": [{"containerPort": 9000, "protocol": protocol, "name": protocol.lower()}]}
    yield container, {"ports": [{"containerPort": 9000, "name": "tcp"}]}
    yield container, {"volumeMounts": [{"name": "logs", "mountPath": "/logs"}]}
    yield container, {"volumeMounts": [{"mountPath": "/a", "readOnly": True, "name": "logs"}]}
    yield container, {"resources": {"limits": {"nvidia.com/gpu": "1"}}}
    yield pod, _affinity(_term("k1"), _term("k2"))
    yield pod, _affinity(_term("k3"))
    yield pod, _affinity(_term("k1", "k3"), _term("k2"))


PIECES = list(_pieces())


@pytest.fixture(scope="module")
def compiled_with(tmp_path_factory: pytest.TempPathFactory) -> Callable[[dict[str, Contributor]], Compiled]:
    folder: Path = tmp_path_factory.mktemp("united") / "environments" / "prod"
    folder.mkdir(parents=True)
    (folder / "environment.yaml").write_text(SPEC)
    bundled = discover().plugins

    def compile_with(others: dict[str, Contributor]) -> Compiled:
        plugins = [Plugin(name, hooks, "1", f"{name}.py") for name, hooks in others.items()]
        return compile_environment(folder, Plugins((*bundled, *plugins)))

    return compile_with


def texts(compiled: Compiled) -> list[str]:
    assert compiled.ok, render(compiled.diagnostics)
    return [file.text for file in compiled.files]


@fuzz(40)
@given(data=st.data())
def test_no_cut_no_name_and_no_order_changes_a_byte(
    compiled_with: Callable[[dict[str, Contributor]], Compiled], data: st.DataObject
) -> None:
    pieces = data.draw(st.lists(st.sampled_from(PIECES), min_size=1, unique_by=str))
    names = data.draw(
        st.lists(st.from_regex(r"[a-z]{1,6}", fullmatch=True), min_size=1, max_size=4, unique=True).filter(
            lambda names: not {*names} & {*BUNDLED}
        )
    )
    shares: dict[str, list[Piece]] = {name: [] for name in names}
    for piece in pieces:  # each goes to at least one, and what two of them say alike is one
        for name in data.draw(st.sets(st.sampled_from(names), min_size=1)):
            shares[name].append(piece)
    several = {name: Contributor(data.draw(st.permutations(share))) for name, share in shares.items()}
    assert texts(compiled_with(several)) == texts(compiled_with({"one": Contributor(pieces)}))


@fuzz(25)
@given(count=st.integers(1, 3), data=st.data())
def test_patches_may_be_cut_into_many(
    count: int, compiled_with: Callable[[dict[str, Contributor]], Compiled], data: st.DataObject
) -> None:
    shares: list[list[Piece]] = [[] for _ in range(count)]
    for target, schema in SCHEMAS.items():
        whole, conflicts = union([value for kind, value in PIECES if kind == target], schema)
        assert not conflicts
        for share, part in zip(shares, cut(whole, RULES[schema], count, data), strict=True):
            share.extend([(target, part)] * (part is not MISSING))
    several = {f"p{number}": Contributor(share) for number, share in enumerate(shares)}
    assert texts(compiled_with(several)) == texts(compiled_with({"one": Contributor(PIECES)}))


def test_names_before_and_behind_the_bundled_ones_make_no_difference(
    compiled_with: Callable[[dict[str, Contributor]], Compiled],
) -> None:
    first, second, third = (Contributor(PIECES[start::3]) for start in range(3))
    found = {
        tuple(texts(compiled_with(dict(zip(names, (first, second, third), strict=True)))))
        for names in permutations(("a", "h", "z"))
    }
    assert len(found) == 1


def test_requirements_of_node_affinity_are_added_to_every_term(
    compiled_with: Callable[[dict[str, Contributor]], Compiled],
) -> None:
    [text] = [
        file.text
        for file in compiled_with(
            {
                "one": Contributor([(("pod", "worker"), _affinity(_term("k1"), _term("k2")))]),
                "two": Contributor([(("pod", "worker"), _affinity(_term("k3")))]),
            }
        ).files
        if "kind: Job" in file.text
    ]
    assert [text.count(f"key: {key}\n") for key in ("k1", "k2", "k3")] == [1, 1, 2]


CONFLICTS = {
    "a label of the Job": (("job",), "metadata.labels.a", [{"metadata": {"labels": {"a": v}}} for v in "xyz"]),
    "a selector": (
        ("pod", "worker"), "worker.spec.nodeSelector.a", [{"spec": {"nodeSelector": {"a": v}}} for v in "xyz"],
    ),
    "a number": (("pod", "worker"), "worker.spec.priority", [{"spec": {"priority": v}} for v in (1, 2, 3)]),
    "a list that is one value": (("container", "worker"), "worker.args", [{"args": [v]} for v in "xyz"]),
    "a variable": (
        ("container", "worker"), "worker.env.A.value", [{"env": [{"name": "A", "value": v}]} for v in "xyz"],
    ),
    "the source of a variable": (
        ("container", "worker"), "worker.env.A",
        [
            {"env": [{"name": "A", "value": "x"}]},
            {"env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}]},
            {"env": [{"name": "A", "value": "z"}]},
        ],
    ),
    "a port": (
        ("container", "worker"), "worker.ports.9000/UDP.name",
        [{"ports": [{"containerPort": 9000, "protocol": "UDP", "name": v}]} for v in "xyz"],
    ),
    "a port without a protocol": (
        ("container", "worker"), "worker.ports.9000/TCP.name",
        [
            {"ports": [{"containerPort": 9000, "name": v, **protocol}]}
            for v, protocol in (("x", {}), ("y", {"protocol": "TCP"}), ("z", {}))
        ],
    ),
    "the source of a volume": (
        ("pod", "worker"), "worker.spec.volumes.v",
        [
            {"spec": {"volumes": [{"name": "v", source: {}}]}}
            for source in ("emptyDir", "downwardAPI", "projected")
        ],
    ),
    "a claim": (
        ("pod", "worker"), "worker.spec.volumes.v.persistentVolumeClaim.claimName",
        [{"spec": {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": v}}]}} for v in "xyz"],
    ),
    "a mount": (
        ("container", "worker"), "worker.volumeMounts./m.name",
        [{"volumeMounts": [{"mountPath": "/m", "name": v}]} for v in "xyz"],
    ),
    "an init container": (
        ("pod", "worker"), "worker.spec.initContainers.i.image",
        [{"spec": {"initContainers": [{"name": "i", "image": v, "restartPolicy": "Always"}]}} for v in "xyz"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("number", [2, 3])
@pytest.mark.parametrize("what", CONFLICTS)
def test_a_conflict_names_all_plugins_their_lines_and_the_field_whatever_the_order(
    what: str, number: int, compiled_with: Callable[[dict[str, Contributor]], Compiled]
) -> None:
    target, field, values = CONFLICTS[what]
    names = ["alpha", "kappa", "omega"][:number]  # before, between and behind the bundled ones
    for order in permutations(range(number)):
        others = {names[i]: Contributor([(target, values[i])], [*LINES][i]) for i in order}
        [found] = compiled_with(others).diagnostics
        assert found.code == "TF401"
        known = " and ".join((", ".join(f"'{name}'" for name in names[:-1]), f"'{names[-1]}'"))
        assert found.message == f"plugins {known} want different values for {field}"
        assert found.span is not None
        lines = {found.span.line, *(span.line for _, span in found.notes)}
        assert lines == {*LINES.values()} - {*[*LINES.values()][number:]}
        assert all(any(f"'{name}'" in note for note, _ in found.notes) for name in names if name != "kappa")


def test_a_plugin_that_contradicts_a_bundled_one_is_told_so(
    compiled_with: Callable[[dict[str, Contributor]], Compiled],
) -> None:
    gpus = {"resources": {"limits": {"nvidia.com/gpu": "2"}}}
    for name in ("a", "z"):
        [found] = compiled_with({name: Contributor([(("container", "worker"), gpus)])}).diagnostics
        one, other = sorted((name, "gpu"))
        assert found.message == (
            f"plugins '{one}' and '{other}' want different values for worker.resources.limits.nvidia.com/gpu"
        )


def test_a_plugin_can_contradict_itself(compiled_with: Callable[[dict[str, Contributor]], Compiled]) -> None:
    pieces = [(("pod", "worker"), {"spec": {"priority": number}}) for number in (1, 2)]
    [found] = compiled_with({"torn": Contributor(pieces)}).diagnostics
    assert found.message == "plugin 'torn' wants different values for worker.spec.priority"


def test_who_names_an_element_and_no_source_is_no_party_of_a_conflict(
    compiled_with: Callable[[dict[str, Contributor]], Compiled],
) -> None:
    elements = [
        {"name": "A"},
        {"name": "A", "value": "x"},
        {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "x"}}},
    ]
    others = {
        name: Contributor([(("container", "worker"), {"env": [e]})]) for name, e in zip("abc", elements, strict=True)
    }
    [found] = compiled_with(others).diagnostics
    assert found.message == "plugins 'b' and 'c' want different values for worker.env.A"
