"""SECURITY.md: each promise names a test that there is."""

from __future__ import annotations

import re

from checkout import REPOSITORY

PAGE = (REPOSITORY / "SECURITY.md").read_text(encoding="utf-8")


def test_each_named_test_exists() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)
    missing = [
        (file, name)
        for file, name in named
        if not (REPOSITORY / file).exists() or f"def {name}(" not in (REPOSITORY / file).read_text(encoding="utf-8")
    ]
    assert missing == []
    assert len(named) == PAGE.count("tests/"), "a test is named without its function"


def test_each_row_of_a_threat_has_its_test() -> None:
    threats = PAGE.partition("## Who may do what")[2].partition("## The supply chain")[0]
    sections = threats.split("\n### ")[1:]
    assert len(sections) == 6  # those of the threat model
    for section in sections:
        rows = [row for row in section.splitlines() if row.startswith("| ") and not row.startswith("| cannot")]
        assert rows
        assert [row for row in rows if "::test_" not in row] == []


def test_each_command_of_the_page_is_a_target_of_make() -> None:
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`make ([\w-]+)`", PAGE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
