"""No training restarts by accident: a change from elsewhere stops the build until it is told what may restart."""

from __future__ import annotations

import shutil
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest
from builder import GONE, spec_with
from commandline import run

if TYPE_CHECKING:
    from repository import Repository


def _state(repository: Repository) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes() for path in sorted((repository.top / "environments").rglob("*")) if path.is_file()
    }


def _bump(repository: Repository) -> None:
    repository.base(("tf:2.21", "tf:2.22"))


def test_a_bump_in_defaults_writes_nothing_and_names_the_jobs_and_the_line(repository: Repository) -> None:
    _bump(repository)
    before = _state(repository)
    result = run("build")
    assert result.exit_code == 1
    assert "error[TF604]: `defaults.image` would restart 3 trainings" in result.stderr
    assert "nobody changed: bert, resnet, shards" in result.stderr
    assert "--> environments/base.yaml:4:10" in result.stderr
    assert "would restart  environments/prod/manifests/workloads/job-bert.yaml  bert-" in result.stdout
    assert "environments/prod: nothing written" in result.stdout
    assert _state(repository) == before


def test_before_the_first_commit_nothing_has_run(repository: Repository) -> None:
    shutil.rmtree(repository.top / ".git")
    _bump(repository)
    assert "error[TF604]" in run("build").stderr  # without Git, the files may be those that run
    repository.git("init", "--quiet")
    assert run("build").exit_code == 0


def test_the_guard_stops_one_environment_and_not_another(repository: Repository) -> None:
    text = repository.read("environments/prod/environment.yaml")
    other = spec_with(text, {"extends": GONE, "cluster": "eu-2", "defaults.image": "a"})
    repository.write("environments/test/environment.yaml", other)
    _bump(repository)
    result = run("build")
    assert result.exit_code == 1
    assert "created  environments/test/manifests/workloads/job-bert.yaml" in result.stdout
    assert "environments/prod: nothing written" in result.stdout


def test_restart_all(repository: Repository) -> None:
    _bump(repository)
    before = repository.manifest("bert")
    repository.build("--restart-all")
    assert repository.manifest("bert") != before
    assert run("build", "--check").exit_code == 0


@pytest.mark.parametrize("name", ["bert", "prod/bert", "environments/prod/bert"])
def test_restart_of_one_leaves_the_others_to_be_decided(repository: Repository, name: str) -> None:
    _bump(repository)
    result = run("build", "--restart", name)
    assert result.exit_code == 1
    assert "would restart 2 trainings of environments/prod that nobody changed: resnet, shards" in result.stderr
    repository.build("--restart", name, "--restart", "resnet", "--restart", "shards")


def test_restart_of_one_and_pins_for_the_rest(repository: Repository) -> None:
    _bump(repository)
    before = {name: repository.manifest(name) for name in ("bert", "resnet", "shards")}
    repository.build("--restart", "bert", "--pin-rest")
    assert repository.manifest("bert") != before["bert"]
    assert {name: repository.manifest(name) for name in ("resnet", "shards")} == {
        name: before[name] for name in ("resnet", "shards")
    }
    spec = repository.read("environments/prod/environment.yaml")
    assert spec.count("pin: ") == 2
    assert run("build", "--check").exit_code == 0


def test_a_change_in_a_jobs_own_block_needs_no_flag(repository: Repository) -> None:
    repository.prod(("env: {LR: 0.1}", "env: {LR: 0.2}"))
    repository.build()


def test_a_change_in_place_needs_no_flag(repository: Repository) -> None:
    repository.prod(("defaults:\n", "defaults:\n  priorityClassName: urgent\n"))
    repository.build()


def test_a_change_of_what_a_job_starts_from_restarts_it_by_accident(repository: Repository) -> None:
    repository.prod(("  shards:\n", "  small: {from: resnet, worker: {replicas: 1}}\n  shards:\n"))
    repository.build()
    repository.commit("small")
    repository.prod(("env: {LR: 0.1}", "env: {LR: 0.2}"))
    result = run("build")
    assert result.exit_code == 1
    assert "`jobs.resnet.env.LR` would restart a training" in result.stderr
    assert "nobody changed: small" in result.stderr


