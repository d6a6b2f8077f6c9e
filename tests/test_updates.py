"""What a change of each key does is found out, not believed: no refusal under a name, and no new name without need."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
import updates
import verdicts

from tfgitops.review.pairing import changes_between
from tfgitops.targets.kubernetes.goform import rewritten
from tfgitops.targets.kubernetes.objectkinds import is_immutable
from tfgitops.targets.kubernetes.quantity import parse
from tfgitops.targets.kubernetes.shape import shape_of
from tfgitops.targets.volcano.defaults import applied
from tfgitops.targets.volcano.identity import digest

if TYPE_CHECKING:
    from tfgitops import Plugins


@pytest.fixture(scope="module")
def found(plugins: Plugins) -> Any:
    return updates.run(plugins)


def test_no_change_under_a_name_is_refused_and_no_new_name_is_without_need(found: Any) -> None:
    assert updates.wrong(found) == []


def test_every_key_was_tried(found: Any, plugins: Plugins) -> None:
    once = {(key, context) for key, tried in found.items() for context in tried if not tried[context].possible}
    assert once == {("job.minAvailable", "a TensorFlow cluster")}, "no two values of it compile"
    keys = {key.split(".")[1] for key in found if key.startswith(("job.", "role."))}
    skipped = {"chief", "ps", "worker", "evaluator", "tasks", "from", "pin"}
    assert {*plugins.schema.job["properties"], *plugins.schema.role["properties"]} <= keys | skipped


def test_the_page_is_fresh(found: Any) -> None:
    assert updates.PAGE.read_text(encoding="utf-8") == updates.page(found), "run `make docs`"


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("role.image", ("new run", "new run")),
        ("role.replicas", ("new run", "in place or restart")),
        ("job.priorityClassName", ("in place", "in place")),
        ("job.labels", ("in place", "in place")),
        ("job.strategy", ("new run", "nothing")),
        ("role.dependsOn", ("new run", "new run")),
        ("volumes.*.storageClass", ("PersistentVolumeClaim: refused",) * 2),
        ("nodes.*.count", ("nothing", "nothing")),
    ],
)
def test_what_is_known(found: Any, key: str, expected: tuple[str, str]) -> None:
    by_context = found[key]
    assert tuple(updates.said(by_context.get(one, by_context.get(""))) for one in updates.CONTEXTS) == expected


def _claim(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "a"}, "spec": spec}


def _map(**fields: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, **fields}


def _sized(size: str) -> dict[str, Any]:
    return _claim(resources={"requests": {"storage": size}})


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (_claim(storageClassName="a"), _claim(storageClassName="b"), "refused"),
        (_claim(accessModes=["ReadWriteOnce"]), _claim(accessModes=["ReadWriteMany"]), "refused"),
        (_sized("1Gi"), _sized("2Gi"), "in place"),
        (_sized("2Gi"), _sized("1Gi"), "refused"),
        (_sized("2Gi"), _claim(resources={}), "refused"),
        (_map(data={"a": "1"}), _map(data={"a": "2"}), "in place"),
        (_map(data={"a": "1"}, immutable=True), _map(data={"a": "2"}, immutable=True), "refused"),
        (_map(data={"a": "1"}, immutable=True), _map(data={"a": "1"}), "refused"),
    ],
)
def test_objects_of_kubernetes(before: dict[str, Any], after: dict[str, Any], verdict: str) -> None:
    (change,) = changes_between({"a.yaml": before}, {"a.yaml": after})
    assert change.verdict == verdict


def test_an_object_is_the_same_in_another_file_and_another_under_another_name() -> None:
    before, after = _map(data={"a": "1"}), _map(data={"a": "2"})
    (moved,) = changes_between({"cluster/a.yaml": before}, {"cluster-2/a.yaml": after})
    assert (moved.verdict, moved.path) == ("in place", "cluster-2/a.yaml")
    other = {**after, "metadata": {"name": "b"}}
    assert {c.verdict for c in changes_between({"a.yaml": before}, {"a.yaml": other})} == {"added", "removed"}


def test_labels_are_never_immutable() -> None:
    assert not is_immutable(_claim(), _claim(), ("metadata", "labels", "a"))


def test_the_recorded_updates_agree_with_what_a_name_is_a_digest_of() -> None:
    """What the real Volcano took under one name has one digest, and what it took for immutable has two."""
    shape = shape_of("volcano.schema.json", "Job")
    differ: Counter[tuple[bool, bool]] = Counter()
    odd = []
    for case in verdicts.load(verdicts.COMMITTED):
        of_a_job = case.old is not None and case.new.get("kind") == "Job"
        if not of_a_job or case.record["rule"] not in (None, "update-immutable", "update-task-count"):
            continue
        live, after = applied(case.old, case.new)
        specs = [rewritten(shape, manifest, parse).get("spec") or {} for manifest in (live, after.manifest)]
        one, other = (digest({"tasks": [], **spec}) for spec in specs)
        differ[case.record["allowed"], one != other] += 1
        if case.record["allowed"] == (one != other):
            odd.append((case.record["id"], case.record["rule"], case.record["at"]))
    assert odd == []
    assert differ.keys() == {(True, False), (False, True)}
