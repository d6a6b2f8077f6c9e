"""Text to values, and texts that are no YAML to faults: what is wrong, exactly where, and what to do."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from builder import cut

from tfgitops.spec.bounds import FAULTS
from tfgitops.spec.document import Document
from tfgitops.spec.yamltext import TextError, parse

SPECS = sorted((Path(__file__).parents[2] / "cases" / "ok").rglob("*.yaml"))


def faults(text: str) -> list[tuple[str, str]]:
    """Return the code of each fault of a text, and what its carets cover."""
    with pytest.raises(TextError) as caught:
        parse(text)
    lines = text.split("\n")
    return [(found.code, covered(lines, found)) for found in caught.value.diagnostics]


def covered(lines: list[str], found: Any) -> str:
    """Return what the carets of a fault cover."""
    span = found.span
    return lines[span.line - 1][span.column - 1 : span.column - 1 + span.width]


def fault(text: str) -> Any:
    with pytest.raises(TextError) as caught:
        parse(text)
    return caught.value.diagnostics[0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{image: tf:1}", {"image": "tf:1"}),
        ("{URL: http://x, B: [c]}", {"URL": "http://x", "B": ["c"]}),
        ("[--p=a?b, 'q?r:s', x]", ["--p=a?b", "q?r:s", "x"]),
        ("{a?: b, c: d ? e}", {"a?": "b", "c": "d ? e"}),
        ('{"a":1, "b": c:d}', {"a": 1, "b": "c:d"}),
        ("{a: b:c}\n# d:e? \n", {"a": "b:c"}),
        ("a: {b: c:d}\ne: |\n  f:g? {h:i}\n", {"a": {"b": "c:d"}, "e": "f:g? {h:i}\n"}),
        ("a: &x {b: c:d}\ne: *x\n", {"a": {"b": "c:d"}, "e": {"b": "c:d"}}),
        ("a: &x 1\nb: &x 2\nc: *x\n", {"a": 1, "b": 2, "c": 2}),
    ],
)
def test_yaml_that_libyaml_0_1_refuses_is_read(text: str, value: Any) -> None:
    assert parse(text) == value


def test_positions_stay_in_a_text_that_is_spelled_anew() -> None:
    text = "é: {a: tf:1?2, b: [http://x,\n  y]}\n"
    document = Document(path=Path("f"), name="f", text=text, value=parse(text))
    spans = [document.span(route) for route in (("é", "a"), ("é", "b", 0), ("é", "b", 1))]
    assert [(s.line, s.excerpt[s.column - 1 : s.column - 1 + s.width]) for s in spans] == [
        (1, "tf:1?2"), (1, "http://x"), (2, "y"),
    ]  # fmt: skip


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.parent.name)
def test_our_own_files_are_read_as_pyyaml_reads_them_when_nothing_is_typed(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    def untyped(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: untyped(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [untyped(inner) for inner in value]
        return str(value).lower() if type(value) in (bool, int) else value or ""

    theirs = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - it makes nothing but texts
    ours = untyped(parse(text))
    if "<<" not in text and "null" not in text and "~" not in text:
        assert ours == theirs


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: é…\x07b", [("TF103", "\x07")]),
        ("a: \U0001f600\x1b \x07\x1b", [("TF103", "\x1b"), ("TF103", "\x07")]),
        ("a: b\u2028c: \x85", [("TF109", "\u2028"), ("TF109", "\x85")]),
        ("a: 1\n'b': 1\nb: 1\n", [("TF104", "b")]),
        ("a: !!str 1\nb: &x !<y> [1]\nc: ! 2\n!d e: 1\n", [("TF105", x) for x in ("!!str", "!<y>", "!", "!d")]),
        ("? [a, b]\n: c\n", [("TF105", "[a, b]")]),
        ("a: *b\nc: *d\n", [("TF103", "*b"), ("TF103", "*d")]),
        ("a: &a [1, {b: *a}]\n", [("TF106", "*a")]),
        ("a: {{ .Values.x }}\n", [("TF103", "{{ .Values.x }}")]),
        ("a: {image:tf, worker:2}\n", [("TF103", ":"), ("TF103", ":")]),
        ("<<: [1]\n", [("TF105", "[")]),
        ("%YAML 1.1\n---\na: 1\n", [("TF105", "%YAML 1.1")]),
        ("a: 1\n--- # two\nb: 1\n", [("TF105", "---")]),
        ("a: 1\n...\nb: 1\n", [("TF105", "b:")]),
    ],
)
def test_each_fault_covers_what_is_wrong(text: str, expected: list[tuple[str, str]]) -> None:
    assert faults(text) == expected


@pytest.mark.parametrize(
    ("text", "line", "marked", "said", "hint"),
    [
        ("a: 1\nworker\n", 2, "worker", "'worker' has no ':'", "`worker: …`"),
        ("worker\na: 1\n", 1, "worker", "'worker' has no ':'", "`worker: …`"),
        ("a: 1\nworker:\u00a02\n", 2, "\u00a0", "U+00A0 NO-BREAK SPACE", "anew"),
        ("a:\n\u00a0b: 1\n  c: 1\n", 2, "\u00a0", "U+00A0", "anew"),
        ("a: 1\nb\uff1a 2\n", 2, "\uff1a", "U+FF1A FULLWIDTH COLON", "': '"),
        ("a: 1\nb: 'x\nc: 1\n", 2, "'", "not closed", "close it with '"),
        ("a: 'x\nb: 'y'\n", 1, "'", "close in line 2 only", "close them in this line"),
        ("a: [1, 'x]\nb: 'y'\n", 1, "'", "close in line 2 only", "close them in this line"),
        ("a: [1, 2\nb: 3\n", 1, "[", "not closed", "']'"),
        ("a: {x: 1,\n", 1, "{", "not closed", "'}'"),
        ("a: {x: [1, 2}\n", 1, "}", "closes what '[' opened", "']'"),
        ("a: {x: 1}}\n", 1, "}", "too many", "leave it out"),
        ("a: ]\n", 1, "]", "nothing opens", "leave it out"),
        ("a: [1,,2]\n", 1, ",", "too many", "leave it out"),
        ("a: {b: 1 c: 2}\n", 1, "c", "no ',' is before 'c'", "put a ','"),
        ("a: {b: 1\n  c: 2}\n", 2, "c", "no ',' is before 'c'", "put a ','"),
        ("a: {b:[1]}\n", 1, ":", "no blank after the ':' of 'b'", "`b: …`"),
        ("a: {b: c:}\n", 1, ":", "at the end of a text", "quote"),
        ("a: [- b]\n", 1, "-", "between brackets", "quote"),
        ("a: 'it's'\n", 1, "s'", "behind a closing quote", "''"),
        ('a: "b"c\n', 1, "c", "behind a closing quote", '\\"'),
        ('a: "b",\n', 1, ",", "behind a closing quote", "commas"),
        ('a: "b" // c\n', 1, "//", "behind a closing quote", "'#'"),
        ("a: ['b' 'c']\n", 1, "'c'", "behind a closing quote", "','"),
        ("a: [b] c\n", 1, "c", "behind a closing ']'", "quote"),
        ("a: 1\nimage = tf\n", 2, "=", "'image'", "`image: tf`"),
        ("event: *\n", 1, "*", "no name", "'*'"),
        ("a: *.py\n", 1, "*.py", "alias", "'*.py'"),
        ("a: &\n", 1, "&", "no name", "'&'"),
        ('a: "C:\\data"\n', 1, "\\d", "no escape", "single quotes"),
        ('a: "\\u12"\n', 1, "\\u12", "names no character", "'\\u' 4"),
        ('a: "\\ud800"\n', 1, "\\ud800", "names no character", "'\\u' 4"),
        ("a: 1\n{{- if x }}\nb: 1\n", 2, "{{- if x }}", "template", "expand"),
        ("{% if x %}\na: 1\n", 1, "{% if x %}", "template", "expand"),
        ("a:\n  b: |\n  python x\n  c: 1\n", 3, "python x", "not indented", "indent each line"),
        ("a: > b\n", 1, "> b", "behind '>'", "next line"),
        ("a:\n  b: 1\n   c: 1\n", 3, "c", "indented by 3 blanks, and the one above by 2", "alike"),
        ("a:\n    b: 'x'\n   c: 1\n", 3, "c:", "line up", "by 0 or 4, not by 3 blanks"),
        ("a:\n - 1\n -b: 1\n", 3, "-", "no blank after the '-'", "`- b: 1`"),
        ("a:\n - 1\n b: 1\n", 3, "b:", "entries of a list", "start it with '- '"),
        ("a: 1\n- b\n", 2, "-", "keys of a map", "indent"),
        ("a: - b\n", 1, "-", "behind a ':'", "quote"),
        ("a: b: c\n", 1, ":", "a second ':'", "quote"),
        ("--- a: 1\n", 1, ":", "'---'", "next line"),
        (": a\n", 1, ":", "without a key", "`key: value`"),
        (" a: 1\nb: 1\n", 2, "b:", "less than the first", "alike"),
        ("a:\n\tb: 1\n", 2, "\t", "tab", "blanks"),
        ("// a\nb: 1\n", 1, "//", "comment", "'#'"),
        ("a: @b\n", 1, "@b", "'@'", "'@b'"),
        ("a: !x!y 1\n", 1, "!x!y", "tag", "leave"),
        ("a:b\nc: 1\n", 1, ":", "no blank after the ':' of 'a'", "`a: b`"),
    ],
)
def test_a_text_that_is_no_yaml_is_explained(text: str, line: int, marked: str, said: str, hint: str) -> None:
    found = fault(text)
    assert (found.span.line, covered(text.split("\n"), found)) == (line, marked)
    assert said in found.message
    assert hint in found.hint


def test_no_words_of_libyaml_reach_the_user() -> None:
    pieces = [":", "?", ",", "[", "]", "{", "}", "'", '"', "#", "&", "*", "!", "|", ">", "%", "@", "-", "\n", "\t", " "]
    for first in pieces:
        for second in pieces:
            for text in (
                f"a: {first}{second}b\nc: 1",
                f"a: [{first}{second}]",
                f"a:\n  {first} {second}\n",
                first + second,
            ):
                try:
                    parse(text)
                except TextError as error:
                    for found in error.diagnostics:
                        assert found.hint
                        assert not any(word in found.message for word in ("expected", "scanning", "parsing", "token"))


JOB = """  train-{}:
    image: registry.example.com/tf:2.21
    command: [python, -m, train, --steps=90000, "--out=/log/$(RUN)"]
    env: {{BATCH: 256, LR: 0.001, TOKEN: {{secret: hub, key: token}}}}
    worker: {{replicas: 4, cpu: 16, memory: 64Gi}}
