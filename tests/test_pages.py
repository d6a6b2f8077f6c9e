"""The pages for users are under test: links lead somewhere, and each command prints the output that its page shows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from checkout import REPOSITORY
from reader import Reader

if TYPE_CHECKING:
    from pathlib import Path

DOCS = REPOSITORY / "docs"
PAGES = sorted(
    path
    for path in REPOSITORY.rglob("*.md")
    if not any(part.startswith(".") for part in path.relative_to(REPOSITORY).parts)
    and "golden" not in path.parts
    and (path.name != "diagnostics.md" or path.parent == DOCS)  # of the others docs/diagnostics.md is made
)
ENTRIES = REPOSITORY / "tfgitops" / "spec" / "diagnostics.md"
"""Its text goes into docs/diagnostics.md, so its links lead on from there."""
FOLLOWED = [DOCS / "tutorial.md", *sorted((DOCS / "how-to").glob("*.md"))]
_MERGE_BASE = re.compile(r"merge base [0-9a-f]{10}")
"""The hash of a commit with all files of `tfgitops init`: it changes with every word of a schema."""
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def _name(page: Path) -> str:
    return str(page.relative_to(REPOSITORY))


def _anchors(page: Path) -> set[str]:
    """Return the anchors of a page: GitHub's names of its headings, and the ones that its HTML gives."""
    text = page.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)
    names = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
    repeated = {f"{name}-{names[:at].count(name)}" for at, name in enumerate(names) if name in names[:at]}
    return {*names, *repeated, *re.findall(r'<a id="([^"]+)"', text)}


def _leads_nowhere(page: Path, link: str) -> bool:
    target, _, anchor = link.partition("#")
    folder = DOCS if page == ENTRIES else page.parent
    other = (folder / target).resolve() if target else page
    return not other.exists() or bool(anchor and anchor not in _anchors(other))


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_links_and_their_anchors_lead_somewhere(page: Path) -> None:
    text = _CODE.sub("", page.read_text(encoding="utf-8"))
    links = re.findall(r"\]\((?!https?:|mailto:)([^)\s]+)\)", text)
    assert [link for link in links if _leads_nowhere(page, link)] == []


def test_the_index_names_each_page() -> None:
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    pages = {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")} - {"README.md"}
    assert pages - set(re.findall(r"\]\(([^)#]+)\)", index)) == set()


@pytest.mark.parametrize("page", FOLLOWED, ids=_name)
def test_a_page_is_followed_and_says_what_it_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Do in an empty folder what the page says; ``--refresh`` writes the output of its commands anew."""
    shown = page.read_text(encoding="utf-8")
    fresh = Reader(tmp_path, monkeypatch).follow(shown)
    same = _MERGE_BASE.sub("", shown) == _MERGE_BASE.sub("", fresh)
    if request.config.getoption("tfgitops_refresh") and not same:
        page.write_text(fresh, encoding="utf-8")
    else:
        assert same or shown == fresh
