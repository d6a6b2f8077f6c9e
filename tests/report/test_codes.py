"""The reference entry of each code: every example shows its code, and the better version does not."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tfgitops import discover
from tfgitops.report.codes import FILE, CodeEntry, explained, reference
from tfgitops.spec import diagnostics
from tfgitops.testing.bench import HEAD

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfgitops import Plugins
    from tfgitops.testing import Result

    Compile = Callable[..., Result]

ENTRIES = reference(discover().plugins)
NEEDS_MORE = "A spec alone cannot show this code, because"
NOT_BY_A_SPEC = {
    "TF102", "TF110", "TF206", "TF401", "TF404", "TF601", "TF602", "TF603", "TF604", "TF605", "TF606", "TF607", "TF611",
    "TF612",
    "TF613", "TF614", "TF615", "TF701", "TF803", "TF901", "TF902", "FILE05",
}  # fmt: skip
REPOSITORY = {
    "pyproject.toml": '[tool.tfgitops]\nplugins = ["team.py"]\n',
    "team.py": "tfgitops_api = 1\n",
    "environments/base.yaml": "defaults: {image: 'tf:2.20'}\n",
    "environments/prod/environment.yaml": HEAD + "extends: ../base.yaml\njobs: {other: {worker: 1}}\n",
    "environments/prod/jobs/train.yaml": "worker: 2\n",
}
"""The repository in which the commands of an example run."""

DISAGREEING = "worker: {gpu: {count: 1, product: NVIDIA-L4}}\n"
PLUGIN = "from tfgitops import hookimpl\n\ntfgitops_api = 1\n\n\n"
PARTS = ("**Why it matters:**", "**How to fix it:**", "**Example:**")


def examples(entry: CodeEntry) -> tuple[list[str], list[str]]:
    """Return the YAML blocks of an entry before and after its "Use instead"."""
    before, _, after = entry.text.partition("**Use instead:**")
    first, second = (re.findall(r"```yaml\n(.*?)```", part, re.DOTALL) for part in (before, after))
    return first, second


def compiled(compile_spec: Compile, blocks: list[str]) -> set[str]:
    """Compile the first block as the environment; the others name their files in their first line."""
    spec, *others = blocks
    files = {block.split("\n", 1)[0].removeprefix("# "): block for block in others}
    return set(compile_spec(spec, files).codes)


@pytest.mark.parametrize("code", sorted(set(ENTRIES) - NOT_BY_A_SPEC))
def test_an_example_shows_its_code_and_the_better_version_does_not(compile_spec: Compile, code: str) -> None:
    wrong, right = examples(ENTRIES[code])
    assert code in compiled(compile_spec, wrong)
    assert compiled(compile_spec, right) == set()


def run(script: str, home: Path) -> str:
    """Run a script in the repository of a home, and return all that it says."""
    environment = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(home)}
    result = subprocess.run(
        ["bash", "-c", script], cwd=home / "repository", env=environment, capture_output=True, text=True, check=False
    )
    return result.stdout + result.stderr


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the committed repository that each example is given a copy of."""
    home = tmp_path_factory.mktemp("home")
    for name, text in REPOSITORY.items():
        path = home / "repository" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    who = "git config user.name A && git config user.email a@example.com"
    said = run(f"git init -q && {who} && tfgitops build --quiet && git add . && git commit --quiet -m base", home)
    assert said == ""
    return home


@pytest.fixture
def shell(committed: Path, tmp_path: Path) -> Callable[[str], str]:
    """Return what runs a script in a committed repository, and gives all that it says."""
    shutil.copytree(committed, tmp_path, symlinks=True, dirs_exist_ok=True)
    return lambda script: run(script, tmp_path)


@pytest.mark.parametrize("code", sorted(NOT_BY_A_SPEC))
def test_an_example_of_more_than_a_spec_shows_its_code(shell: Callable[[str], str], tmp_path: Path, code: str) -> None:
    kind, block = re.findall(r"```(console|python)\n(.*?)```", ENTRIES[code].text, re.DOTALL)[0]
    if kind == "python":
        (tmp_path / "repository/team.py").write_text(PLUGIN + block, encoding="utf-8")
        (tmp_path / "repository/environments/prod/jobs/train.yaml").write_text(DISAGREEING, encoding="utf-8")
        block = "$ tfgitops validate\n"
    assert code in shell(re.sub(r"^\$ ", "", block, flags=re.MULTILINE))


def test_an_entry_without_an_example_spec_says_why() -> None:
    assert {code for code, entry in ENTRIES.items() if NEEDS_MORE in entry.text} == NOT_BY_A_SPEC
    assert [code for code in sorted(NOT_BY_A_SPEC) if "```yaml" in ENTRIES[code].text] == []


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=list(ENTRIES))
def test_an_entry_has_all_its_parts(entry: CodeEntry) -> None:
    places = [entry.text.find(part) for part in PARTS]
    assert places == sorted(places)
    assert places[0] > 0


def test_the_bundled_packages_explain_their_own_codes_and_no_others(plugins: Plugins) -> None:
    assert list(ENTRIES) == list(plugins.codes)
    for plugin in ["", *(plugin.name for plugin in plugins.plugins)]:
        folder = Path(diagnostics.__file__).parent if not plugin else _package(plugins, plugin)
        sections = explained((folder / FILE).read_text(encoding="utf-8"))
        assert list(sections) == [entry.code for entry in ENTRIES.values() if entry.plugin == plugin]


def _package(plugins: Plugins, name: str) -> Path:
    [plugin] = [plugin for plugin in plugins.plugins if plugin.name == name]
    return Path(plugin.hooks.__file__).parent
