"""Whatever stands in `manifests/` and is not ours is foreign: it fails the check, and no build touches it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from builder import cut
from commandline import run
from workspace import HEAD, MANIFEST, OTHER, PROD, TRAIN, WORKLOADS, put, tree

from tfgitops.spec.committed import with_header

if TYPE_CHECKING:
    from collections.abc import Callable

TOP = PROD / "manifests"
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n"
NAMES = (
    "Kustomization", "kustomization.yml", "workloads/x.jsonnet", "workloads/x.libsonnet", "Chart.yaml", "x", "x.YAML",
    "x.Json", "x.tf", "x.cue", "x.py", "README.md", "OWNERS", "workloads/notes.txt", ".hidden.yaml", ".hidden",
    ".argocd-source.yaml", ".sourceignore", "templates/x.yaml", "deep/er/still/x.yaml", ".git", ".github/x.yaml",
    "é.yaml", "x y.yaml", "x\ny.yaml", "workloads/job-train.yaml.bak", "workloads/.job-train.yaml.swp",
    ".tfgitops-mine", "workloads/.tfgitops-0123abcd.tmp", "workloads/.tfgitops-job-train.yaml.tmp", "Workloads/x.yaml",
)  # fmt: skip


def refused(place: Path | str) -> None:
    """Assert that a check and a review name a file, and that a build leaves all as it was."""
    before = tree()
    result = run("build", "--check")
    assert result.exit_code == 1
    assert f"foreign  {place}" in result.stdout.replace("\\n", "\n")
    result = run("build")
    assert f"foreign  {place}" in result.stdout.replace("\\n", "\n")
    assert "left alone" in result.stdout
    assert tree() == before


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_any_name_is_foreign(name: str, built: Path) -> None:
    refused(put(TOP / name, POD))


@pytest.mark.parametrize("folder", ["x", ".x", "workloads/x", "deep/x.yaml"])
def test_a_link_to_a_folder_is_foreign(folder: str, built: Path) -> None:
    put("elsewhere/x.yaml", POD)
    link = TOP / folder
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(Path("elsewhere").resolve())
    refused(link)


@pytest.mark.parametrize("target", [MANIFEST, Path("nowhere")], ids=["a manifest", "nothing"])
@pytest.mark.parametrize("name", ["x", "x.yaml", "workloads/job-x.yaml", ".x"])
def test_a_link_to_a_file_is_foreign(name: str, target: Path, built: Path) -> None:
    (TOP / name).symlink_to(target.resolve())
    refused(TOP / name)


@pytest.mark.parametrize("name", ["pipe", "pipe.yaml", "workloads/.tfgitops-0123abcd.tmp"])
def test_a_pipe_is_foreign_and_not_waited_for(name: str, built: Path) -> None:
    os.mkfifo(TOP / name)
    refused(TOP / name)


def test_a_socket_is_foreign(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        with monkeypatch.context() as patch:
            patch.chdir(TOP)  # a socket's path is short
            one.bind("socket")
        refused(TOP / "socket")


def test_a_submodule_is_foreign_once_it_is_there(built: Path) -> None:
    refused(put(TOP / "x" / ".git", "gitdir: ../../../../.git/modules/x\n"))


@pytest.mark.parametrize("name", ["x/", "x/y/", "cluster-2/", ".x/"])
def test_an_empty_folder_fails_the_check_and_a_build_removes_it(name: str, built: Path) -> None:
    """Git keeps no empty folder, but a submodule is one until somebody fetches it, as controllers do."""
    (TOP / name).mkdir(parents=True)
    result = run("build", "--check")
    assert (result.exit_code, result.stdout.splitlines()[0]) == (1, f"orphan  {TOP}/{name}")
    assert f"removed  {TOP}/{name}\n" in run("build").stdout
    assert sorted(path.name for path in TOP.iterdir()) == ["workloads"]
    assert run("build", "--check").exit_code == 0


def test_an_empty_folder_of_manifests_without_jobs_is_no_manifest() -> None:
    put(PROD / "environment.yaml", HEAD + "jobs: {}\n")
    assert run("build", "--check").exit_code == 0
    TOP.mkdir()
    assert f"orphan  {TOP}/\n" in run("build", "--check").stdout
    run("build")
    assert not TOP.exists()


def test_a_file_in_a_folder_of_any_depth_is_not_passed_over(built: Path) -> None:
    """A path of Linux has 4,096 bytes, and Python would give up after a thousand folders."""
    home = Path.cwd()
    try:
        os.chdir(TOP)
        for _ in range(1200):
            Path("a").mkdir()
            os.chdir("a")
        put("x.yaml", POD)
    finally:
        os.chdir(home)
    for command in (["build", "--check"], ["build"]):
        result = run(*command)
        assert result.exit_code == 1
        assert f"error[TF106]: {TOP} has more than 100 levels of folders" in result.stderr
    subprocess.run(["rm", "-rf", TOP / "a"], check=True)  # pytest, which removes old folders, would give up, too


# --- what is ours -----------------------------------------------------------------------------------------------


COPIES: dict[str, tuple[str, Callable[[str], str]]] = {
    "under another name": ("workloads/job-copy.yaml", str),
    "of another extension": ("workloads/job-train.yaml.orig", str),
    "in another folder": ("backup/job-train.yaml", str),
    "at the top": ("job-train.yaml", str),
    "edited, under another name": ("workloads/job-copy.yaml", lambda text: cut(text, "tf:2.21", "tf:2.22")),
    "edited, in another folder": ("cluster/job-train.yaml", lambda text: cut(text, "tf:2.21", "tf:2.22")),
    "with a note": ("workloads/job-mine.yaml", lambda text: f"{text}# mine\n"),
}


@pytest.mark.parametrize("way", COPIES)
def test_a_copy_of_a_manifest_is_not_ours_and_stays(way: str, built: Path) -> None:
    name, change = COPIES[way]
    refused(put(TOP / name, change(MANIFEST.read_text(encoding="utf-8"))))


def test_an_edited_manifest_that_no_spec_wants_is_not_ours_any_more_and_stays(built: Path) -> None:
    OTHER.write_text(cut(OTHER.read_text(encoding="utf-8"), "tf:2.21", "tf:2.22"), encoding="utf-8")
    put(PROD / "environment.yaml", HEAD + TRAIN)
    refused(OTHER)


def test_a_file_with_our_header_that_no_compiler_wrote_is_not_ours(built: Path) -> None:
    refused(put(WORKLOADS / "job-x.yaml", with_header("a: [\n", "environment.yaml jobs.x")))


def test_the_manifests_of_all_kinds_are_ours_and_go() -> None:
    spec = """\
