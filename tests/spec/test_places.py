"""Where a problem is shown: at its line of a text, and what is said of names that there are not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfgitops.testing import Result

    Compile = Callable[..., Result]


@pytest.mark.parametrize(("key", "style"), [("command", "|"), ("command", ">-"), ("args", "\n        - |")])
def test_a_problem_inside_a_block_text_is_shown_at_its_line(key: str, style: str, compile_spec: Compile) -> None:
    (found,) = compile_spec(f"""
    jobs:
      a:
        image: tf
        worker: 2
        {key}: {style}
          set -e
          echo $$(NOPE) $(RUN)
          python train.py --data=$(NOPE) --out=x
    """).compiled.diagnostics
    assert found.code == "TF305"
    assert found.span is not None
    line = found.span.excerpt
    assert line[found.span.column - 1 :][: found.span.width] == "$(NOPE)"
    assert "train.py" in line


@pytest.mark.parametrize(
    ("target", "files", "hint"),
    [
        ("base.yaml", {"../base.yaml": "{}"}, "did you mean '../base.yaml'?"),
        ("../../base.yaml", {}, "the path is relative to this file"),
        ("../bse.yaml", {"../base.yaml": "{}"}, "did you mean '../base.yaml'?"),
        ("../x.yaml", {"../b.yaml": "{}", "../c.yaml": "{}"}, "there are ../b.yaml, ../c.yaml"),
    ],
)
def test_a_file_that_is_not_there_is_told_with_those_that_are(
    target: str, files: dict[str, str], hint: str, compile_spec: Compile
) -> None:
    assert hint in _hint(compile_spec(f"extends: {target}\njobs: {{a: {{image: tf, worker: 1}}}}\n", files))


def test_many_names_are_not_all_listed(compile_spec: Compile) -> None:
    jobs = "".join(f"  job-{number:02}: {{image: tf, worker: 1}}\n" for number in range(12))
    found = _hint(compile_spec(f"jobs:\n{jobs}  z: {{from: nope}}\n"))
    assert found.startswith("the jobs are job-00, job-01")
    assert found.endswith("job-09, …")


def _hint(result: Result) -> str:
    (found,) = result.compiled.diagnostics
    return found.hint
