"""A thousand jobs take ten times as long as a hundred, and no more: counted in calls, as seconds tell of machines.

The calls of each function are counted by themselves: a cheap one that goes through all files for each job is lost in
the sum of a few dozen jobs, and costs half of the time of a thousand.
"""

from __future__ import annotations

from collections import Counter
from cProfile import Profile
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


@pytest.mark.parametrize("command", [["build"], ["review", "--against", "HEAD"], ["build", "--pin-rest"]], ids=" ".join)
@pytest.mark.parametrize("change", CHANGES)
def test_many_files_of_jobs_take_as_many_calls_each_as_few(
    change: str, command: list[str], repository: Repository
) -> None:
    calls = {}
    for count in (FIRST, SOME, MANY):
        for number in range(count):
            repository.write(f"environments/prod/jobs/job-{number}.yaml", JOB.format(number=number))
        repository.write("environments/prod/environment.yaml", SPEC)
        repository.build("--restart-all")
        repository.commit(str(count))
        repository.edit("environments/prod/environment.yaml", CHANGES[change])
        said, calls[count] = _counted(command)
        assert "job-0" in said
    assert calls[MANY].total() <= 2 * calls[SOME].total()
    many, some = calls[MANY], calls[SOME]
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
