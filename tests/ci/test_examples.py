"""CI files: the examples are what GitHub, GitLab and pre-commit read, and their commands exist."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import typer.main
import yaml
from checkout import REPOSITORY
from installed import SOURCES
from steps import BIN, EXAMPLES, put, read, shell, step, steps_of, texts

from tfgitops.cli import COMMANDS, app

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOOKS = EXAMPLES[".pre-commit-hooks.yaml"]


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
    {(path.name, *call) for path in EXAMPLES.values() for text in scripts(read(path)) for call in calls_of(text)}
    | {
        ("ci.md", *call)
        for code in re.findall("`(tfgitops [^`]+)`", (REPOSITORY / "docs/how-to/ci.md").read_text(encoding="utf-8"))
        for call in calls_of(code)
    }
)


WORKFLOWS = [path for name, path in EXAMPLES.items() if name.startswith("github")]


@pytest.mark.parametrize(
    ("schema", "names"),
    [
        ("github-workflows", [path.name for path in WORKFLOWS]),
        ("github-actions", ["action.yml"]),
        ("gitlab-ci", ["gitlab.yaml", "template.yml"]),
    ],
)
def test_the_files_are_what_github_and_gitlab_read(schema: str, names: list[str], tmp_path: Path) -> None:
    for name in names:
        put(tmp_path / name, yaml.safe_dump(read(EXAMPLES[name]), sort_keys=False).replace("\ntrue:", "\non:"))
    options = ["--data-transform", "gitlab-ci"] if schema == "gitlab-ci" else []
    checker = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *options]
    subprocess.run([*checker, *(tmp_path / name for name in names)], check=True)


def test_the_action_and_the_component_do_what_the_files_of_init_do() -> None:
    """They say it twice, since hosts read neither from a package: only the folder is theirs."""

    def plain(script: Any) -> Any:
        return [one.replace(' "$FOLDER"', "") for one in script]

    for name in ("Check", "Review", "Comment"):
        assert plain([step("action.yml", name)]) == [step("github.yaml", name)]
    component, written = read(EXAMPLES["template.yml"]), read(EXAMPLES["gitlab.yaml"])
    assert component.keys() == written.keys()
    for name in ("tfgitops-check", "tfgitops-review"):
        assert {**component[name], "script": plain(component[name]["script"])} == written[name]


def test_an_input_is_a_variable_and_no_text_of_a_script() -> None:
    inputs, component = yaml.safe_load_all(EXAMPLES["template.yml"].read_text(encoding="utf-8"))
    for script in scripts(component):
        assert "$[[" not in script
    used = {word for text in texts(component) for word in re.findall(r"\$\[\[ inputs\.(\w+) \]\]", text)}
    assert used == {*inputs["spec"]["inputs"]}
    action = EXAMPLES["action.yml"].read_text(encoding="utf-8")
    assert {*re.findall(r"inputs\.([\w-]+)", action)} == {*read(EXAMPLES["action.yml"])["inputs"]}


def test_the_page_gives_the_action_and_the_component_inputs_that_they_have() -> None:
    page = (REPOSITORY / "docs/how-to/ci.md").read_text(encoding="utf-8")
    blocks = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)]
    [workflow] = [block for block in blocks if "jobs" in block and True in block]  # `on` is a truth to YAML 1.1
    [call] = [one for one in workflow["jobs"]["check"]["steps"] if "tfgitops@" in one["uses"]]
    assert call["with"].keys() <= read(EXAMPLES["action.yml"])["inputs"].keys()
    [included] = next(block["include"] for block in blocks if "include" in block)
    assert f"/{EXAMPLES['template.yml'].parent.name}@" in included["component"]
    inputs = next(yaml.safe_load_all(EXAMPLES["template.yml"].read_text(encoding="utf-8")))["spec"]["inputs"]
    assert included["inputs"].keys() <= inputs.keys()


@pytest.mark.parametrize(
    ("requirements", "called"),
    [("", "install /opt/the action"), ("needed $(touch x).txt", "install --requirement needed $(touch x).txt")],
)
def test_the_action_installs_itself_or_a_file_of_requirements(tmp_path: Path, requirements: str, called: str) -> None:
    put(tmp_path / "bin/pip", '#!/bin/sh\necho "$@"\n')
    (tmp_path / "bin/pip").chmod(0o755)
    done = shell(step("action.yml", "Install"), tmp_path, ACTION="/opt/the action", REQUIREMENTS=requirements)
    assert (done.returncode, done.stdout) == (0, f"{called}\n")


def test_shellcheck_finds_nothing_in_the_scripts(tmp_path: Path) -> None:
    found = [text for path in EXAMPLES.values() for text in scripts(read(path)) if path.name != HOOKS.name]
    for number, script in enumerate(found):
        put(tmp_path / f"{number}.sh", f"{script}\n")
    names = sorted(str(path) for path in tmp_path.iterdir())
    # SC2154 and SC2034: each line of GitLab's scripts is a text of its own, and a variable may be of another line.
    done = subprocess.run(
        [BIN / "shellcheck", "--shell=bash", "--exclude=SC2154,SC2034", *names],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == ""


def test_actionlint_finds_nothing_in_the_workflows() -> None:
    if not (program := shutil.which("actionlint")):
        pytest.skip(
            "actionlint is not here, and no wheel has it: go install github.com/rhysd/actionlint/cmd/actionlint"
        )
    done = subprocess.run(
        [program, "-shellcheck", BIN / "shellcheck", *WORKFLOWS], capture_output=True, text=True, check=False
    )
    assert done.stdout == ""


def test_hadolint_finds_nothing_in_the_dockerfile() -> None:
    done = subprocess.run([BIN / "hadolint", REPOSITORY / "Dockerfile"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_image_gets_all_that_the_wheel_is_built_from() -> None:
    kept = (REPOSITORY / ".dockerignore").read_text(encoding="utf-8").split("*\n", 1)[1]
    assert {*re.findall(r"^!(.*)$", kept, re.MULTILINE)} == {*SOURCES, "requirements"}


def test_there_are_calls_in_every_example_that_has_some() -> None:
    assert {call[0] for call in CALLS} == {
        "ci.md", "github.yaml", "github-fork-check.yaml", "gitlab.yaml", "pre-commit.yaml", "action.yml",
        "template.yml", HOOKS.name,
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
    found = [text for path in EXAMPLES.values() for text in scripts(read(path))]
    assert len(found) >= 15
    for script in found:
        subprocess.run(["bash", "-n", "-c", script], check=True)


def test_nothing_that_others_can_name_stands_in_a_script() -> None:
    for name in (*(path.name for path in WORKFLOWS), "action.yml"):
        assert [found for found in steps_of(name) if "${{" in found.get("run", "")] == []


def test_the_hook_is_asked_for_what_can_change_a_manifest() -> None:
    (hook,) = read(HOOKS)
    (local,) = read(EXAMPLES["pre-commit.yaml"])["repos"][0]["hooks"]
    (named,) = read(EXAMPLES["pre-commit-config.yaml"])["repos"][0]["hooks"]
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
