"""Parts of pods merge by Kubernetes's list keys, and parts of equal rank merge in any order and any cut."""

import json
from copy import deepcopy
from typing import Any

import pytest
from cuts import MISSING, cut
from hypothesis import given, settings
from hypothesis import strategies as st

from tfgitops.targets.kubernetes.merge import (
    ELEMENT_NAMES,
    RULES,
    Conflict,
    Part,
    Rule,
    merge,
    name_of,
    repeated,
    union,
)
from tfgitops.targets.kubernetes.schemafile import schema_file


def rules_of_schema(name: str) -> dict[str, Any]:
    """Find what merges by keys in a type of the schema, in the form of `rules_of_table`."""
    found = {}
    for key, schema in schema_file("pod.schema.json")["$defs"][name].get("properties", {}).items():
        item = schema.get("items", schema).get("$ref", "").removeprefix("#/$defs/")
        fields = rules_of_schema(item) if item else {}
        keys = schema.get("x-kubernetes-list-map-keys", [])
        retained = "retainKeys" in schema.get("x-kubernetes-patch-strategy", "")
        if keys or fields:
            found[key] = {"keys": keys, "one_of": retained, "fields": fields}
    return found


def rules_of_table(rule: Rule) -> dict[str, Any]:
    found = {}
    for key, each in rule.fields.items():
        # Kubernetes refuses both `value` and `valueFrom`, but does not say so in its schema.
        fields = rules_of_table(each) if key != "valueFrom" else {}
        if each.keys or fields:
            found[key] = {"keys": [*each.keys], "one_of": each.one_of and key != "env", "fields": fields}
    return found


@pytest.mark.parametrize("name", ["PodTemplateSpec", "Container"])
def test_the_table_is_that_of_the_schema(name: Any) -> None:
    assert rules_of_table(RULES[name]) == rules_of_schema(name)


def test_whatever_a_list_merges_by_names_its_elements() -> None:
    def keys(rule: Rule) -> set[str]:
        return {*rule.keys[:1]}.union(*map(keys, rule.fields.values()), keys(rule.every) if rule.every else ())

    assert set().union(*map(keys, RULES.values())) <= {*ELEMENT_NAMES}


def test_maps_merge_and_null_removes() -> None:
    base = {"metadata": {"labels": {"a": "1", "b": "2"}}, "spec": {"hostNetwork": True, "nodeName": "n"}}
    patch = {"metadata": {"labels": {"b": None, "c": "3", "d": None}}, "spec": {"hostNetwork": None}}
    assert merge(base, patch, "PodTemplateSpec") == {
        "metadata": {"labels": {"a": "1", "c": "3"}},
        "spec": {"nodeName": "n"},
    }


def test_keyed_lists_merge_in_the_order_of_the_base() -> None:
    base = {"env": [{"name": "B", "value": "1"}, {"name": "A", "value": "2"}], "args": ["x", "y"]}
    patch = {"env": [{"name": "C", "value": "3"}, {"name": "A", "value": "4"}], "args": ["z"]}
    assert merge(base, patch, "Container") == {
        "env": [{"name": "B", "value": "1"}, {"name": "A", "value": "4"}, {"name": "C", "value": "3"}],
        "args": ["z"],
    }


def test_containers_merge_by_name_and_their_lists_by_their_own_keys() -> None:
    base = {"spec": {"containers": [{"name": "a", "ports": [{"containerPort": 80, "protocol": "TCP"}]}]}}
    ports = [{"containerPort": 80, "name": "http"}, {"containerPort": 80, "protocol": "UDP"}]
    mounts = [{"mountPath": "/a", "name": "v"}]
    patch = {"spec": {"containers": [{"name": "b"}, {"name": "a", "ports": ports, "volumeMounts": mounts}]}}
    assert merge(base, patch, "PodTemplateSpec")["spec"]["containers"] == [
        {
            "name": "a",
            "ports": [
                {"containerPort": 80, "protocol": "TCP", "name": "http"},
                {"containerPort": 80, "protocol": "UDP"},
            ],
            "volumeMounts": [{"mountPath": "/a", "name": "v"}],
        },
        {"name": "b"},
    ]


