"""What is emitted reads back as the same values in YAML 1.1 and 1.2, and looks as a reviewer expects it."""

import json
from textwrap import dedent
from typing import Any

import pytest
import yaml
from fuzzed import fuzz
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from tfgitops.compiler.emit import emit
from tfgitops.targets.routes import ordered

# Texts that some reader takes for something else.
WORDS = """
    y n Y N yes no Yes NO on off On OFF true false True FALSE null Null NULL ~ none None nan NaN
    .nan .NaN .inf -.inf +.INF inf 0 1 -1 +1 00 01 010 08 0o14 0O14 0x1f 0X1F -0x1f 0b11 -0b1 1_000
    _1 1_ 1e3 1E3 1e 1E 1e+3 -1e-3 1.0 1. .5 -.5 +.5 . .. ... 1.1.1 12e03 25921e05 1:30 190:20:30
    1:30.5 -1:30 2026-01-01 2026-1-1 2001-12-14T21:59:43.10Z = << - -- --- -a --a -1a ? ?a : :a a:
    a:b a::b a:b:c # #a a#b & &a * *a ! !a !!str | |a > >- % %a @a `a ' '' " "" { } {} {a [ ] [] [a]
    , ,a a, a,b $ $a $(A) $$(A) ${A} \\ \\n a\\b a'b a"b 'a' "a" //a /a/ a/b:c@d 32Gi 500m 1.5Gi 1Ei
    1s 1d 1h30m 5e 0xg 1-2 1_0a e3 E3 _ -_ =a a=b --a=b --a:b -e3 -y +a -.5 -0 1,000 é éa 日本 😀 ÿ
"""
AWKWARD = [
    *WORDS.split(), "\uff41",
    "", " ", "  ", " a", "a ", " a ", "a b", "a  b", "a: b", "a :b", "a #b", "a # b", "# a", "- a",
    "- ", "--- a", "? a", "a - b", "a = b", "key: value", "{a: b}", "[a, b]", "a,b c", "x: ",
    "2001-12-14 21:59:43.10 -5", "a\tb", "\t", "\ta", "\n", "\n\n", "a\n", "a\n\n", "a\n\n\n", "\na",
    "\n\na\n", "a\nb", "a\n\nb\n", " a\n", " a\nb\n", "  a\n b\n", "\n a", "a\n b", "a\n  \nb", "a\n ",
    "a \nb ", "a\n\n ", " \n", " \na", "a\r\nb", "a\rb", "a\n\tb", "\u00e9\nb\n", "# a\nb\n", "---\na",
    "...\na\n", "a: b\nc: d\n", "- a\n- b", "%a\nb", "'a'\n\"b\"\n", "a\\\nb", "|\n", "|+\na\n\n",
    "a\x00b", "\x07", "\x1b[31m", "\x7f", "\x85", "a\x85b", "\xa0", "\xad", "\u2028", "a\u2029b\n",
    "\u200b", "\u202e", "\ufeff", "\ufeffa", "\ufffd", "\ufffe", "\uffff", "\U0001f600",
    "\U0001f1e9\U0001f1ea", "\U000e0041", "\U0010ffff", "\ue000", "❤\ufe0f",
    '{"cluster":{"ps":["a-ps-0.a:2222"]},"task":{"index":$(TASK_INDEX)}}', "x" * 5000, "x y " * 1000,
    "é" * 3000,
]  # fmt: skip

TEXTS = st.one_of(
    st.text(max_size=20),
    st.sampled_from(AWKWARD),
    st.text(alphabet="ab:yn#-'\"\n =.,1e_~ \t[]{}|>%@`&*!?\\é/0x+$()", max_size=12),
    st.text(alphabet="0123456789eExXoObB._-+:TZ aGi", max_size=9),
    st.text(alphabet="ab \n", max_size=16),
)
SCALARS = st.one_of(TEXTS, st.integers(-(2**63), 2**63 - 1), st.booleans(), st.none())
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=12,
)
MANIFESTS = st.dictionaries(TEXTS, VALUES, max_size=4)


