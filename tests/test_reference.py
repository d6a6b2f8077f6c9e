"""The reference pages: generated parts are fresh, examples compile, links to headings lead somewhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from checkout import REPOSITORY, load_tool

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tfgitops import Plugins
    from tfgitops.testing import Result

DOCS = REPOSITORY / "docs"
GENERATED = ["spec.md", "cli.md", "diagnostics.md", "stricter.md", "explanation/gitops.md"]


@pytest.mark.parametrize("name", GENERATED)
def test_the_generated_part_is_fresh(name: str, plugins: Plugins) -> None:
    tables = load_tool("reference")
    page = (DOCS / name).read_text(encoding="utf-8")
    assert page == tables.with_table(page, tables.tables(plugins)[name]), "run `make docs`"


def test_the_environments_at_the_top_of_the_spec_compile(compile_spec: Callable[..., Result]) -> None:
    page = (DOCS / "spec.md").read_text(encoding="utf-8")
    whole = re.findall(r"```yaml\n(apiVersion:.*?)```", page, re.DOTALL)
    assert [compile_spec(text).text for text in whole] == ["", ""]


def test_every_environment_variable_is_in_the_reference_of_the_commands() -> None:
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    read: set[str] = set()
    for path in (REPOSITORY / "tfgitops").rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        read |= set(re.findall(r'"(TFGITOPS_[A-Z_]+)"', source))
        read |= set(re.findall(r'environ\.get\("(\w+)"', source))
    assert read >= {"NO_COLOR", "TFGITOPS_TRACE"}
    assert [name for name in sorted(read) if f"| `{name}` |" not in page] == []


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_links_to_headings_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([\w./-]*)#([\w-]+)\)", text)
    assert [(name, anchor) for name, anchor in links if anchor not in _anchors(name or page.name)] == []


def _anchors(name: str) -> set[str]:
    text = (DOCS / name).read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    slugs = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return slugs | set(re.findall(r'<a id="([\w-]+)">', text))
