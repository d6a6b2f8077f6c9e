"""The report of an import: for each object what it became, and what was lost, changed, mended, dropped or added."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfgitops.adoption.remarks import SORTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfgitops.adoption.remarks import Remark, Told


def lines(told: Iterable[Told]) -> Iterator[str]:
    """Yield the lines of the report."""
    for one in told:
        span = one.source.span()
        place = f"{span.file}:{span.line}"
        if one.became:
            yield f"{place}: {one.source.title} → {one.became}"
        else:
            yield f"{place}: {one.source.title} is not imported"
        for sort in SORTS:
            for remark in one.remarks:
                if remark.sort == sort:
                    yield f"  {sort:<8} {_line(one, remark)}{remark.text}"


def _line(one: Told, remark: Remark) -> str:
    return "" if remark.at is None else f"line {one.source.span(remark.at, on_key=True).line}: "
