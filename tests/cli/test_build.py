"""`tfgitops build`: what it writes, keeps and removes, and that no object has two owners."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from builder import spec_with
from commandline import run
from workspace import HEAD, MANIFEST, OTHER, PROD, TRAIN, WORKLOADS, edit, put, tree


def test_first_build_creates_the_manifests_and_says_so() -> None:
    result = run("build")
    assert result.exit_code == 0
    assert result.stdout == f"created  {MANIFEST}\n{PROD}: 1 job, 1 manifest: 1 file changed\n"
    assert result.stderr == ""
    assert MANIFEST.exists()


def test_second_build_changes_nothing_and_says_so(built: Path) -> None:
    before = tree()
    result = run("build")
    assert result.exit_code == 0
    assert result.stdout == f"{PROD}: 2 jobs, 2 manifests: nothing changed\n"
    assert tree() == before


def test_only_what_changed_is_written(built: Path) -> None:
    before = OTHER.stat().st_mtime_ns
    edit(PROD / "environment.yaml", "worker: 2", "worker: 3")
    result = run("build")
    assert result.stdout == f"updated  {MANIFEST}\n{PROD}: 2 jobs, 2 manifests: 1 file changed\n"
    assert OTHER.stat().st_mtime_ns == before


@pytest.mark.parametrize("path", ["environments", "environments/", PROD, f"./{PROD}", PROD / "environment.yaml"])
def test_path_may_be_an_environment_its_file_or_a_folder_of_environments(path: str | Path) -> None:
    assert run("build", path).exit_code == 0
    assert MANIFEST.exists()


def test_an_environment_that_is_named_twice_is_compiled_once() -> None:
    result = run("build", "environments", PROD, PROD / "environment.yaml")
    assert result.stdout.count("1 job, 1 manifest") == 1


def test_build_inside_an_environment_shows_short_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROD)
    assert "manifests/workloads/job-train.yaml" in run("build", ".").stdout
    assert "environments" not in run("build", "--check", ".").stdout


def test_a_bad_environment_does_not_block_a_good_one() -> None:
    put("environments/dev/environment.yaml", HEAD + "jobs:\n  train: {imgae: tf, worker: 2}\n")
    result = run("build")
    assert result.exit_code == 1
    assert "unknown key 'imgae'" in result.stderr
    assert "environments/dev: nothing written" in result.stdout
    assert not Path("environments/dev/manifests").exists()
    assert MANIFEST.exists()


def test_a_bad_spec_keeps_the_manifests_that_are_there(built: Path) -> None:
    before = tree(PROD / "manifests")
    put(PROD / "environment.yaml", HEAD + "jobs:\n  train: {worker: 2}\n")
    result = run("build")
    assert result.exit_code == 1
    assert f"{PROD}: nothing written" in result.stdout
    assert tree(PROD / "manifests") == before


def test_long_lists_are_cut_unless_verbose() -> None:
    jobs = "".join(f"  train-{index}: {{image: tf, worker: 1}}\n" for index in range(50))
    put(PROD / "environment.yaml", f"{HEAD}jobs:\n{jobs}")
    stdout = run("build").stdout
    assert stdout.count("created  ") == 40
    assert "… and 10 more (-v lists all)\n" in stdout
    edit(PROD / "environment.yaml", "image: tf", "image: other")
    assert run("build", "-v").stdout.count("updated  ") == 50


def test_quiet_build_says_nothing_but_problems() -> None:
    assert run("build", "-q").output == ""
    edit(PROD / "environment.yaml", "image", "imgae")
    result = run("build", "-q")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "unknown key 'imgae'" in result.stderr


def test_manifests_are_readable_by_all_whatever_the_umask() -> None:
    before = os.umask(0o077)
    try:
        run("build")
    finally:
        os.umask(before)
    assert MANIFEST.stat().st_mode & 0o777 == 0o644


def test_manifests_of_a_folder_that_lost_its_spec_are_orphans(built: Path) -> None:
    put("environments/dev/environment.yaml", HEAD + TRAIN)
    (PROD / "environment.yaml").unlink()
    result = run("build", "--check")
    assert result.exit_code == 1
    assert {f"orphan  {MANIFEST}", f"orphan  {OTHER}"} <= set(result.stdout.splitlines())
    run("build")
    assert not (PROD / "manifests").exists()


def test_orphans_elsewhere_are_left_alone_when_one_environment_is_named(built: Path) -> None:
    put("environments/dev/environment.yaml", HEAD + TRAIN)
    (PROD / "environment.yaml").unlink()
    assert run("build", "environments/dev").exit_code == 0
    assert MANIFEST.exists()


def test_foreign_files_of_a_folder_that_lost_its_spec_stay(built: Path) -> None:
    put("environments/dev/environment.yaml", HEAD + TRAIN)
    stray = put(WORKLOADS / "stray.yaml", "kind: ConfigMap\n")
    (PROD / "environment.yaml").unlink()
    run("build")
    assert not MANIFEST.exists()
    assert stray.exists()


def two_owners(*clusters: str) -> None:
    put(PROD / "environment.yaml", f"{HEAD}cluster: {clusters[0]}\nqueues: {{vision: {{}}}}\n{TRAIN}")
    other = spec_with(HEAD, {"namespace": "lab"})
    put("environments/lab/environment.yaml", f"{other}cluster: {clusters[1]}\nqueues: {{vision: {{}}}}\n{TRAIN}")


def test_two_environments_that_write_one_object_of_a_cluster_are_refused() -> None:
    two_owners("eu-1", "eu-1")
    result = run("build")
    assert result.exit_code == 1
    assert "error[TF404]" in result.stderr
    assert "environments/lab/environment.yaml:5:10" in result.stderr
    assert "environments/prod/environment.yaml:5:10" in result.stderr


def test_neither_of_two_owners_is_written() -> None:
    """Else the object would be in Git twice, were it the second that had it first."""
    two_owners("eu-1", "eu-1")
    run("build")
    assert list(Path().rglob("manifests")) == []


def test_the_same_queue_in_two_clusters_is_two_queues() -> None:
    two_owners("eu-1", "us-1")
    assert run("build").exit_code == 0


def test_environments_of_two_roots_need_two_calls() -> None:
    Path("second/.git").mkdir(parents=True)
    put("second/environments/dev/environment.yaml", HEAD + TRAIN)
    result = run("build", "environments", "second/environments")
    assert result.exit_code == 1
    assert "more than one root" in result.stderr
    assert not MANIFEST.exists()
