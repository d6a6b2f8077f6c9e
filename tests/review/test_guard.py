"""No training restarts by accident: a change from elsewhere stops the build until it is told what may restart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from repository import run

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


def test_the_guard_stops_one_environment_and_not_another(repository: Repository) -> None:
    text = repository.read("environments/prod/environment.yaml").replace("  ../base", "  ../base")
    other = (
        text.replace("extends: ../base.yaml\n", "")
        .replace("eu-1", "eu-2")
        .replace("defaults:\n", "defaults:\n  image: a\n")
    )
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
    assert "nobody changed: resnet, shards" in result.stderr
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
    repository.prod(("env: {LR: 0.1}", "env: {LR: 0.2}"))
    result = run("build")
    assert result.exit_code == 1
    assert "`jobs.resnet.env.LR` would restart a training" in result.stderr
    assert "nobody changed: small" in result.stderr


def test_what_is_removed_from_defaults_is_said_to_be_gone(repository: Repository) -> None:
    repository.prod(("  volumes: [logs]\n", "  volumes: [logs]\n  env: {X: 1}\n"))
    repository.build("--restart-all")
    repository.prod(("  env: {X: 1}\n", ""))
    result = run("build")
    assert result.exit_code == 1
    assert "what is no longer in the spec" in result.stderr


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
