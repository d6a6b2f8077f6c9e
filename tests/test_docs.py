"""The pages say what the code does: tables are fresh, and examples are as the compiler prints them."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import pytest
from checkout import REPOSITORY, load_tool
from commandline import run

from tfgitops.spec.diagnostics import compiler_codes

if TYPE_CHECKING:
    from pathlib import Path

    from tfgitops import Plugins


@pytest.mark.parametrize("name", ["spec.md", "diagnostics.md", "reliability.md"])
def test_the_tables_are_fresh(name: str, plugins: Plugins) -> None:
    reference = load_tool("reference")
    page = (REPOSITORY / "docs" / name).read_text(encoding="utf-8")
    assert page == reference.with_table(page, reference.tables(plugins)[name]), "run `make docs`"


def test_each_promise_names_a_test_that_there_is() -> None:
    page = (REPOSITORY / "docs" / "reliability.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| [^|]+ \| `(tests/[^`]+)` \| [^|]+ \|$", page, re.MULTILINE)
    assert len(rows) > 10
    for row in rows:
        file, _, name = row.partition("::")
        assert f"def {name}(" in (REPOSITORY / file).read_text(encoding="utf-8")


def test_every_module_that_the_architecture_names_exists() -> None:
    text = (REPOSITORY / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:[a-z]+/)*[a-z_]+\.py)`", text))
    rooms = {f"{room}/" for room in re.findall(r"^\| `([a-z]+)/` \|", text, re.MULTILINE)}
    assert rooms == {f"{path.parent.name}/" for path in (REPOSITORY / "tfgitops").glob("*/__init__.py")}
    named |= set(re.findall(r"`((?:[a-z]+/)+)`", text)) - {"tfgitops/"}
    missing = [name for name in named if not (REPOSITORY / "tfgitops" / name).exists()]
    assert missing == []
    assert named


def test_the_readme_shows_the_tutorial_as_it_is() -> None:
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    tutorial = REPOSITORY / "environments" / "tutorial"
    spec = (tutorial / "environment.yaml").read_text(encoding="utf-8").split("\n", 1)[1]
    assert f"```yaml\n{spec}```" in readme
    manifest = (tutorial / "manifests" / "workloads" / "job-tf-dist-mnist.yaml").read_text(encoding="utf-8")
    name = re.search(r"name: (tf-dist-mnist-\w{8})", manifest)
    assert name is not None
    assert set(re.findall(r"tf-dist-mnist-[0-9a-f]{8}", readme)) == {name[1]}
    excerpt = re.search(r"```yaml\n(metadata:\n.*?)…\n```", readme, re.DOTALL)
    assert excerpt is not None
    assert [line for line in excerpt[1].splitlines() if line not in manifest] == []


def test_the_readme_shows_the_output_of_the_first_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "environments" / "tutorial" / "environment.yaml"
    target.parent.mkdir(parents=True)
    target.write_bytes((REPOSITORY / "environments" / "tutorial" / "environment.yaml").read_bytes())
    monkeypatch.chdir(tmp_path)
    built = run("build", "environments/tutorial").output
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert f"```console\n$ tfgitops build environments/tutorial\n{built}```" in readme


def test_the_mistake_in_the_readme_is_shown_as_the_compiler_shows_it() -> None:
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    shown = re.search(r"```text\n(.*?)```", readme, re.DOTALL)
    case = REPOSITORY / "tests" / "cases" / "bad" / "gang-larger-than-its-queue" / "expected.txt"
    assert shown is not None
    assert shown[1] in case.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ["README.md", "docs/explain.md", "docs/explanation/sources.md"])
def test_what_explain_says_in_a_page_is_what_it_says(
    page: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run each `$ tfgitops explain …` of a page; ``--refresh`` writes anew what follows it."""
    monkeypatch.chdir(REPOSITORY)

    def told(block: re.Match[str]) -> str:
        result = run(*shlex.split(block[1])[1:])
        assert result.exit_code == 0, result.output
        return f"```console\n$ {block[1]}\n{result.stdout}```"

    text = (REPOSITORY / page).read_text(encoding="utf-8")
    fresh, number = re.subn(r"```console\n\$ (tfgitops explain .*)\n(?:(?!```).*\n)*```", told, text)
    assert number > 0
    if request.config.getoption("tfgitops_refresh"):
        (REPOSITORY / page).write_text(fresh, encoding="utf-8")
        text = fresh
    assert text == fresh


def test_every_code_that_the_compiler_uses_is_in_its_table() -> None:
    used: set[str] = set()
    for path in (REPOSITORY / "tfgitops").rglob("*.py"):
        if path.name != "diagnostics.py":
            used |= set(re.findall(r'"(TF[0-9]{3})"', path.read_text(encoding="utf-8")))
    assert used - set(compiler_codes()) == set()
    assert set(compiler_codes()) - used == set(), "no longer used"
