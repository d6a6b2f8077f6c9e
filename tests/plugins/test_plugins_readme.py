"""plugins/README.md is under test: each hook has its block, its tutorial is followed, and its examples work."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from builder import GONE, cut, spec_with
from checkout import REPOSITORY
from commandline import run
from reader import BLOCK, Reader

import tfgitops
from tfgitops.plugins import hookspecs
from tfgitops.spec.schema.formats import FORMATS
from tfgitops.testing import RULES, find_plugins

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfgitops.testing import Bench

README = REPOSITORY / "plugins" / "README.md"
PAGE = README.read_text(encoding="utf-8")
HOOKS = [hook for name, hook in vars(hookspecs).items() if name.startswith("tfgitops_")]
BUNDLED = {plugin.name: plugin.hooks for plugin in find_plugins().plugins if plugin.bundled}


def section(title: str) -> str:
    """Return what stands below a heading, up to the next of its rank."""
    rank = title.split(maxsplit=1)[0]
    found = re.search(rf"^{re.escape(title)}\n(.*?)(?=^{rank} |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    assert found is not None, title
    return found[1].split("\n## ")[0]


# --- the hooks ---------------------------------------------------------------------------------------------------


def block_of(hook: Callable[..., object]) -> str:
    return section(f"### `{hook.__name__}({', '.join(inspect.signature(hook).parameters)})`")


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook.__name__)
def test_each_hook_has_its_block_with_its_exact_arguments(hook: Callable[..., object]) -> None:
    text = block_of(hook)
    assert re.match(r"\nCalled once\b[^.]* by [^.]*\.", text), "who calls it, and when"
    assert re.search(r"Yields\s+(patches|`(SchemaFragment|Problem|Object|Accelerator))", text)


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook.__name__)
def test_each_hook_names_the_bundled_plugins_that_use_it(hook: Callable[..., object]) -> None:
    users = [name for name, module in BUNDLED.items() if hasattr(module, hook.__name__)]
    said = "all plugins of this folder" if len(users) == len(BUNDLED) else ", ".join(f"`{name}`" for name in users)
    assert f"Used by {said}." in " ".join(block_of(hook).split())


def test_there_is_no_block_of_a_hook_that_is_none() -> None:
    named = re.findall(r"^### `(tfgitops_\w+)", PAGE, re.MULTILINE)
    assert named == [hook.__name__ for hook in HOOKS]


EXERCISE = """
    jobs:
      train: {image: tf, worker: 101, costCentre: c1, serviceAccount: robot}
      a-name-of-more-than-20-characters: {image: tf, worker: 1}