"""
LARGE = "jobs:\n" + "".join(JOB.format(number) for number in range(8000))
MIB = 2**20


@pytest.mark.parametrize(
    "text",
    [
        LARGE, LARGE + "a: [b,\n", LARGE + "a: 'b' c\n", cut(LARGE, "cpu: 16", "cpu: a:b"), "[" * MIB, "{a: " * MIB,
        "- " * MIB, "a: " * MIB, "'" * MIB, '"' * MIB, "[a:b, " * MIB, "- &a x\n" * MIB, "- *a\n" * MIB, "k: 1\n" * MIB,
        "".join(f"- &a{number} x\n" for number in range(MIB)), "".join(" " * n + "a:\n" for n in range(2000)),
        "? " * MIB, "\n" * MIB, "a: 1\nb" + " " * MIB + "= c", "'\n" * MIB, "<% " * MIB, "a: \x07\n" * MIB,
        "a0: &a0 [x]\n" + "".join(f"a{n + 1}: &a{n + 1} [{', '.join([f'*a{n}'] * 10)}]\n" for n in range(30)),
        "a0: &a0 [x]\n" + "".join(f"a{n + 1}: &a{n + 1} [*a{n}]\n" for n in range(3000)),
    ],
    ids=lambda text: repr(text[-12:]),
)  # fmt: skip
def test_any_text_is_read_or_refused_in_bounded_time(text: str) -> None:
    start = time.process_time()
    try:
        parse(text)
    except TextError as error:
        assert len(error.diagnostics) <= FAULTS  # noqa: PT017 - no fault is as good
    assert time.process_time() - start < 20  # seconds: far more than it takes, far less than what is not linear