def read_1_1(text: str) -> Any:
    return yaml.load(text, yaml.CSafeLoader)


def read_1_2(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)


def same(left: Any, right: Any) -> bool:
    """Compare types too, since True == 1; the order of keys is not a value."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


def check(manifest: dict[str, Any]) -> None:
    text = emit(manifest)
    assert same(read_1_1(text), manifest)
    assert same(yaml.safe_load(text), manifest)
    assert same(read_1_2(text), manifest)
    assert text.endswith("\n")
    assert not set(text) & set("\t\r\x85\u2028\u2029\ufeff")


@fuzz(400)
@given(MANIFESTS)
def test_any_manifest_reads_back(manifest: dict[str, Any]) -> None:
    check(manifest)


def test_awkward_texts_read_back_in_every_place() -> None:
    for start in range(0, len(AWKWARD), 25):
        some = AWKWARD[start : start + 25]
        check({"values": dict(enumerated(some)), "list": some, "lists": [[text, [text]] for text in some]})
        check({"keys": dict.fromkeys(some, "v"), "maps": [{text: {text: []}} for text in some]})


def enumerated(texts: list[str]) -> list[tuple[str, str]]:
    return [(f"k{number}", text) for number, text in enumerate(texts)]


@pytest.mark.parametrize("value", ["v", "a\nb\n", 1, {}, {"a": "b"}, {"a": {"b": ["c"]}}, [], ["a", ["b"]], [{"a": 1}]])
def test_keys_beyond_the_limit_of_readers_read_back(value: Any) -> None:
    check({"a": {"k" * 1100: value, "z\u200b" * 400: value}, "b": [{"k" * 1100: value, "z": 1}]})


@pytest.mark.parametrize(
    "text",
    [
        "no", "on", "off", "y", "n", "Y", "N", "~", "null", "true", "1e3", "0o14", "0x1f", "1:30",
        "25921e05", "010", "1_000", ".5", "+1", "2026-01-01", "=", "<<", "", "-", "?", "1.15", "1",
        "0b1", ".inf", "Yes", "NULL", "5:5", "08", "1.", "1E",
    ],
)  # fmt: skip
def test_what_some_reader_retypes_is_quoted(text: str) -> None:
    assert emit({"a": text, "b": [text], "c": {text: "v"}}) == f"a: '{text}'\nb:\n- '{text}'\nc:\n  '{text}': v\n"


@pytest.mark.parametrize(
    "text",
    [
        "tfgitops", "32Gi", "500m", "1.5Gi", "30s", "/bin/sh", "-c", "--steps=90000", "$(TASK_INDEX)",
        "$(PS_HOSTS),a", "registry.example.com/tf:2.21", "a-ps-0.a:2222", "nvidia.com/gpu",
        "metadata.labels['volcano.sh/task-index']", "python -m train --out=/log/$(RUN)",
        "a/b@sha256:0123", "NVIDIA-A100-SXM4-80GB", "_x", "mig-1g.5gb",
    ],
)  # fmt: skip
def test_everyday_texts_are_plain(text: str) -> None:
    assert emit({"a": text}) == f"a: {text}\n"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("it's", "it's"),
        ("'a'", "'''a'''"),
        ("größer", "'größer'"),
        ("日本 😀", "'日本 😀'"),
        ("a\tb", r'"a\tb"'),
        ('a\u200b"\\', r'"a\u200b\"\\"'),
        ("a\x00\U000e0041", r'"a\u0000\U000e0041"'),
        ("a\u00a0b", r'"a\u00a0b"'),
        ("\n", r'"\n"'),
        ("a\n \nb", r'"a\n \nb"'),
        ("a\r\nb", r'"a\r\nb"'),
        ("a\nb", "|-\n  a\n  b"),
        ("a\n\nb\n", "|\n  a\n\n  b"),
        ("a\n\n", "|+\n  a\n"),
        (" a\nb\n", "|2\n   a\n  b"),
        ("\na", "|2-\n\n  a"),
        ("größer\n", "|\n  größer"),
    ],
)
def test_each_text_takes_the_simplest_exact_style(text: str, written: str) -> None:
    assert emit({"a": text}) == f"a: {written}\n"


def test_layout_and_order_are_kubectls() -> None:
    manifest = {
        "spec": {
            "tasks": [
                {
                    "template": {
                        "spec": {"containers": [{"env": [{"value": "1", "name": "A"}], "name": "tensorflow"}]}
                    },
                    "policies": [],
                    "replicas": 2,
                    "name": "worker",
                }
            ],
            "plugins": {"svc": ["--a=b"], "env": []},
            "ttlSecondsAfterFinished": 60,
            "queue": "default",
        },
        "metadata": {"annotations": {}, "labels": {"b": "1", "a": "2"}, "name": "x"},
        "kind": "Job",
        "apiVersion": "batch.volcano.sh/v1alpha1",
    }
    assert emit(manifest) == dedent(
        """\
        apiVersion: batch.volcano.sh/v1alpha1
        kind: Job
        metadata:
          name: x
          labels:
            a: '2'
            b: '1'
          annotations: {}
        spec:
          queue: default
          ttlSecondsAfterFinished: 60
          plugins:
            env: []
            svc:
            - --a=b
          tasks:
          - name: worker
            replicas: 2
            policies: []
            template:
              spec:
                containers:
                - name: tensorflow
                  env:
                  - name: A
                    value: '1'
        """
    )


def test_nested_lists_and_atoms() -> None:
    manifest = {"a": [[1, [True, None]], [{"b": [[]]}], {}, [], -5, "x\ny\n"], "b": None}
    assert emit(manifest) == dedent(
        """\
        a:
        - - 1
          - - true
            - null
        - - b:
            - []
        - {}
        - []
        - -5
        - |
          x
          y
        b: null
        """
    )
    check(manifest)


def test_the_empty_mapping_is_a_document() -> None:
    assert emit({}) == "{}\n"


@pytest.mark.parametrize("value", [1.5, ("a",), b"a", {"a"}, type("Text", (str,), {})("a")])
def test_other_types_are_a_bug(value: Any) -> None:
    with pytest.raises(TypeError, match="cannot write a"):
        emit({"a": value})
    with pytest.raises(TypeError, match="cannot write a"):
        emit({"a": [value]})


@pytest.mark.parametrize(
    "keys",
    [
        "apiVersion kind metadata spec",
        "apiVersion kind metadata immutable data",
        "name namespace labels annotations",
        "queue minAvailable maxRetry priorityClassName ttlSecondsAfterFinished plugins policies tasks",
        "name replicas minAvailable maxRetry dependsOn policies template",
        "event events exitCode action timeout",
        "name image command args workingDir ports env envFrom resources volumeMounts lifecycle",
        "name value valueFrom",
        "requests limits",
        "cpu memory nvidia.com/gpu",
        "key operator value effect tolerationSeconds",
        "restartPolicy affinity nodeSelector serviceAccountName initContainers containers volumes",
    ],
)
def test_keys_come_in_the_customary_order(keys: str) -> None:
    custom = tuple(keys.split())
    assert ordered(tuple(sorted(custom))) == custom
    assert ordered(custom[::-1]) == custom


@settings(deadline=None)
@given(VALUES)
def test_what_many_objects_share_is_written_like_all_else(value: Any) -> None:
    plain = emit({"x": [{"voluxes": value}]})
    assert emit({"x": [{"volumes": value}]}) == plain.replace("voluxes", "volumes", 1)
    assert emit({"x": [{"volumes": value}]}) == plain.replace("voluxes", "volumes", 1)


@pytest.mark.parametrize("wrong", [1.5, {1}, object(), ("a",), b"a"])
def test_what_is_shared_has_only_plain_types(wrong: Any) -> None:
    with pytest.raises(TypeError):
        emit({"volumes": [wrong]})