namespace: {name: ml, create: true}
kustomization: true
queues: {vision: {}, text: {parent: vision}}
volumes: {logs: {size: 1Gi, path: /logs}}
"""
    put(PROD / "environment.yaml", cut(HEAD, "namespace: ml\n", "") + spec + TRAIN)
    assert run("build").exit_code == 0
    count = len([path for path in TOP.rglob("*") if path.is_file()])
    assert count > 6
    put("environments/dev/environment.yaml", cut(HEAD, "ml", "dev") + TRAIN)
    (PROD / "environment.yaml").unlink()
    stdout = run("build").stdout
    assert stdout.count(f"removed  {TOP}") == count
    assert "foreign" not in stdout
    assert not TOP.exists()


@pytest.mark.parametrize("text", ["", "# Gen", "# Generated by tfgitops from environment.yaml jobs.tr"])
def test_a_half_written_file_of_a_killed_build_is_ours_and_told(text: str, built: Path) -> None:
    left = put(WORKLOADS / ".tfgitops-0123abcd.tmp", text)
    assert f"orphan  {left}\n" in run("build", "--check").stdout
    assert f"removed  {left}\n" in run("build").stdout
    assert not left.exists()
    assert run("build", "--check").exit_code == 0


def test_a_folder_that_only_foreign_files_keep_stays(built: Path) -> None:
    note = put(WORKLOADS / "README.md", "a note\n")
    put("environments/dev/environment.yaml", cut(HEAD, "ml", "dev") + TRAIN)
    (PROD / "environment.yaml").unlink()
    run("build")
    assert [path for path in TOP.rglob("*") if path.is_file()] == [note]


# --- around the manifests ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["jobs", "manifests/x"])
def test_an_environment_of_any_name_is_found(name: str, built: Path) -> None:
    put(f"environments/{name}/manifests/workloads/x.yaml", POD)
    result = run("build", "--check")
    assert result.exit_code == 1
    assert "x.yaml" in result.stdout


def test_an_environment_called_jobs_is_compiled() -> None:
    put("environments/jobs/environment.yaml", cut(HEAD, "ml", "dev") + TRAIN)
    assert run("build").exit_code == 0
    assert Path("environments/jobs/manifests/workloads/job-train.yaml").exists()


@pytest.mark.parametrize("inside", [False, True])
def test_a_link_to_an_environment_would_be_passed_over(built: Path, inside: bool) -> None:
    shutil.copytree(PROD, "live/prod") if inside else shutil.move(PROD, "live/prod")
    Path("environments/eu").symlink_to(Path("live/prod").resolve())
    result = run("build", "--check")
    assert result.exit_code == 1
    assert "environments/eu is a link, and would be passed over" in result.stderr


@pytest.mark.parametrize("controller", ["argocd", "flux"])
def test_a_file_beside_the_controllers_objects_fails_the_check(controller: str) -> None:
    """People apply these folders as a whole, with rights of their own."""
    text = (PROD / "environment.yaml").read_text()
    put(
        PROD / "environment.yaml", f"{text}gitops: {controller}\nbootstrap: {{repo: 'https://git.example.com/a.git'}}\n"
    )
    assert run("build").exit_code == 0
    assert run("build", "--check").exit_code == 0
    put(PROD / "bootstrap/README.md", "mine\n")
    assert run("build", "--check").exit_code == 0
    put(PROD / "bootstrap" / controller / "evil.yaml", "kind: ClusterRoleBinding\n")
    result = run("build", "--check")
    assert (result.exit_code, f"bootstrap/{controller}/evil.yaml" in result.stdout) == (1, True)