def test_a_new_source_replaces_the_old_one() -> None:
    base = {"spec": {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}, {"name": "w"}]}}
    patch = {"spec": {"volumes": [{"name": "v", "emptyDir": {"medium": "Memory"}}]}}
    volumes = merge(base, patch, "PodTemplateSpec")["spec"]["volumes"]
    assert volumes == [{"name": "v", "emptyDir": {"medium": "Memory"}}, {"name": "w"}]

    field = {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
    secret = {"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}
    text = {"name": "A", "value": "x"}
    for old, new in [(field, secret), (field, text), (text, field), (secret, field)]:
        assert merge({"env": [old]}, {"env": [new]}, "Container") == {"env": [new]}
    assert merge({"env": [text]}, {"env": [{"name": "A"}]}, "Container") == {"env": [text]}


def test_nothing_of_null_is_left_in_what_is_new() -> None:
    patch = {"spec": {"securityContext": {"runAsUser": None}, "tolerations": [{"key": "a", "value": None}]}}
    assert merge({}, patch, "PodTemplateSpec") == {"spec": {"securityContext": {}, "tolerations": [{"key": "a"}]}}


def test_equal_values_merge_and_different_ones_are_a_conflict() -> None:
    parts = [{"image": "a", "tty": True}, {"image": "b", "tty": True}, {"image": "a", "stdin": True}]
    merged, conflicts = union(parts, "Container")
    assert merged == {"stdin": True, "tty": True}
    assert conflicts == [Conflict(path=("image",), values=((0, "a"), (1, "b")))]


def test_the_path_of_a_conflict_names_elements_by_their_keys() -> None:
    def part(name: str, port: Any) -> Part:
        return {"spec": {"containers": [{"name": "tf", "ports": [{"containerPort": 80, "name": name} | port]}]}}

    _, conflicts = union([part("a", {}), part("b", {"protocol": "TCP"})], "PodTemplateSpec")
    assert [conflict.path for conflict in conflicts] == [("spec", "containers", "tf", "ports", "80/TCP", "name")]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"tty": True}, {"tty": 1}),
        ({"args": ["a"]}, {"args": ["a", "b"]}),
        ({"env": [{"name": "A", "value": "1"}]}, {"env": [{"name": "A", "valueFrom": {"fieldRef": {}}}]}),
        ({"env": []}, {"env": "x"}),
        ({"resources": None}, {"resources": {}}),
        ({"securityContext": {"runAsUser": None}}, {"securityContext": {"runAsUser": 0}}),
    ],
)
def test_conflicts(first: Part, second: Part) -> None:
    for parts in ([first, second], [second, first]):
        assert len(union(parts, "Container")[1]) == 1


def test_a_part_that_names_no_source_takes_no_side_in_a_conflict_of_sources() -> None:
    volumes = [{"name": "v"}, {"name": "v", "emptyDir": {}}, {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]
    merged, [conflict] = union([{"spec": {"volumes": [volume]}} for volume in volumes], "PodTemplateSpec")
    assert merged == {"spec": {"volumes": [{"name": "v"}]}}
    assert conflict == Conflict(path=("spec", "volumes", "v"), values=((1, volumes[1]), (2, volumes[2])))


def test_tolerations_unite() -> None:
    a, b = {"key": "a", "operator": "Exists"}, {"key": "b", "operator": "Exists"}
    parts = [{"spec": {"tolerations": [b, a]}}, {"spec": {"tolerations": [{"operator": "Exists", "key": "a"}]}}]
    assert union(parts, "PodTemplateSpec") == ({"spec": {"tolerations": [a, b]}}, [])


def test_capabilities_unite() -> None:
    def part(**capabilities: Any) -> Part:
        return {"securityContext": {"capabilities": capabilities}}

    parts = [part(add=["IPC_LOCK"]), part(add=["SYS_NICE", "IPC_LOCK"], drop=["NET_RAW"]), part(drop=["KILL"])]
    assert union(parts, "Container") == (part(add=["IPC_LOCK", "SYS_NICE"], drop=["KILL", "NET_RAW"]), [])


def test_arguments_of_volcanos_plugins_unite() -> None:
    parts = [{"spec": {"plugins": {"svc": ["--b=1"]}}}, {"spec": {"plugins": {"svc": ["--a=1", "--b=1"], "env": []}}}]
    assert union(parts, "Job") == ({"spec": {"plugins": {"env": [], "svc": ["--a=1", "--b=1"]}}}, [])


def selector(*terms: Any) -> Part:
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [*terms]}}
    return {"spec": {"affinity": {"nodeAffinity": required}}}


