"""The results as a Markdown table, and the verdict on each target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from measure import Usage

PASS, JINJA, COLD = "`python -c pass`", "Jinja2 + PyYAML (C)", "`build`, no manifests yet"
CHECK_TEN, REVIEW = "`build --check`, ten jobs changed", "`review`, ten jobs changed"

_MANY = 1_000
_TIMES_JINJA, _TIMES_PASS, _TIMES_CHECK, _PEAK_MB = 3, 20, 2, 150


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """The best cost of a case over all rounds, with its worst memory."""

    what: str
    jobs: int
    cpu: float
    wall: float
    peak: float


Results = dict[tuple[str, int], Result]


def best(what: str, jobs: int, usages: Sequence[Usage]) -> Result:
    """Return the least times, which have the least noise, and the greatest memory."""
    return Result(
        what=what,
        jobs=jobs,
        cpu=min(usage.cpu for usage in usages),
        wall=min(usage.wall for usage in usages),
        peak=max(usage.peak for usage in usages),
    )


def table(results: Results) -> Iterator[str]:
    """Yield the lines of the table; each row stands beside `pass` for one job, else beside the script."""
    yield "| run | jobs | CPU s | wall s | peak MB | CPU ratio | wall ratio | to |"
    yield "|---|---:|---:|---:|---:|---:|---:|---|"
    for result in results.values():
        peer = _peer(result, results)
        ratios = f"{result.cpu / peer.cpu:.2f} | {result.wall / peer.wall:.2f} | {peer.what}"
        jobs = f"{result.jobs:,}" if result.jobs else ""
        yield f"| {result.what} | {jobs} | {result.cpu:.3f} | {result.wall:.3f} | {result.peak:.0f} | {ratios} |"


def _peer(result: Result, results: Mapping[tuple[str, int], Result]) -> Result:
    if result.what == REVIEW:
        return results[CHECK_TEN, result.jobs]
    return results[PASS, 0] if result.jobs <= 1 else results[JINJA, result.jobs]


def targets(results: Results) -> Iterator[str]:
    """Yield a line for each target: its goal, the measured value, and whether that is enough."""
    start, one = results[PASS, 0], results.get((COLD, 1))
    script, many = results.get((JINJA, _MANY)), results.get((COLD, _MANY))
    times_script = many.cpu / script.cpu if many and script else None
    yield _target(f"{_MANY:,} jobs in at most {{}} times the script's CPU time", _TIMES_JINJA, times_script)
    yield _target(f"{_MANY:,} jobs in at most {{}} MB", _PEAK_MB, many.peak if many else None)
    yield _target(
        "one job in at most {} times the CPU time of `pass`", _TIMES_PASS, one.cpu / start.cpu if one else None
    )
    checked, review = results.get((CHECK_TEN, _MANY)), results.get((REVIEW, _MANY))
    yield _target(
        f"a review of {_MANY:,} jobs, ten changed, in at most {{}} times the CPU time of `build --check`", _TIMES_CHECK,
        review.cpu / checked.cpu if review and checked else None,
    )  # fmt: skip


def _target(what: str, most: int, value: float | None) -> str:
    outcome = "not measured" if value is None else f"{value:.2f}, {'reached' if value <= most else 'NOT reached'}"
    return f"- {what.format(most)}: {outcome}"
