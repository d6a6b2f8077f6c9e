"""`tfgitops init`: its repository passes the CI that it writes, and no file of others is touched."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from builder import cut
from checkout import REPOSITORY
from commandline import run
from steps import EXAMPLES, read, shell, step

from tfgitops import __version__
from tfgitops.cli import app

PROD = "environments/prod/environment.yaml"
_GIT = {f"GIT_{who}_{what}": "a@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def git(*arguments: str) -> str:
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", **_GIT}
    return subprocess.run(
        ["git", *arguments], env=os.environ | settings, check=True, capture_output=True, text=True
    ).stdout  # fmt: skip


def commit(message: str) -> None:
    git("add", "--all")
    git("commit", "--quiet", "--message", message)


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    git("init", "--quiet", "--initial-branch=main")
    return tmp_path


@pytest.fixture
def repository(empty: Path) -> Path:
    """Make a repository by `init`, with its first commit on main, which a remote has, and a branch."""
    assert run("init").exit_code == 0
    commit("init")
    git("update-ref", "refs/remotes/origin/main", "main")
    git("checkout", "--quiet", "-b", "change")
    return empty


def bash(script: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a script as a runner does, with `tfgitops` of these tests and nothing to post to."""
    return shell(script, Path.cwd(), **variables)


def recipe() -> dict[str, tuple[str, dict[str, str]]]:
    """Return the scripts of the CI files in the working directory, but those that install and post.

    The action and the component have the same scripts for a folder that they are given.
    """
    [job] = yaml.safe_load(Path(".github/workflows/tfgitops.yaml").read_text())["jobs"].values()
    github = {step["name"]: step["run"] for step in job["steps"] if "run" in step}
    gitlab = yaml.safe_load(Path(".gitlab-ci.yml").read_text())
    component = read(EXAMPLES["template.yml"])
    where = {
        "BASE": "main", "GITHUB_STEP_SUMMARY": os.devnull, "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
        "FOLDER": "environments",
    }  # fmt: skip
    [hook] = yaml.safe_load(Path(".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    scripts = {
        "GitHub's check": github["Check"],
        "GitHub's review": github["Review"],
        "GitLab's check": "\n".join(gitlab["tfgitops-check"]["script"]),
        "GitLab's review": _unposted(gitlab["tfgitops-review"]["script"]),
        "the action's check": step("action.yml", "Check"),
        "the action's review": step("action.yml", "Review"),
        "the component's check": "\n".join(component["tfgitops-check"]["script"]),
        "the component's review": _unposted(component["tfgitops-review"]["script"]),
        "pre-commit": hook["entry"],
    }
    return {name: (script, where) for name, script in scripts.items()}


def _unposted(script: list[str]) -> str:
    return "\n".join(line for line in script if "gitlab_note" not in line and "fetch" not in line)


def codes() -> dict[str, int]:
    return {name: bash(script, **where).returncode for name, (script, where) in recipe().items()}


def test_a_new_repository_passes_its_own_ci(repository: Path) -> None:
    assert codes() == dict.fromkeys(recipe(), 0)
    assert json.loads(Path("tfgitops.sarif").read_text())["runs"][0]["results"] == []
    assert json.loads(Path("gl-code-quality-report.json").read_text()) == []
    assert "nothing will change" in Path("review.md").read_text()


def test_a_change_that_was_not_built_fails_its_ci(repository: Path) -> None:
    Path(PROD).write_text(cut(Path(PROD).read_text(), "replicas: 2, cpu: 4, memory: 8Gi}", "replicas: 3, cpu: 4}"))
    commit("not built")
    assert {name for name, code in codes().items() if code} == {name for name in recipe() if "review" not in name}
    [result] = json.loads(Path("tfgitops.sarif").read_text())["runs"][0]["results"]
    assert result["ruleId"] == "TF612"
    [entry] = json.loads(Path("gl-code-quality-report.json").read_text())
    assert entry["location"]["path"] == "environments/prod/manifests/workloads/job-mnist.yaml"
    assert run("build").exit_code == 0
    commit("built")
    assert codes() == dict.fromkeys(recipe(), 0)
    assert "mnist" in Path("review.md").read_text()


def test_init_twice_writes_nothing_the_second_time(repository: Path) -> None:
    done = run("init")
    assert done.exit_code == 0
    assert not re.search("^(wrote|left)", done.output, re.MULTILINE)
    assert git("status", "--porcelain") == ""


def test_a_file_that_is_there_is_left_and_named(empty: Path) -> None:
    Path("README.md").write_text("ours\n")
    Path("CODEOWNERS").mkdir()
    Path(".gitattributes").symlink_to("nowhere")
    Path("environments").mkdir()
    Path("environments/base.yaml").write_text("ours\n")
    done = run("init")
    assert done.exit_code == 1
    left = {"README.md", "CODEOWNERS/", ".gitattributes", "environments/"}
    assert {line.split()[1] for line in done.output.splitlines() if line.startswith("left ")} == left
    assert Path("README.md").read_text() == Path("environments/base.yaml").read_text() == "ours\n"
    assert [path.name for path in Path("environments").iterdir()] == ["base.yaml"]
    assert Path(".gitattributes").is_symlink()
    assert Path("tfgitops.lock").exists()


def test_an_empty_folder_of_environments_is_filled(empty: Path) -> None:
    Path("environments").mkdir()
    assert run("init").exit_code == 0
    assert Path(PROD).exists()


def test_a_file_in_place_of_a_folder_is_an_error(empty: Path) -> None:
    Path("file").touch()
    assert run("init", "file").exit_code == 1
    Path(".vscode").touch()
    done = run("init")
    assert done.exit_code == 1
    assert "error[TF602]: .vscode/settings.json cannot be written" in done.output


def test_ci_files_below_the_top_of_a_repository_would_not_be_read(empty: Path) -> None:
    done = run("init", "below")
    assert done.exit_code == 1
    assert "run `tfgitops init` in" in done.output
    assert not Path("below").exists()


@pytest.mark.parametrize(("host", "there", "missing"), [
    ("github", ".github", ".gitlab-ci.yml"), ("gitlab", ".gitlab-ci.yml", ".github"),
])  # fmt: skip
def test_options_choose_the_host_and_the_controller(empty: Path, host: str, there: str, missing: str) -> None:
    assert run("init", "--ci", host, "--gitops", "argocd").exit_code == 0
    assert Path(there).exists()
    assert not Path(missing).exists()
    assert "sync-wave" in Path("environments/prod/manifests/workloads/job-mnist.yaml").read_text()
    assert run("build", "--check", "--locked", "--strict").exit_code == 0


def test_next_steps_begin_with_those_that_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("init", "new")
    assert done.exit_code == 0
    steps = done.output.partition("Next:\n")[2].split("\n")
    assert [step.split()[0] for step in steps[:2]] == ["cd", "git"]
    monkeypatch.chdir(tmp_path / "new")
    assert run("build", "--check", "--locked").exit_code == 0


def test_the_files_name_this_version(empty: Path) -> None:
    run("init")
    for name in ("requirements-tfgitops.txt", ".pre-commit-config.yaml"):
        assert re.findall(r"tfgitops==([^\s,\]]+)", Path(name).read_text()) == [__version__]
    forks = (REPOSITORY / "docs" / "ci" / "github-fork-check.yaml").read_text()
    assert "requirements-tfgitops.txt" in forks
    local = (REPOSITORY / "docs" / "ci" / "pre-commit-config.yaml").read_text()
    assert f"rev: v{__version__}\n" in local


def test_hosts_fold_what_is_generated(repository: Path) -> None:
    paths = ["environments/prod/manifests/workloads/job-mnist.yaml", "environments/a/b/manifests/cluster/queue-x.yaml"]
    for attribute in ("linguist-generated", "gitlab-generated"):
        told = git("check-attr", attribute, *paths, "schemas/job.schema.json", PROD).splitlines()
        assert [line.rpartition(" ")[2] for line in told] == ["set", "set", "set", "unspecified"]


def test_editors_get_the_schemas_of_the_plugins(repository: Path) -> None:
    settings: dict[str, Any] = json.loads(Path(".vscode/settings.json").read_text())["yaml.schemas"]
    for path, which in zip(settings, ("environment", "job"), strict=True):
        assert Path(path).read_text() == run("schema", which).stdout
    named = re.findall(r"\$schema=(\S+)", Path(PROD).read_text())
    assert [(Path(PROD).parent / one).resolve() for one in named] == [Path("schemas/environment.schema.json").resolve()]


def test_the_readme_has_three_paragraphs_and_its_commands_exist(repository: Path) -> None:
    import typer.main  # noqa: PLC0415

    text = Path("README.md").read_text()
    assert len(text.strip().split("\n\n")) == 1 + 3
    commands: Any = typer.main.get_command(app)
    for call in re.findall("`tfgitops ([^`]*)`", text):
        name, *arguments = call.split()
        commands.get_command(None, name).make_context(name, arguments)
