"""A spec is read from a commit as it is from the disk: by the same code, and files that are as they were not at all."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from builder import cut
from commandline import run

from tfgitops.review.committedspecs import CommitTree
from tfgitops.review.history import find_base
from tfgitops.spec.disk import Disk
from tfgitops.spec.load import Reader

if TYPE_CHECKING:
    from pathlib import Path

    from repository import Repository

SPEC = "environments/prod/environment.yaml"
JOB = "image: tf\nworker: 1\n"


@pytest.fixture
def three(repository: Repository) -> Repository:
    """A repository with jobs in files of their own."""
    for name in ("same", "other", "gone"):
        repository.write(f"environments/prod/jobs/{name}.yaml", JOB)
    repository.keep()
    return repository


def test_a_commit_is_read_as_the_disk_was(three: Repository) -> None:
    folder = three.top / "environments" / "prod"
    before = Reader(Disk(three.top)).spec(folder)
    three.write("environments/prod/jobs/other.yaml", "image: tf\nworker: 2\n")
    (folder / "jobs" / "gone.yaml").unlink()
    three.write("environments/prod/jobs/deep/er.yaml", JOB)
    present = Reader(Disk(three.top)).spec(folder)
    base = find_base(three.top, [three.top / "environments"], "main")
    reader = Reader(CommitTree(base=base, present=present))
    found = reader.spec(folder)
    assert [(one.name, one.prefix, one.text, one.value) for one in found] == [
        (one.name, one.prefix, one.text, one.value) for one in before
    ]
    assert not reader.diagnostics
    assert {one.name for one in found if any(one is other for other in present)} == {
        "environments/base.yaml", SPEC, "environments/prod/jobs/same.yaml",
    }  # fmt: skip


def test_a_moved_environment_is_read_where_it_was(three: Repository) -> None:
    three.base(("2.21", "2.20"))
    three.keep()
    (three.top / "envs" / "eu").mkdir(parents=True)
    shutil.move(three.top / "environments" / "prod", three.top / "envs" / "eu" / "prod")
    shutil.rmtree(three.top / "environments")
    three.write("envs/base.yaml", "defaults:\n  image: registry.example.com/tf:2.22\n")
    three.edit("envs/eu/prod/environment.yaml", ("../base.yaml", "../../base.yaml"))
    result = run("review", "--against", "main", "envs", "environments", "--format", "json")
    assert "`defaults.image` in envs/base.yaml restarts 3 trainings" in result.stdout


@pytest.mark.parametrize(
    "broken",
    ["extends: '\\0'\n", 'extends: "\\0/x"\n', "extends: ../../../x.yaml\n", "extends: .\n", "- 1\n", "a: [\n", "\xff"],
)
def test_a_base_that_is_broken_is_read_as_far_as_it_goes(three: Repository, broken: str) -> None:
    good = three.read(SPEC)
    three.write(SPEC, broken)
    three.commit("broken")
    three.git("checkout", "--quiet", "-B", "main")
    three.write(SPEC, cut(good, "bert:", "bart:"))
    base = find_base(three.top, [three.top / "environments"], "main")
    reader = Reader(CommitTree(base=base))
    names = {one.name for one in reader.spec(three.top / "environments" / "prod")}
    assert names >= {f"environments/prod/jobs/{name}.yaml" for name in ("same", "other", "gone")}
    assert reader.diagnostics
    assert three.review().exit_code == 0


def test_outside_of_the_repository_nothing_is_there(three: Repository, tmp_path: Path) -> None:
    tree = CommitTree(base=find_base(three.top, [three.top], "main"))
    assert tree.kind_of(tmp_path.parent / "x.yaml") == "nothing"
    assert tree.kind_of(three.top / "environments" / "prod") == "folder"


@pytest.mark.parametrize("present", ["Jobs", "JOBS", "jobs"])
def test_a_base_without_jobs_does_not_see_those_of_the_working_tree(repository: Repository, present: str) -> None:
    repository.keep()
    repository.write(f"environments/prod/{present}/new.yaml", JOB)
    base = find_base(repository.top, [repository.top / "environments"], "main")
    reader = Reader(CommitTree(base=base))
    assert len(reader.spec(repository.top / "environments" / "prod")) == 2
    assert not reader.diagnostics


@pytest.mark.parametrize(
    ("target", "hint"),
    [
        ("../bsae.yaml", "did you mean '../base.yaml'?"),
        ("base.yaml", "did you mean '../base.yaml'?"),
        ("..", "name a file in it, such as ../base.yaml"),
    ],
)
def test_a_base_is_explained_by_its_own_files(repository: Repository, target: str, hint: str) -> None:
    repository.write("environments/prod/Jobs/old.yaml", JOB)
    repository.edit(SPEC, ("extends: ../base.yaml", f"extends: {target}"))
    folder = repository.top / "environments" / "prod"
    before = Reader(Disk(repository.top))
    before.spec(folder)
    repository.commit("a base with two faults")
    repository.git("checkout", "--quiet", "-B", "main")
    shutil.rmtree(repository.top / "environments")
    repository.write("environments/prod/base.yaml", "")
    base = find_base(repository.top, [folder.parent], "main")
    reader = Reader(CommitTree(base=base))
    reader.spec(folder)
    assert [found.hint for found in reader.diagnostics] == [hint, "rename it to jobs"]
    assert reader.diagnostics == before.diagnostics