"""


def test_the_examples_of_all_hooks_make_one_plugin_that_works(compile_spec: Bench, tmp_path: Path) -> None:
    names = "Accelerator, Object, Problem, SchemaFragment, hookimpl"
    examples = [match[2] for hook in HOOKS for match in BLOCK.finditer(block_of(hook)) if match[1] == "python"]
    assert len(examples) == len(HOOKS)
    for hook, example in zip(HOOKS, examples, strict=True):
        assert f"def {hook.__name__}(" in example
    path = tmp_path / "cost.py"
    path.write_text("\n\n".join([f"from tfgitops import {names}\n\ntfgitops_api = 1", *examples]))
    plugins = find_plugins(path)
    assert compile_spec(EXERCISE, plugins=plugins).codes == ["COST01"]
    one = {"image": "tf", "worker": 1}
    short = spec_with(EXERCISE, {"jobs.a-name-of-more-than-20-characters": GONE, "jobs.short": one})
    assert compile_spec(short, plugins=plugins).codes == ["COST02"]
    result = compile_spec(spec_with(short, {"jobs.train.worker": 1}), plugins=plugins)
    assert result.pod("worker", job="train").labels["example.com/cost-centre"] == "c1"
    assert result.object("ServiceAccount", "robot")
    assert ("cost", "habana.ai/gaudi") in [
        (name, one.resource) for name, one in plugins.ask("tfgitops_accelerators", (), [])
    ]


def test_each_format_is_named() -> None:
    listed = re.search(r"`format` may be any of (.*?), each", " ".join(PAGE.split()))
    assert listed is not None
    assert re.findall(r"`([a-z-]+)`", listed[1]) == sorted(FORMATS)


def test_each_rule_of_the_contract_is_told_as_the_checker_tells_it() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", section("## The contract"), re.MULTILINE)
    assert dict(rows) == RULES


def test_all_that_there_is_to_use_is_named() -> None:
    named = set(re.findall(r"`(\w+)`", section("## Public names")))
    public = {name for name in tfgitops.__all__ if not name.startswith("__")}
    of_the_compiler = {"API_VERSION", "Compiled", "File", "Plugins", "compile_environment", "discover"}
    assert public - of_the_compiler <= named
    assert {name for name in named if hasattr(tfgitops, name)} >= public - of_the_compiler


# --- the tutorial ------------------------------------------------------------------------------------------------


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    yield Reader(tmp_path, monkeypatch)
    for name in [name for name in sys.modules if name.partition(".")[0] == "tfgitops_team"]:
        del sys.modules[name]


def test_the_tutorial_is_followed_and_says_what_it_shows(reader: Reader, request: pytest.FixtureRequest) -> None:
    """``--refresh`` writes anew what the commands say."""
    tutorial = section("## Write a plugin in ten minutes")
    fresh = reader.follow(tutorial)
    if request.config.getoption("tfgitops_refresh"):
        README.write_text(cut(PAGE, tutorial, fresh), encoding="utf-8")
        tutorial = fresh
    assert tutorial == fresh
    spec = Path("tests/cases/bad/not-declared/environment.yaml")
    spec.write_text(cut(spec.read_text(), "team: visoin", "taem: vision"))
    assert "did you mean 'team'?" in run("validate", str(spec)).stderr
    schema = run("schema").stdout
    assert '"teams"' in schema
    assert "team 0.1.0\n" in run("plugins", "list").stdout
    again = run("plugins", "new", "team", "--local").stderr
    assert "choose another name, or `pip uninstall tfgitops-team` first" in again


def test_the_tests_that_the_page_shows_pass_on_the_new_plugin(reader: Reader) -> None:
    reader.follow("```console\n$ tfgitops plugins new team\n$ cd tfgitops-team\n```")
    [shown] = [match[2] for match in BLOCK.finditer(section("### Test with pytest"))]
    Path("tests/test_more.py").write_text(shown)
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert "5 passed" in done.stdout, done.stdout
    strict = (Path(sys.executable).parent / "mypy", "--strict", "--cache-dir", "cache", "tests", "tfgitops_team")
    typed = subprocess.run(strict, capture_output=True, text=True, check=False)
    assert typed.returncode == 0, typed.stdout + typed.stderr


def test_the_types_that_tests_use_are_named() -> None:
    named = set(re.findall(r"`(\w+)`", section("### Test with pytest")))
    assert {"Plugins", "Bench", "Result"} <= named


def test_a_local_plugin_is_named_as_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("plugins", "new", "team", "--local").exit_code == 0
    titles = ("### Keep a plugin in one repository", "### Describe a setting")
    shown, setting = [match[2] for title in titles for match in BLOCK.finditer(section(title))]
    assert shown.startswith(Path("pyproject.toml").read_text())
    plugin = Path("plugins/team.py")
    body = "def tfgitops_schema() -> Iterator[SchemaFragment]:\n"
    plugin.write_text(cut(plugin.read_text(), body, f"{body}    {setting}"))
    spec = Path("environments/prod/environment.yaml")
    spec.parent.mkdir(parents=True)
    spec.write_text("apiVersion: tfgitops/v1alpha1\nkind: Environment\nnamespace: ml\njobs: {}\n")
    for written, said in ((shown, ""), (cut(shown, "true", '"yes"'), '5 | required = "yes"')):
        Path("pyproject.toml").write_text(written)
        assert said in run("validate").stderr
        assert bool(said) == run("validate").exit_code