def test_what_is_removed_from_defaults_is_named_by_what_was_committed(repository: Repository) -> None:
    repository.prod(("  volumes: [logs]\n", "  volumes: [logs]\n  env: {X: 1}\n"))
    repository.build("--restart-all")
    repository.commit("X")
    repository.prod(("  env: {X: 1}\n", ""))
    result = run("build")
    assert result.exit_code == 1
    assert "`defaults.env (removed)` would restart 3 trainings" in result.stderr
    assert result.stderr.count("error[") == 1
    shutil.rmtree(repository.top / ".git")  # where nobody knows what was
    result = run("build")
    words = "what is no longer in the spec, or another version of a plugin or ours, would restart 3 trainings"
    assert f"error[TF604]: {words}" in result.stderr
    assert result.stderr.count("error[") == 1


def test_what_is_committed_counts_and_not_what_was_built_meanwhile(repository: Repository) -> None:
    _bump(repository)
    repository.build("--restart-all")
    repository.base(("tf:2.22", "tf:2.21"))
    repository.build()  # back to what runs: nothing restarts
    assert repository.git("status", "--porcelain") == ""


def test_manifests_that_were_deleted_are_not_forgotten(repository: Repository) -> None:
    _bump(repository)
    shutil.rmtree(repository.top / "environments/prod/manifests")
    result = run("build")
    assert result.exit_code == 1
    assert "nobody changed: bert, resnet, shards" in result.stderr


def test_pins_are_to_what_is_committed_and_put_it_back(repository: Repository) -> None:
    before = {name: repository.manifest(name) for name in ("bert", "resnet", "shards")}
    _bump(repository)
    repository.build("--restart-all")
    repository.base(("tf:2.22", "tf:2.23"))
    repository.build("--pin-rest")
    assert {name: repository.manifest(name) for name in before} == before


def test_another_namespace_is_a_restart(repository: Repository) -> None:
    repository.prod(("namespace: ml\n", "namespace: other\n"))
    result = run("build")
    assert result.exit_code == 1
    assert "nobody changed: bert, resnet, shards" in result.stderr
    assert ", namespace ml → other" in result.stdout
    assert "`namespace" in result.stderr
    repository.build("--restart-all")


BROKEN = [
    "<<<<<<< HEAD\n", "\tx: 1\n", "---\na: b\n", "kind: Job\n", "  name: 5\n", "spec: 5\n", "status: {}\n", "a: [\n",
]  # fmt: skip


@pytest.mark.parametrize("line", BROKEN)
def test_whatever_stands_in_a_committed_manifest_it_is_told(repository: Repository, line: str) -> None:
    path = "environments/prod/manifests/workloads/job-bert.yaml"
    repository.write(path, repository.read(path) + line)
    repository.commit("broken")
    _bump(repository)
    result = run("build")
    assert result.exit_code == 1
    assert "TF604" in result.stderr
    assert run("review", "--against", "HEAD").exit_code == 0


def test_pins_that_cannot_be_are_not_written(repository: Repository) -> None:
    path = "environments/prod/manifests/workloads/job-bert.yaml"
    repository.edit(path, ("maxRetry: 3", "maxRetry: 5"))
    repository.commit("edited")
    _bump(repository)
    before = _state(repository)
    result = run("build", "--pin-rest")
    assert result.exit_code == 1
    assert "TF306" in result.stderr
    assert _state(repository) == before


def test_only_what_is_committed_can_be_pinned(repository: Repository) -> None:
    _bump(repository)
    repository.build("--restart-all")
    before = _state(repository)
    result = run("pin", "environments/prod", "bert")
    assert result.exit_code == 1
    assert "the manifest of 'bert' is not the committed one" in result.stderr
    assert _state(repository) == before
    repository.commit("bump")
    assert run("pin", "environments/prod", "bert").exit_code == 0


def test_a_change_that_needs_no_restart_does_not_open_the_guard(repository: Repository) -> None:
    repository.prod(("  bert:\n", "  bert:\n    labels: {team: vision}\n    priorityClassName: urgent\n"))
    _bump(repository)
    result = run("build")
    assert "nobody changed: bert, resnet, shards" in result.stderr


def test_an_alias_for_labels_does_not_open_the_guard(repository: Repository) -> None:
    repository.prod(
        ("  bert:\n", "  bert:\n    labels: {team: a}\n"), ("  shards:\n", "  shards:\n    labels: {team: a}\n")
    )
    repository.keep()
    repository.prod(("bert:\n    labels: {team", "bert:\n    labels: &l {team"))
    repository.prod(("shards:\n    labels: {team: a}", "shards:\n    labels: *l"))
    _bump(repository)
    assert "nobody changed: bert, resnet, shards" in run("build").stderr


