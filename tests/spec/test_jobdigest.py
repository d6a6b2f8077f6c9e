"""The digest of what a job says of itself: whose change is consent to a new run, and whose is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from builder import cut, spec_with

from tfgitops.spec.committed import own_digest
from tfgitops.spec.document import Document
from tfgitops.spec.yamltext import has_aliases, parse

TEXT = """\
x-common: &common {image: r.io/t:1, worker: 2}
x-command: &command [python, train.py]
x-flag: &flag --fast
x-both: &both [{port: 1}, {workdir: /w}]
jobs:
  plain: {command: [x], worker: 2}
  merged: {<<: *common, command: [x]}
  over: {<<: *common, image: mine:1}
  two: {<<: [*common, {port: 3}], command: [x]}
  list: {<<: *both, command: [x]}
  value: {command: *command, worker: &mine {replicas: 2}, ps: *mine}
  item: {command: [x, *flag], worker: 2}
  inner: {command: [x], env: {<<: [{A: 1}, *common]}, worker: 2}
  within: {worker: &w {<<: *common, cpu: 1}, ps: *w}
  whole: *common
"""


def _own(text: str) -> dict[str, str]:
    document = Document(path=Path("environment.yaml"), name="environment.yaml", text=text, value=parse(text))
    return {job: own_digest(document, job) for job in document.value["jobs"]}


def _changed(old: str, new: str) -> set[str]:
    before, after = _own(TEXT), _own(cut(TEXT, old, new))
    return {job for job in before if before[job] != after[job]}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("r.io/t:1", "r.io/t:2"),
        ("image: r.io/t:1, ", ""),
        ("worker: 2}\nx-command", "worker: 2, ps: 1, workdir: /}\nx-command"),
        ("train.py", "other.py"),
        ("&command [python, train.py]", "&command [python]"),
        ("--fast", "--slow"),
        ("{port: 1}, {workdir", "{port: 2}, {workdir"),
    ],
)
def test_what_stands_behind_an_anchor_outside_is_no_jobs_own(old: str, new: str) -> None:
    assert _changed(old, new) == set()


@pytest.mark.parametrize(
    ("old", "new", "jobs"),
    [
        ("merged: {<<: *common, command", "merged: {image: r.io/t:1, worker: 2, command", {"merged"}),
        ("list: {<<: *both", "list: {<<: *common", {"list"}),
        ("value: {command: *command", "value: {command: [python, train.py]", {"value"}),
        ("[x, *flag]", "[x, --fast]", {"item"}),
        ("[x, *flag]", "[y, *flag]", {"item"}),
        ("&mine {replicas: 2}", "&mine {replicas: 3}", {"value"}),
        ("image: mine:1", "image: mine:2", {"over"}),
        ("{port: 3}", "{port: 4}", {"two"}),
        ("{A: 1}", "{A: 2}", {"inner"}),
        ("cpu: 1", "cpu: 2", {"within"}),
        ("whole: *common", "whole: *command", {"whole"}),
        ("plain: {command: [x]", "plain: {command: [y]", {"plain"}),
    ],
)
def test_what_a_job_says_and_which_anchors_it_takes_is_its_own(old: str, new: str, jobs: set[str]) -> None:
    assert _changed(old, new) == jobs


def test_blocks_without_aliases_have_the_digests_that_they_had() -> None:
    assert _own("jobs:\n  a: {command: [x], worker: 2}\n") == {"a": _own(TEXT)["plain"]}


@pytest.mark.parametrize(
    "text", ["b: *a", "b: [*a]", "b: {c: *a}", '{"b":*a}', "b:\n  - *a", "b: [x,*a]", "<<: *a", "*a : b"]
)
def test_no_alias_is_passed_over(text: str) -> None:
    assert has_aliases(f"x: &a y\n{text}\n")
    assert not has_aliases("args: ['a*b', 2*3, '&']  # **")


@pytest.mark.parametrize(
    ("key", "value"),
    [("labels", {"a": "b"}), ("annotations", {"a": "b"}), ("minAvailable", 1), ("priorityClassName", "p")],
)
def test_what_changes_in_place_is_no_consent(key: str, value: object) -> None:
    text = "jobs:\n  a: {worker: {replicas: 2}, tasks: {t: {replicas: 1}}}\n"
    assert _own(text) == _own(spec_with(text, {f"jobs.a.{key}": value}))


@pytest.mark.parametrize("role", ["worker", "tasks.t"])
def test_nor_is_it_in_a_role(role: str) -> None:
    text = "jobs:\n  a: {worker: {replicas: 2}, tasks: {t: {replicas: 1}}}\n"
    assert _own(text) == _own(spec_with(text, {f"jobs.a.{role}.minAvailable": 1}))
    assert _own(text) != _own(spec_with(text, {f"jobs.a.{role}.cpu": 1}))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("labels: {team: a}, command: [y]", "labels: *l, command: [y]"),
        ("labels: {team: a}, command: [y]", "labels: {team: *t}, command: [y]"),
        ("command: [y]}", "annotations: *l, priorityClassName: *t, command: [y]}"),
        ("worker: {cpu: 1}", "worker: {cpu: 1, minAvailable: *n}"),
        ("command: [y]}", "command: [y], <<: *mild}"),
    ],
)
def test_an_alias_that_brings_what_makes_no_new_run_is_no_consent(old: str, new: str) -> None:
    """The case his-1."""
    text = (
        "x-mild: &mild {labels: {a: b}, minAvailable: 1}\njobs:\n"
        "  one: {labels: &l {team: &t a}, minAvailable: &n 1, command: [x]}\n"
        "  two: {labels: {team: a}, command: [y]}\n  three: {worker: {cpu: 1}}\n"
    )
    assert _own(cut(text, old, new)) == _own(text)


def test_a_merge_is_consent_as_far_as_it_brings_what_restarts() -> None:
    text = "x-both: &both {labels: {a: b}, image: r}\njobs:\n  one: {labels: {a: b}, image: r}\n  two: {worker: 1}\n"
    assert _own(cut(text, "two: {worker: 1}", "two: {<<: *both, worker: 1}"))["two"] != _own(text)["two"]
