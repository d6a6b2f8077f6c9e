"""A thousand jobs take ten times as long as a hundred, and no more: counted in calls, as seconds tell of machines."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
from repository import run

if TYPE_CHECKING:
    from repository import Repository

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
    assert calls[MANY] <= 2 * calls[SOME], calls


def _counted(command: list[str]) -> tuple[str, int]:
    """Return what a command says, and how many calls it makes."""
    count = 0

    def count_one(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count_one)
    try:
        result = run(*command)
    finally:
        sys.setprofile(before)
    return result.output, count
