"""How a review is written: it fits into one comment, nothing breaks out of it, and long values are cut with care."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from builder import spec_with

from tfgitops.report.review_markdown import LIMIT, Block, fit

if TYPE_CHECKING:
    from repository import Repository

PROD_SPEC = "environments/prod/environment.yaml"


def test_the_markdown_of_a_thousand_runs_fits_into_one_comment(repository: Repository) -> None:
    def jobs(first: int) -> str:
        return "".join(
            f"  training-with-a-rather-long-name-{i:05d}: {{command: [python, train.py], env: {{N: {n}}}, worker: 1}}\n"
            for i, n in enumerate(range(first, first + 1000))
        )

    text = repository.read(PROD_SPEC)
    head = text[: text.index("  bert:")]
    repository.write(PROD_SPEC, head + jobs(0))
    repository.build()
    repository.commit("many")
    repository.git("checkout", "--quiet", "-B", "main")
    repository.write(PROD_SPEC, head + jobs(1000))
    text = repository.review("--format", "markdown").stdout
    assert len(text) <= LIMIT < 65_536
    assert "1000 trainings restart" in text
    assert "left out" in text
    assert text.count("<details>") == text.count("</details>")


def test_a_table_too_long_for_one_comment_is_cut_and_its_cause_is_said(repository: Repository) -> None:
    def jobs(values: list[str]) -> str:
        return "".join(
            f"  train-{i:04d}: {{command: [a], env: {{A: {value}, B: {value}}}, worker: 1}}\n"
            for i, value in enumerate(values)
        )

    text = repository.read(PROD_SPEC)
    head = text[: text.index("  bert:")]
    repository.write(PROD_SPEC, head + jobs(["1"] * 1000))
    repository.build()
    repository.commit("many")
    repository.git("checkout", "--quiet", "-B", "main")
    repository.base(("tf:2.21", "tf:2.22"))
    repository.write(PROD_SPEC, head + jobs([f"2{i}" for i in range(1000)]))
    text = repository.review("--format", "markdown").stdout
    assert LIMIT - 1000 < len(text) <= LIMIT
    assert "**1000 trainings start anew** because of `defaults.image` (environments/base.yaml:4)" in text
    assert "left out" not in text
    rows = text.count("\n| train-")
    assert f"| … and {1000 - rows} more | | | |" in text
    assert "\n</details>\n" in text


def test_short_lists_are_whole_before_long_ones_get_what_is_left() -> None:
    long, short = Block(head=["a"], rows=["x" * 9] * 100, tail=["z"]), Block(head=["b"], rows=["y" * 9] * 3)
    lines, left_out = fit([long, short], 200)
    assert (lines.count("y" * 9), left_out, sum(len(line) + 1 for line in lines) <= 200) == (3, 0, True)
    assert lines.count("x" * 9) + int(lines[-6].split()[3]) == 100
    assert fit([long, short], 30) == (["a", "- … and 100 more", "z"], 1)


def test_a_bar_in_a_path_ends_no_cell(repository: Repository) -> None:
    folders = ["a|b", "a`x|y`b"]
    for number, folder in enumerate(folders):
        text = spec_with(repository.read(PROD_SPEC), {"cluster": f"c{number}"})
        repository.write(f"environments/{folder}/environment.yaml", text)
    repository.build()
    repository.commit("bars")
    repository.git("branch", "--quiet", "--force", "main")
    repository.base(("tf:2.21", "tf:2.22"))
    for folder in folders:
        repository.edit(f"environments/{folder}/environment.yaml", ("LR: 0.1", "LR: 0.2"))
    rows = [line for line in repository.review("--format", "markdown").stdout.splitlines() if "also because" in line]
    assert [len(re.findall(r"(?<!\\)\|", row)) for row in rows] == [5, 5]


def test_of_long_values_that_is_shown_in_which_they_differ(repository: Repository) -> None:
    same = ", ".join(f"--option-{number}={number}" for number in range(20))
    repository.prod(("[python, train.py, --out=/logs/$(RUN)]", f"[python, train.py, {same}, --out=/logs/$(RUN)]"))
    repository.build()
    repository.commit("long")
    repository.git("branch", "--quiet", "--force", "main")
    repository.prod(("--option-19=19", "--option-19=19, --more"))
    flat = " ".join(repository.review().stdout.split())
    assert "--option-19=19, --out=/logs/$(RUN)] → " in flat
    assert "--option-19=19, --more, --out=/logs/$(RUN)]" in flat


def test_a_block_that_one_side_has_is_said_in_a_word(repository: Repository) -> None:
    repository.prod(("  bert:\n", "  bert:\n    pod: {spec: {securityContext: {runAsUser: 1000}}}\n"))
    assert "pod securityContext (new)" in repository.review().stdout
    repository.build()
    repository.commit("user")
    repository.git("branch", "--quiet", "--force", "main")
    repository.prod(("    pod: {spec: {securityContext: {runAsUser: 1000}}}\n", ""))
    assert "pod securityContext (gone)" in repository.review().stdout
