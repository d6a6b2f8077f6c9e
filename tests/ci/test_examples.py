"""docs/ci: the examples are what GitHub, GitLab and pre-commit read, and their commands exist."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import typer.main
from checkout import REPOSITORY
from steps import EXAMPLES, read

from tfgitops.cli import COMMANDS, app

if TYPE_CHECKING:
    from collections.abc import Iterator

HOOKS = REPOSITORY / ".pre-commit-hooks.yaml"


def scripts(value: Any) -> Iterator[str]:
    """Yield the shell scripts of a document: workflows have them in `run`, GitLab in `script`, hooks in `entry`."""
    if isinstance(value, dict):
        for key, below in value.items():
            if key in {"run", "script", "before_script", "entry"}:
                yield from [below] if isinstance(below, str) else below
            else:
                yield from scripts(below)
    elif isinstance(value, list):
        yield from (text for below in value for text in scripts(below))


def calls_of(text: str) -> Iterator[list[str]]:
    """Yield the arguments of each call of tfgitops in a shell's text, or in the code of a page."""
    for found in re.findall(r"(?:^|[\s;`!])tfgitops ((?:[a-z]|--)[^\n`;|>]*)", text):
        arguments = shlex.split(re.sub(r"\s\d?$", "", found), comments=True)
        yield [argument for argument in arguments if "{{" not in argument]


CALLS = sorted(
    {
        (path.name, *call)
        for path in (*EXAMPLES.glob("*.yaml"), HOOKS)
        for text in scripts(read(path))
        for call in calls_of(text)
    }
    | {
        ("ci.md", *call)
        for code in re.findall("`(tfgitops [^`]+)`", (REPOSITORY / "docs/how-to/ci.md").read_text(encoding="utf-8"))
        for call in calls_of(code)
    }
)


def test_the_examples_are_what_github_and_gitlab_read() -> None:
    checker = [sys.executable, "-m", "check_jsonschema"]
    workflows = sorted(EXAMPLES.glob("github*.yaml"))
    assert len(workflows) == 3
    subprocess.run([*checker, "--builtin-schema", "vendor.github-workflows", *workflows], check=True)
    gitlab = ["--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci", EXAMPLES / "gitlab.yaml"]
    subprocess.run([*checker, *gitlab], check=True)


def test_there_are_calls_in_every_example_that_has_some() -> None:
    assert {call[0] for call in CALLS} == {
        "ci.md", "github.yaml", "github-fork-check.yaml", "gitlab.yaml", "pre-commit-local.yaml", HOOKS.name,
    }  # fmt: skip


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_every_call_is_a_command_with_its_options(call: tuple[str, ...]) -> None:
    _, name, *arguments = call
    if name == "review" and name not in COMMANDS:
        pytest.skip("the command is not built yet")
    group: Any = typer.main.get_command(app)
    command = group.get_command(None, name)
    assert command is not None
    command.make_context(name, arguments)  # raises for what is no option


def test_every_shell_script_has_a_form_that_bash_accepts() -> None:
    found = [text for path in sorted(EXAMPLES.glob("*.yaml")) for text in scripts(read(path))]
    assert len(found) >= 15
    for script in found:
        subprocess.run(["bash", "-n", "-c", script], check=True)


def test_nothing_that_others_can_name_stands_in_a_script() -> None:
    for path in EXAMPLES.glob("github*.yaml"):
        (job,) = read(path)["jobs"].values()
        assert [found for found in job["steps"] if "${{" in found.get("run", "")] == []


def test_the_hook_is_asked_for_what_can_change_a_manifest() -> None:
    (hook,) = read(HOOKS)
    (local,) = read(EXAMPLES / "pre-commit-local.yaml")["repos"][0]["hooks"]
    (named,) = read(EXAMPLES / "pre-commit-config.yaml")["repos"][0]["hooks"]
    assert named == {"id": hook["id"]}
    assert hook["pass_filenames"] is False
    for key in ("id", "name", "entry", "language", "files", "pass_filenames"):
        assert local[key] == hook[key]
    asked = re.compile(hook["files"]).search
    for name in ("environments/base.yaml", "environments/a/manifests/workloads/x.yaml", "plugins/own.py"):
        assert asked(name)
    for name in ("pyproject.toml", "tfgitops.lock"):
        assert asked(name)
    for name in ("README.md", "src/environments.py", "lib/pyproject.toml"):
        assert not asked(name)