def term(*names: str, fields: tuple[str, ...] = ()) -> dict[str, Any]:
    made = {
        "matchExpressions": [{"key": name, "operator": "Exists"} for name in names],
        "matchFields": [{"key": name, "operator": "In", "values": ["x"]} for name in fields],
    }
    return {key: value for key, value in made.items() if value}


@pytest.mark.parametrize(
    ("parts", "result"),
    [
        ([[term("b", "a")]], [term("a", "b")]),
        ([[term("a")], [term("b")]], [term("a", "b")]),
        ([[term("a")], [term("a")]], [term("a")]),
        ([[term("a"), term("b")], [term("c")]], [term("a", "c"), term("b", "c")]),
        ([[term("a"), term("b")], [term("a"), term("b")]], [term("a"), term("b")]),
        ([[term("a"), term("b")], [term("c"), term("d")]], [term(x, y) for x in "ab" for y in "cd"]),
        ([[term("a", fields=("f",))], [term("b")]], [term("a", "b", fields=("f",))]),
        ([[term("a"), {}], [term("b")]], [term("a", "b")]),
        ([[{}], [term("b")]], [{}]),
        ([[], [term("b")]], []),
    ],
)
def test_requirements_of_node_affinity_all_hold(parts: list[list[Any]], result: list[Any]) -> None:
    for order in (parts, parts[::-1]):
        assert union([selector(*terms) for terms in order], "PodTemplateSpec") == (selector(*result), [])


NAMES = st.sampled_from("abc")
TERMS = st.builds(lambda names: term(*names), st.lists(NAMES, max_size=2))
PORTS = st.fixed_dictionaries(
    {"containerPort": st.integers(0, 2)}, optional={"protocol": st.sampled_from(["TCP", "UDP"]), "name": NAMES}
)
ENV = st.one_of(
    st.fixed_dictionaries({"name": NAMES}, optional={"value": NAMES}),
    st.fixed_dictionaries({"name": NAMES, "valueFrom": st.fixed_dictionaries({"fieldRef": st.just({})})}),
)


def distinct(elements: st.SearchStrategy[Any], rule: Rule) -> st.SearchStrategy[list[Any]]:
    def identity(element: Any) -> Any:
        return tuple(element.get(key, "TCP") for key in rule.keys)

    return st.lists(elements, max_size=3, unique_by=identity)


FIELDS = RULES["Container"].fields
CONTAINERS = st.fixed_dictionaries(
    {"name": NAMES},
    optional={
        "image": NAMES,
        "args": st.lists(NAMES, max_size=1),
        "env": distinct(ENV, FIELDS["env"]),
        "ports": distinct(PORTS, FIELDS["ports"]),
        "resources": st.fixed_dictionaries({}, optional={"limits": st.dictionaries(NAMES, st.integers(0, 1))}),
        "tty": st.none() | st.booleans(),
    },
)
POD_FIELDS = RULES["PodTemplateSpec"].fields["spec"].fields
VOLUMES: st.SearchStrategy[Any] = st.fixed_dictionaries({"name": NAMES}, optional={"emptyDir": st.just({})})
PODS: st.SearchStrategy[Part] = st.fixed_dictionaries(
    {},
    optional={
        "metadata": st.fixed_dictionaries({"labels": st.dictionaries(NAMES, NAMES)}),
        "spec": st.fixed_dictionaries(
            {},
            optional={
                "containers": distinct(CONTAINERS, POD_FIELDS["containers"]),
                "volumes": distinct(VOLUMES, POD_FIELDS["volumes"]),
                "tolerations": st.lists(st.fixed_dictionaries({"key": NAMES, "effect": NAMES}), max_size=3),
                "hostNetwork": st.booleans(),
                "affinity": st.lists(TERMS, min_size=1, max_size=3).map(
                    lambda terms: selector(*terms)["spec"]["affinity"]
                ),
            },
        ),
    },
)
quick = settings(max_examples=150, deadline=None)


