"""CI files: a stranger's pull request gives its specs, and none of its plugins is ever run."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from steps import EXAMPLES, HEAD, git, put, read, shell, step, texts

if TYPE_CHECKING:
    from pathlib import Path

PLUGIN = "from pathlib import Path\ntfgitops_api = 1\nPath({marker!r}).write_text(__file__)\n"
PROJECT = '[tool.tfgitops]\nplugins = ["plugins/own.py"]\n'


@pytest.fixture
def fork(tmp_path: Path) -> Path:
    """Make a repository with a plugin, a stranger's pull request 7 that attacks it, and a checkout of the base."""
    origin = tmp_path / "origin"
    put(origin / "pyproject.toml", PROJECT)
    put(origin / "plugins/own.py", PLUGIN.format(marker=str(tmp_path / "own")))
    put(origin / "environments/prod/environment.yaml", f"{HEAD}jobs: {{train: {{image: 'tf:1', worker: 1}}}}\n")
    put(origin / "environments/old/environment.yaml", f"{HEAD}jobs: {{gone: {{image: 'tf:1', worker: 1}}}}\n")
    shell("tfgitops lock && tfgitops build", origin).check_returncode()
    git(origin, "init")
    git(origin, "add", "--all")
    git(origin, "commit", "--message", "base")
    git(origin, "checkout", "-b", "stranger")
    evil = PLUGIN.format(marker=str(tmp_path / "evil"))
    put(origin / "plugins/own.py", evil)
    for folder in ("environments", "environments/prod"):
        put(origin / folder / "evil.py", evil)
        put(origin / folder / "pyproject.toml", '[tool.tfgitops]\nplugins = ["evil.py"]\n')
    shutil.rmtree(origin / "environments/old")
    put(origin / "environments/prod/environment.yaml", f"{HEAD}jobs: {{train: {{image: 'tf:2', worker: 1}}}}\n")
    git(origin, "add", "--all")
    git(origin, "commit", "--message", "attack")
    git(origin, "update-ref", "refs/pull/7/merge", "stranger")
    git(origin, "checkout", "main")
    git(tmp_path, "clone", "origin", "checkout")
    return tmp_path


def marks(folder: Path) -> list[str]:
    """Return which of the two plugins ran, and forget it."""
    found = [name for name in ("own", "evil") if (folder / name).exists()]
    for name in found:
        (folder / name).unlink()
    return found


def test_the_attack_is_one(fork: Path) -> None:
    """`--locked` alone refuses a plugin that was changed beside its lock, and a stranger changes both."""
    marks(fork)
    checkout = fork / "checkout"
    git(checkout, "checkout", "origin/stranger")
    shell("tfgitops build --check --locked environments/prod", checkout)
    assert marks(fork) == []
    assert "is a root inside of the root ." in shell("tfgitops lock environments/prod", checkout).stderr
    git(checkout, "rm", "--quiet", "environments/pyproject.toml", "environments/prod/pyproject.toml")
    shell("tfgitops lock environments/prod", checkout)
    marks(fork)
    shell("tfgitops build --check --locked environments/prod", checkout)
    assert marks(fork) == ["evil"]
    git(checkout, "clean", "--force", "-d")
    git(checkout, "checkout", "--force", "main")
    git(checkout, "checkout", "origin/stranger", "--", "environments")
    assert "is a root inside of the root ." in shell("tfgitops build --check environments/prod", checkout).stderr
    assert marks(fork) == []


def test_a_strangers_specs_are_checked_by_the_plugins_of_the_base(fork: Path) -> None:
    marks(fork)
    checkout = fork / "checkout"
    taken = shell(step("github-fork-check.yaml", "Take the specs"), checkout, NUMBER="7")
    assert (taken.returncode, taken.stderr) == (0, "")
    checked = shell(step("github-fork-check.yaml", "Check"), checkout)
    assert marks(fork) == ["own"]
    assert checked.returncode == 1
    (line,) = checked.stdout.splitlines()
    manifest = "environments/prod/manifests/workloads/job-train.yaml"
    assert line.startswith(f"::error file={manifest},title=TF612::the manifest is stale")
    assert not (checkout / "environments/old").exists()
    assert sorted(path.name for path in (checkout / "environments").rglob("*") if path.is_file()) == [
        "environment.yaml", "job-train.yaml",
    ]  # fmt: skip


def test_links_of_a_stranger_are_not_taken(fork: Path) -> None:
    origin, checkout = fork / "origin", fork / "checkout"
    git(origin, "checkout", "stranger")
    (origin / "environments/prod/base.yaml").symlink_to("../../.git/config")
    git(origin, "add", "--all")
    git(origin, "commit", "--message", "link")
    git(origin, "update-ref", "refs/pull/7/merge", "stranger")
    taken = shell(step("github-fork-check.yaml", "Take the specs"), checkout, NUMBER="7")
    assert taken.returncode == 1
    assert "environments/prod/base.yaml" in taken.stdout


def test_the_fork_workflow_has_no_rights_and_the_other_one_no_checkout() -> None:
    check, comment = read(EXAMPLES["github-fork-check.yaml"]), read(EXAMPLES["github-fork-comment.yaml"])
    assert check["permissions"] == {"contents": "read"}
    assert list(check[True]) == ["pull_request"]  # `on` is a truth to YAML 1.1
    assert not any("secrets." in text or "github.token" in text for text in texts(check))
    assert comment[True]["workflow_run"]["workflows"] == [check["name"]]
    assert not any(text.startswith("actions/checkout@") for text in texts(comment))


def test_the_check_of_a_fork_ends() -> None:
    """The compiler limits each environment, and not their number."""
    (job,) = read(EXAMPLES["github-fork-check.yaml"])["jobs"].values()
    assert job["timeout-minutes"] <= 30