@pytest.mark.parametrize("moved", [False, True])
def test_an_edit_that_was_not_in_force_is_no_consent(repository: Repository, moved: bool) -> None:
    """The case his-7."""
    run("pin", "environments/prod", "bert")
    repository.prod(("{replicas: 2, cpu: 4, gpu: 1}", "{replicas: 2, cpu: 6, gpu: 1}"))
    repository.build()
    repository.commit("pinned")
    folder = "environments/live" if moved else "environments/prod"
    if moved:
        shutil.move(repository.top / "environments/prod", repository.top / folder)
    said = run("unpin", folder, "bert").stdout
    assert f"bert: `build --restart {folder.rpartition('/')[2]}/bert` makes a new run" in said
    result = run("build")
    assert result.exit_code == 1
    assert "a training of" in result.stderr
    assert "that nobody changed: bert" in result.stderr


def test_an_edit_with_the_end_of_its_pin_is_consent(repository: Repository) -> None:
    run("pin", "environments/prod", "bert")
    repository.build()
    repository.commit("pinned")
    repository.prod(("{replicas: 2, cpu: 4, gpu: 1}", "{replicas: 2, cpu: 6, gpu: 1}"))
    assert "bert: the next build makes a new run" in run("unpin", "environments/prod", "bert").stdout
    repository.build()


@pytest.mark.parametrize("line", ["own 00000000", "jobs.other; do not edit."])
def test_an_edited_first_line_of_a_pinned_manifest_is_told(repository: Repository, line: str) -> None:
    """The case his-8."""
    path = "environments/prod/manifests/workloads/job-bert.yaml"
    run("pin", "environments/prod", "bert")
    repository.build()
    repository.keep()
    first = repository.read(path).partition("\n")[0]
    own = first.rpartition(" ")[2]
    edited = first.replace(own, "00000000") if line.startswith("own") else first.replace("jobs.bert", "jobs.bert ")
    repository.write(path, repository.read(path).replace(first, edited))
    if line.startswith("own"):
        result = run("build")
        assert result.exit_code == 1
        assert "manifests/workloads/job-bert.yaml is kept by a pin, and is not the committed file" in result.stderr
        assert f"git checkout -- {path}" in result.stderr
        repository.commit("edited")
        assert "manifests/workloads/job-bert.yaml is kept by a pin, and no commit up to" in " ".join(
            repository.review().stdout.split()
        )
        run("unpin", "environments/prod", "bert")
        _bump(repository)
        assert "nobody changed: bert, resnet, shards" in run("build").stderr
    else:
        assert run("build").exit_code == 1


def test_a_header_without_the_digest_of_the_block_is_no_consent(repository: Repository) -> None:
    path = "environments/prod/manifests/workloads/job-resnet.yaml"
    first = repository.read(path).partition("\n")[0]
    repository.edit(path, (first, first.partition(" own ")[0]))
    repository.commit("edited")
    repository.prod(("env: {LR: 0.1}", "env: {LR: 0.2}"))
    result = run("build")
    assert result.exit_code == 1
    assert "nobody changed: resnet" in result.stderr


def test_nor_does_it_in_a_role(repository: Repository) -> None:
    repository.prod(("minAvailable: 1", "minAvailable: 2"))
    _bump(repository)
    assert "nobody changed: bert, resnet, shards" in run("build").stderr


def test_check_and_stdout_are_pure_functions_of_the_repository(repository: Repository) -> None:
    _bump(repository)
    assert run("build", "--stdout").exit_code == 0
    result = run("build", "--check")
    assert result.exit_code == 1
    assert "TF604" not in result.output
    assert "stale  environments/prod/manifests/workloads/job-bert.yaml" in result.stdout


def test_a_manifest_edited_by_hand_is_restored_without_a_flag(repository: Repository) -> None:
    path = "environments/prod/manifests/workloads/job-bert.yaml"
    before = repository.read(path)
    repository.edit(path, ("maxRetry: 3", "maxRetry: 4"))
    repository.build()
    assert repository.read(path) == before


def test_a_committed_manifest_without_its_namespace_is_restored_without_a_flag(repository: Repository) -> None:
    """It is taken for the Job of its name in the namespace of the environment, also if that one would restart."""
    path = "environments/prod/manifests/workloads/job-bert.yaml"
    before = repository.read(path)
    repository.edit(path, ("  namespace: ml\n", ""))
    repository.commit("edited")
    repository.build()
    assert repository.read(path) == before
    _bump(repository)
    result = run("build")
    assert result.exit_code == 1
    assert "job-bert.yaml  bert-" in result.stdout
    assert "namespace" not in result.stdout


