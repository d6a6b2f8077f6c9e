"""A problem on an inherited line names the job and the environments that have it, in every form of the output."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from commandline import run
from workspace import HEAD, PROD, put

if TYPE_CHECKING:
    from pathlib import Path

BASE = "environments/base.yaml"
WRONG = {
    "defaults: {image: tf, worker: {replicas: 2, volumes: [nope]}}\n": "the job 'train' of {}",  # the merged spec
    "defaults: {image: tf, worker: {replicsa: 2}}\n": "{}",  # the file by itself
    "defaults: {image: [\n": "{}",  # no YAML
    "defaults: {image: tf, worker: 1}\nallow: [{code: NO1, at: jobs.x, reason: a, until: 2099-12-31}]\n": "{}",
}


def heirs(*names: str) -> None:
    for name in names:
        put(f"environments/{name}/environment.yaml", f"{HEAD}extends: ../base.yaml\njobs: {{train: {{worker: 2}}}}\n")


@pytest.mark.parametrize("base", WRONG)
def test_the_environments_that_inherit_a_problem_are_named_once(base: str) -> None:
    put(BASE, base)
    heirs("dev", "prod")
    told = ", ".join(WRONG[base].format(f"environments/{name}") for name in ("dev", "prod"))
    result = run("validate")
    assert f"= note: inherited by {told}\n" in result.stderr
    assert result.stderr.count(f"--> {BASE}") == result.stderr.count("note: inherited by")
    assert "environments/dev/environment.yaml" in result.stderr


def test_many_heirs_are_a_few_and_a_number() -> None:
    put(BASE, "defaults: {image: tf, worker: {replicsa: 2}}\n")
    heirs(*(f"e{number}" for number in range(7)), "prod")
    told = ", ".join(f"environments/e{number}" for number in range(4))
    assert f"inherited by {told} and 4 more\n" in run("validate").stderr


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
def test_every_form_names_the_heir(form: str) -> None:
    put(BASE, "defaults: {image: tf, worker: {replicsa: 2}}\n")
    heirs("prod")
    result = run("validate", "--format", form)
    assert "inherited by environments/prod" in result.stderr + result.stdout
    if form == "json":
        [problem] = json.loads(result.stdout)["problems"]
        [note] = problem["notes"]
        assert (note["message"], note["line"]) == ("inherited by environments/prod", HEAD.count("\n") + 1)


def test_inside_its_folder_an_environment_is_named_by_it(monkeypatch: pytest.MonkeyPatch) -> None:
    put(BASE, "defaults: {image: tf, worker: {replicsa: 2}}\n")
    heirs("prod")
    monkeypatch.chdir(PROD)
    assert "inherited by prod\n" in run("validate", ".").stderr


def test_what_an_environment_says_itself_is_inherited_by_nobody(tmp_path: Path) -> None:
    put(PROD / "parts/base.yaml", "defaults: {image: tf, worker: {replicsa: 2}}\n")
    put(PROD / "environment.yaml", f"{HEAD}extends: parts/base.yaml\njobs: {{train: {{}}}}\n")
    assert "inherited" not in run("validate").stderr
