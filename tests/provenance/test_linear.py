"""A thousand jobs take ten times as long as a hundred, and no more: counted in calls, as seconds tell of machines.

The calls of each function are counted by themselves: a cheap one that goes through all files for each job is lost in
the sum of a few dozen jobs, and costs half of the time of a thousand.
"""

from __future__ import annotations

from collections import Counter
from cProfile import Profile
from textwrap import indent
from typing import TYPE_CHECKING, Any

import pytest
from commandline import run

if TYPE_CHECKING:
    from repository import Repository

FEW = 20  # calls more than twice as many, as of what is done at every so many
FIRST, SOME, MANY = 10, 20, 40  # the first fills what is remembered by content
SPEC = """\
apiVersion: tfgitops/v1alpha1
kind: Environment
namespace: ml
volumes: {data: {claim: datasets, path: /data}}
defaults: {image: "a:1", volumes: [data]}
"""
JOB = "command: [python, train.py, --seed, '{number}']\nworker: 2\nenv: {{SEED: {number}}}\n"
CHANGES = {"a key of the core": ("a:1", "a:2"), "a key of a plugin": ("/data}", "/more}")}


LAYOUTS = ("files", "one", "from", "envs")
REVIEW, PIN_REST = ["review", "--against", "HEAD"], ["build", "--pin-rest"]


@pytest.mark.parametrize("command", [["build"], REVIEW, PIN_REST], ids=" ".join)
@pytest.mark.parametrize(
    ("change", "layout"),
    [*((change, "files") for change in CHANGES), *(("a key of the core", layout) for layout in LAYOUTS[1:])],
)
def test_many_jobs_take_as_many_calls_each_as_few(
    change: str, layout: str, command: list[str], repository: Repository
) -> None:
    calls = {}
    for count in (FIRST, SOME, MANY):
        spec = _write(repository, layout, count)
        repository.build("--restart-all")
        repository.commit(str(count))
        repository.edit(spec, CHANGES[change])
        said, calls[count] = _counted(command)
        assert "job-0" in said
    _assert_alike(calls)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_explanation_of_one_of_many_jobs_takes_as_many_calls_each_as_of_few(
    layout: str, repository: Repository
) -> None:
    calls = {}
    for count in (FIRST, SOME, MANY):
        _write(repository, layout, count)
        folder = "environments/prod-0" if layout == "envs" else "environments/prod"
        said, calls[count] = _counted(["explain", folder, "job-0"])
        assert "a:1" in said
    _assert_alike(calls)


def test_many_queues_below_one_take_as_many_calls_each_as_few(repository: Repository) -> None:
    calls = {}
    for count in (FIRST, SOME, MANY):
        amounts = "capability: {cpu: 10}, guarantee: {cpu: 1}, deserved: {cpu: 2}"
        queues = "".join(f"  q{number}: {{parent: top, {amounts}}}\n" for number in range(count))
        jobs = "".join(f"  job-{number}: {{queue: q{number}, worker: {{cpu: 1}}}}\n" for number in range(count))
        top = "queues:\n  top: {capability: {cpu: 500}, guarantee: {cpu: 100}, deserved: {cpu: 200}}\n"
        repository.write("environments/prod/environment.yaml", f"{SPEC}{top}{queues}jobs:\n{jobs}")
        said, calls[count] = _counted(["validate"])
        assert "valid" in said
    _assert_alike(calls)


def _write(repository: Repository, layout: str, count: int) -> str:
    """Write as many jobs in a layout, and return the path of the file with the defaults."""
    spec = "environments/prod/environment.yaml"
    jobs = {f"job-{number}": JOB.format(number=number) for number in range(count)}
    if layout == "files":
        for name, text in jobs.items():
            repository.write(f"environments/prod/jobs/{name}.yaml", text)
        repository.write(spec, SPEC)
        return spec
    if layout == "from":
        jobs = {
            name: text if name == "job-0" else f"from: job-0\nenv: {{SEED: {name}}}\n" for name, text in jobs.items()
        }
    several = count // 5 if layout == "envs" else 0
    blocks = [f"  {name}:\n{indent(text, '    ')}" for name, text in [*jobs.items()][: 5 if several else None]]
    if several:
        (repository.top / spec).unlink(missing_ok=True)
        spec = "environments/base.yaml"
    for number in range(several):
        own = f"apiVersion: tfgitops/v1alpha1\nkind: Environment\nextends: ../base.yaml\nnamespace: ml-{number}\n"
        repository.write(f"environments/prod-{number}/environment.yaml", own)
    repository.write(spec, f"{SPEC}jobs:\n{''.join(blocks)}")
    return spec


def _assert_alike(calls: dict[int, Counter[str]]) -> None:
    many, some = calls[MANY], calls[SOME]
    assert many.total() <= 2.0 * some.total()
    assert {name: (some[name], many[name]) for name in many if many[name] > 2.2 * some[name] + FEW} == {}


def _counted(command: list[str]) -> tuple[str, Counter[str]]:
    """Return what a command says, and the calls of each function of ours, and of each in C by one of ours."""
    profile = Profile()
    result = profile.runcall(run, *command)
    count: Counter[str] = Counter()
    for entry in profile.getstats():
        if ours := _name(entry.code):
            count[ours] += entry.callcount
            for callee in entry.calls or ():
                if isinstance(callee.code, str):  # written in C
                    count[f"{ours} {callee.code}"] += callee.callcount
    return result.output, count


def _name(code: Any) -> str:
    """Return the name of a function if it is ours or of a bundled plugin, else nothing: Git's turns vary."""
    place = "" if isinstance(code, str) else code.co_filename.rpartition("/tfgitops")[2]
    return f"{place} {code.co_qualname}" if place and place != code.co_filename else ""