@pytest.mark.parametrize("header", ["left", "anew"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("maxRetry: 3", "maxRetry: 4"),
        ("maxRetry: 3", "maxRetry: three"),  # no cluster stores this one, nor the next
        ("    template:", "    template: none\n    other:"),
        ("image: registry.example.com/tf:2.21", "image: registry.example.com/tf:6.66"),
    ],
)
def test_a_forged_manifest_is_found_by_the_check_the_guard_and_the_review(
    old: str, new: str, header: str, repository: Repository
) -> None:
    path = "environments/prod/manifests/workloads/job-bert.yaml"
    first, digest, body = repository.read(path).split("\n", 2)
    assert old in body
    body = body.replace(old, new)
    digest = digest if header == "left" else f"# sha256:{sha256(body.encode()).hexdigest()}"
    repository.write(path, f"{first}\n{digest}\n{body}")
    check = run("build", "--check")
    assert check.exit_code == 1
    assert f"{'edited' if header == 'left' else 'stale'}  {path}" in check.stdout
    repository.commit("forged")
    review = run("review", "--against", "main", "--exit-code")
    assert review.exit_code == 1
    assert "bert" in review.stdout
    _bump(repository)
    guard = run("build")
    assert guard.exit_code == 1
    assert "bert" in guard.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--restart", "bret"), "did you mean 'bert'?"),
        (("--restart-all", "--restart", "bert"), "--restart-all goes with neither"),
        (("--restart-all", "--pin-rest"), "--restart-all goes with neither"),
        (("--restart-all", "--check"), "are for a build that writes"),
        (("--pin-rest", "--stdout"), "are for a build that writes"),
    ],
)
def test_wrong_command_lines(repository: Repository, arguments: tuple[str, ...], message: str) -> None:
    result = run("build", *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.output.replace("│", "").split())


def test_a_repository_that_git_does_not_read_is_told_and_not_taken_for_none(
    repository: Repository, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """As in a container that runs as another user: the guard would else compare with what was built meanwhile."""
    git = tmp_path_factory.mktemp("bin") / "git"
    words = f"fatal: detected dubious ownership in repository at '{repository.top}'"
    git.write_text(f'#!/bin/sh\necho "{words}" >&2\nexit 128\n', encoding="utf-8")
    git.chmod(0o755)
    _bump(repository)
    before = _state(repository)
    for arguments in (("build",), ("build", "--pin-rest"), ("pin", "environments/prod", "bert"), ("review",)):
        result = run(*arguments, PATH=f"{git.parent}:/usr/bin:/bin")
        assert result.exit_code == 1
        assert "error[TF606]" in result.stderr
        assert "Git says: detected dubious ownership" in result.stderr
        assert f"git config --global --add safe.directory {repository.top}" in result.stderr
    assert _state(repository) == before


def test_a_git_that_cannot_be_run_is_told(repository: Repository, tmp_path_factory: pytest.TempPathFactory) -> None:
    git = tmp_path_factory.mktemp("bin") / "git"
    git.mkdir()
    _bump(repository)
    for command in ("build", "review"):
        result = run(command, PATH=str(git.parent))
        assert result.exit_code == 1
        assert "error[TF606]: git cannot be run: Permission denied" in result.stderr


@pytest.mark.parametrize("damage", ["a worktree that is gone", "a HEAD that is lost"])
def test_a_repository_that_is_broken_is_told_and_not_taken_for_none(repository: Repository, damage: str) -> None:
    git = repository.top / ".git"
    if damage == "a HEAD that is lost":
        (git / "HEAD").write_text("nonsense\n", encoding="utf-8")
    else:
        git.rename(repository.top / "elsewhere")
        git.write_text("gitdir: /nowhere\n", encoding="utf-8")
    _bump(repository)
    result = run("build")
    assert result.exit_code == 1
    assert "error[TF606]" in result.stderr
    assert "see what `git status` says there" in result.stderr
    assert "environments/prod: nothing written" in result.stdout


def test_a_mark_of_the_root_is_no_repository(repository: Repository) -> None:
    shutil.rmtree(repository.top / ".git")
    (repository.top / ".git").mkdir()
    assert run("build", "--restart-all").exit_code == 0
