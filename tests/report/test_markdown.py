"""A review in Markdown, as CommonMark reads it: no text of a stranger is more than text, and nothing is too long."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tfgitops.compiler.write import Difference
from tfgitops.plugins.plain import printable
from tfgitops.report import review_text
from tfgitops.report.markdown import code, plain, row
from tfgitops.report.review_markdown import LIMIT, render
from tfgitops.review.causes import Cause
from tfgitops.review.changes import Change, FieldChange
from tfgitops.review.reviewresult import Amount, EnvironmentReview, Group, QueueTotals, Review, Risk
from tfgitops.spec.diagnostics import Span

READER = MarkdownIt("commonmark").enable("table").enable("strikethrough")
MEANING = re.compile(r"@|#|://|www\.|!|~|\$|\^|&|<|>|\[|\]|\*|_|:\w+:|\bGH-\d|[a-z]:[a-z]", re.IGNORECASE)
"""What GitHub or GitLab looks for in text that is no code."""

PIECES = [
    "`", "``", "```", "~~~", "@team", "@org/team", "#1", "org/repo#1", "!7", "GH-12", "<details>", "</details>",
    "<!--", "-->", "<script>", "<b a='", "](http://x)", "![i](http://x)", "[a]: http://x", "http://x.y", "www.x.com",
    "a@b.co", ":tada:", "|", "\\", "\\|", "\\`", "*", "**", "_", "__x__", "~~", "$x$", "&#64;x", "&amp;", "\n", "\n\n",
    "\r", "\u2028", "\x1b[31m", "- ", "1. ", "> ", "# ", "===", "---", "    ", "/close", "::error::x", "##[error]x",
    "\u202e", "a", "b-c", " ", ".", ":", "(", ")", "'", '"', "é", "/",
]  # fmt: skip
HOSTILE = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=12).map("".join)


def _inline(tokens: Any) -> list[str]:
    """Return the kinds of inline tokens, all text as one; fail where text has a meaning outside of Markdown."""
    kinds: list[str] = []
    for token in tokens:
        if token.type == "text":
            assert not MEANING.search(token.content.replace("`", "")), token.content
        kind = "text" if token.type in ("text", "code_inline", "text_special") else token.type
        kinds += [] if kinds[-1:] == [kind] == ["text"] else [kind]
    return kinds


def _structure(text: str) -> list[Any]:
    found: list[Any] = []
    for token in READER.parse(text):
        if token.type == "html_block":
            shape = re.sub(r"<code>[^<>\n]*</code>", "C", token.content)
            assert re.fullmatch(r"(<details><summary>[^<>@\n]*</summary>|</details>)\n?", shape)
            found.append((token.type, shape))
        else:
            found.append((token.type, _inline(token.children) if token.children else ""))
    return found


@given(HOSTILE)
@example("`b`x`@all")
@example("`b``x")
@example("foo*`x`bar*")
@example("`~~~`::error::x")
def test_a_sentence_stays_one_paragraph_of_text_and_code(text: str) -> None:
    assert _structure(f"- {plain(text)} x")[2:3] == _structure("- a x")[2:3]
    assert [kind for kind, _ in _structure(f"- {plain(text)} x")] == [kind for kind, _ in _structure("- a x")]
    shown = "".join(token.content for one in READER.parse(f"x {plain(text)}") for token in one.children or ())
    marks = r"[\s`·:#]"  # a dot replaces half of what begins a command of a pipeline, in each part by itself
    assert re.sub(marks, "", shown) == re.sub(marks, "", f"x{printable(text)}")


@given(HOSTILE, HOSTILE)
@example("a\\|b", "|")
def test_a_row_has_the_cells_that_it_was_given(one: str, other: str) -> None:
    table = "\n".join(
        [row(["a", "b", "c"]), "|---|---|---|", row([plain(one), code(other), f"{plain(one)}: {code(other)}"])]
    )
    kinds = [kind for kind, _ in _structure(table)]
    assert kinds.count("td_open") == 3
    assert kinds.count("tr_open") == 2
    assert set(kinds) == {kind for kind, _ in _structure("| a |\n|---|\n| b |")}


def _review(text: str, number: int = 1) -> Review:
    """Return a review with a text in each place where one can stand."""
    old = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "spec": {"tasks": []}}
    old["metadata"] = {"name": text, "labels": {"tfgitops/job": text}}
    other = {"apiVersion": "v1", "kind": text, "metadata": {"name": text}, "spec": {}}
    fields = (FieldChange(("spec", "a"), ("spec", "a"), f"spec.{text}", text, f"{text}2"),)
    runs = tuple(
        Change(verdict="new run", path=f"{text}{n}", before=old, after=old, fields=fields, hard=fields)
        for n in range(number)
    )
    span = Span(file=text, line=1, column=1)
    cause = Cause(span=span, route=(text,), own=True)
    group = Group(causes=(cause,), changes=runs, also={f"{text}0": (cause,)})
    objects = tuple(
        Change(verdict=verdict, path=text, before=other, after=other, fields=fields, hard=fields, reason=text)
        for verdict in ("refused", "in place", "added", "removed")
        for _ in range(number)
    )  # fmt: skip
    one = EnvironmentReview(
        name=text, folder=Path("x"), state="compared", cluster=text, changes=(*runs, *objects), groups=(group,),
        unchanged=1, differences=(Difference(path=text, state="stale"),) * number, pinned=(text,) * number,
        notes=(text,) * number,
    )  # fmt: skip
    amounts = (Amount(resource="cpu", title=text, before=0, after=1),)
    queues = tuple(
        QueueTotals(cluster=f"{text}{n}", name=text, jobs_before=0, jobs_after=1, amounts=amounts)
        for n in range(number)
    )
    return Review(
        ref=text, commit="0123456789abcdef", environments=(one,) * number, queues=queues, beside=(text,) * number,
        risks=(Risk(code="x", environment=text, message=text, advice=text),) * number, outside=(text,) * number,
    )  # fmt: skip


@settings(deadline=None, max_examples=40)
@given(HOSTILE.filter(str.strip))
@example("``@team``</details>")
def test_a_review_means_the_same_whatever_a_stranger_wrote(text: str) -> None:
    assert _structure(render(_review(text))) == _structure(render(_review("a")))
    assert not re.search(r"^\s*/", render(_review(text)), re.MULTILINE)  # a quick action of GitLab


@pytest.mark.parametrize("text", ["a" * 70_000, "` " * 40_000])
@pytest.mark.parametrize("number", [1, 7])
def test_a_review_fits_into_a_comment_however_long_its_texts_are(text: str, number: int) -> None:
    written = render(_review(text, number))
    assert len(written) <= LIMIT
    assert "What can go wrong" in written
    assert "not as the specs say" in written
    assert ("more" in written) == (number > 1)


@given(HOSTILE.filter(str.strip))
@settings(deadline=None, max_examples=50)
def test_a_review_in_a_terminal_has_no_control_character_and_no_command(text: str) -> None:
    written = review_text.render(_review(text), verbose=True)
    assert all(char.isprintable() or char == "\n" for char in written)
    assert not re.search(r"^\s*::\w|##\w*\[", written, re.MULTILINE)