@quick
@given(PODS, st.integers(1, 4), st.data())
def test_the_union_of_cuts_is_that_of_the_whole(pod: Part, count: int, data: st.DataObject) -> None:
    parts = [part for part in cut(pod, RULES["PodTemplateSpec"], count, data) if part is not MISSING]
    assert union(parts, "PodTemplateSpec") == union([pod], "PodTemplateSpec")
    assert union([pod], "PodTemplateSpec")[1] == []


@quick
@given(st.lists(PODS, min_size=2, max_size=4), st.data())
def test_union_does_not_depend_on_the_order(pods: list[Part], data: st.DataObject) -> None:
    before = deepcopy(pods)
    merged, conflicts = union(pods, "PodTemplateSpec")
    shuffled = data.draw(st.permutations(pods))
    again, same_conflicts = union(shuffled, "PodTemplateSpec")
    assert json.dumps(merged, sort_keys=True) == json.dumps(again, sort_keys=True)
    assert list(map(paths_and_values, conflicts)) == list(map(paths_and_values, same_conflicts))
    assert pods == before
    for conflict in conflicts:
        assert len({index for index, _ in conflict.values}) == len(conflict.values) > 1


def paths_and_values(conflict: Conflict) -> tuple[tuple[str, ...], list[str]]:
    return conflict.path, sorted(json.dumps(value, sort_keys=True) for _, value in conflict.values)


@quick
@given(PODS, PODS, PODS)
def test_union_in_steps_is_union_at_once(first: Part, second: Part, third: Part) -> None:
    two, conflicts = union([first, second], "PodTemplateSpec")
    at_once = union([first, second, third], "PodTemplateSpec")
    if not conflicts:
        assert union([two, third], "PodTemplateSpec")[0] == at_once[0]
    assert union([two, two], "PodTemplateSpec") == (two, [])


@quick
@given(PODS, PODS)
def test_merge_changes_nothing_that_it_is_given(base: Part, patch: Part) -> None:
    before = deepcopy((base, patch))
    merged = merge(base, patch, "PodTemplateSpec")
    assert (base, patch) == before
    assert merge(base, {}, "PodTemplateSpec") == base
    assert merge(merged, patch, "PodTemplateSpec") == merged


def test_the_union_of_nothing_is_nothing() -> None:
    assert union([], "Container") == ({}, [])


A, B = {"name": "A"}, {"name": "B"}


@pytest.mark.parametrize(
    ("container", "found"),
    [
        ({"env": [A, B, A, A]}, [("env", 2), ("env", 3)]),
        ({"ports": [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}]}, []),
        ({"ports": [{"containerPort": 80}, {"containerPort": 80, "protocol": "TCP"}]}, [("ports", 1)]),
        ({"resources": {"claims": [A, A]}}, [("resources", "claims", 1)]),
        ({"args": ["a", "a"], "env": None}, []),
    ],
)
def test_an_element_with_the_keys_of_an_earlier_one_is_found(container: Part, found: list[Any]) -> None:
    assert repeated(container, "Container") == found
    inside = [("spec", "initContainers", 1, *at) for at in found]
    assert repeated({"spec": {"initContainers": [A, B | container]}}, "PodTemplateSpec") == inside


def test_people_know_an_element_by_the_first_of_its_keys_that_names_one() -> None:
    assert name_of({"key": "a", "name": "b"}) == "b"
    assert name_of({"containerPort": 80}) == "80"
    assert [name_of({key: "a"}) for key in ("ip", "topologyKey", "key", "event")] == ["a"] * 4
    assert name_of({"other": 1}) is name_of("a") is None
