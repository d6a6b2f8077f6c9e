"""The rows of the field cases: `q-04` is in `q.yaml`, and so is each case whose id begins so."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FOLDER = Path(__file__).parent
IDS = (FOLDER / "ids.txt").read_text(encoding="utf-8").split()
KINDS = list(dict.fromkeys(name.rpartition("-")[0] for name in IDS))


@dataclass(frozen=True, kw_only=True)
class Row:
    """One input of a case. All its values are texts: ``[63, no]`` are two words.

    Errors and warnings are told exactly, each code as often as it is reported. ``names`` are words of the
    diagnostics themselves (``a|b``: either), ``shows`` words of the rendered text; ``at`` gives lines of ``spec`` and
    the text under their carets. Without errors the spec compiles, and the function ``check`` of `checks.py` passes;
    with ``after``, a second spec, it is given both results. ``note`` says where our design asks for another outcome
    than the case. ``later`` is the command that will meet the case in its original form: import, bootstrap or review.
    """

    id: str
    number: int
    spec: str
    errors: Sequence[str] = ()
    warnings: Sequence[str] = ()
    names: Sequence[str] = ()
    shows: Sequence[str] = ()
    at: Sequence[str] = ()
    check: str = ""
    after: str = ""
    note: str = ""
    later: str = ""

    def __str__(self) -> str:
        return f"{self.id}.{self.number}"


def rows() -> Iterator[Row]:
    """Yield the rows of all files, those of one case numbered from 1."""
    numbers = {name: count(1) for name in IDS}
    for kind in KINDS:
        text = (FOLDER / f"{kind}.yaml").read_text(encoding="utf-8")
        for row in yaml.load(text, yaml.BaseLoader):  # noqa: S506 - it makes nothing but texts
            yield Row(number=next(numbers[row["id"]]), **row)


def elsewhere() -> list[tuple[str, str]]:
    """List the cases that need a cluster's history or a command, each with a test: `review/test_risks.py::test_x`."""
    lines = (FOLDER / "elsewhere.txt").read_text(encoding="utf-8").splitlines()
    return [(case, test) for case, *tests in map(str.split, lines) for test in tests]
