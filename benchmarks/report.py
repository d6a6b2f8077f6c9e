"""The results as a Markdown table, and the verdict on each target."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

from workload import LAYOUTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from measure import Usage

PASS, JINJA, HELM = "`python -c pass`", "Jinja2 + PyYAML (C)", "Helm 4"
COLD = "`build`, no manifests yet"
VERSION, HELP, COMPLETION = "`--version`", "`--help`", "completion of an option"
NOTHING, ONE_CHANGED = "`build`, nothing changed", "`build`, one job changed"
CHECK, GUARD, REVIEW = "image bump, {}: `build --check`", "image bump, {}: guard", "image bump, {}: `review`"
ONE_CORE, ALL_CORES = "8 environments, one core", "8 environments, all cores"

_MANY, _TEN_TIMES = 1_000, 10_000
_GUARDED = tuple(
    (what.format(layout), _MANY, CHECK.format(layout), _MANY, "cpu", 2.5, 2.5)
    for layout in LAYOUTS for what in (GUARD, REVIEW)
)  # fmt: skip
_TARGETS = (
    (COLD, _MANY, JINJA, _MANY, "cpu", 1.8, 1.0),
    (COLD, _MANY, HELM, _MANY, "cpu", 0.7, 0.35),
    (COLD, _TEN_TIMES, HELM, _TEN_TIMES, "cpu", 0.6, 0.3),
    (NOTHING, _MANY, COLD, _MANY, "cpu", 0.5, 0.15),
    (ONE_CHANGED, _MANY, COLD, _MANY, "cpu", 0.5, 0.2),
    (COLD, 1, PASS, 0, "cpu", 12, 6),
    (VERSION, 0, PASS, 0, "cpu", 6, 4),
    (HELP, 0, PASS, 0, "cpu", 6, 4),
    (COMPLETION, 0, PASS, 0, "cpu", 6, 4),
    (ALL_CORES, 4_000, ONE_CORE, 4_000, "wall", 0.6, 0.5),
    *_GUARDED,
)
"""For each target: a run and its jobs, those to compare it with, what is compared, the goal and the stretch."""

_PEAKS = ((COLD, _TEN_TIMES, 120, 80),)
"""A run and its jobs, and the peak of its memory in MB: the goal and the stretch."""

_GROWTH = ((COLD, _MANY, _TEN_TIMES), *((what, _MANY // 10, _MANY) for what, *_ in _GUARDED))
"""A run and two numbers of jobs, between which its time should grow like the jobs."""


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
    """Yield the lines of the table; a row stands beside its target's peer, or else the script or `pass`."""
    yield "| run | jobs | CPU s | wall s | peak MB | CPU ratio | wall ratio | to |"
    yield "|---|---:|---:|---:|---:|---:|---:|---|"
    for result in results.values():
        peer = _peer(result, results)
        ratios = f"{result.cpu / peer.cpu:.2f} | {result.wall / peer.wall:.2f} | {peer.what}"
        jobs = f"{result.jobs:,}" if result.jobs else ""
        yield f"| {result.what} | {jobs} | {result.cpu:.3f} | {result.wall:.3f} | {result.peak:.0f} | {ratios} |"


def _peer(result: Result, results: Mapping[tuple[str, int], Result]) -> Result:
    for what, jobs, other, others, *_ in _TARGETS:
        if (what, jobs) == (result.what, result.jobs) and (other, others) in results:
            return results[other, others]
    return results.get((JINJA, result.jobs), results[PASS, 0])


def targets(results: Results) -> Iterator[str]:
    """Yield the lines of a table: each target, its goals, the measured value, and whether it is reached."""
    yield "| work | to | measured | target | stretch | |"
    yield "|---|---|---:|---:|---:|---|"
    for what, jobs, other, others, kind, goal, stretch in _TARGETS:
        one, peer = results.get((what, jobs)), results.get((other, others))
        value = getattr(one, kind) / getattr(peer, kind) if one and peer else None
        yield _target(_named(what, jobs), f"{other}, {kind}", value, goal, stretch)
    for what, jobs, goal, stretch in _PEAKS:
        one = results.get((what, jobs))
        yield _target(_named(what, jobs), "peak MB", one.peak if one else None, goal, stretch)
    for what, few, many in _GROWTH:
        start, less, more = results.get((COLD, 1)), results.get((what, few)), results.get((what, many))
        grown = log((more.cpu - start.cpu) / (less.cpu - start.cpu), many / few) if start and less and more else None
        yield _target(f"{what}, {few:,} to {many:,} jobs", "exponent of CPU's growth", grown, 1.1, 1.0)


def _named(what: str, jobs: int) -> str:
    return f"{what}, {jobs:,} job{'s' * (jobs != 1)}" if jobs else what


def _target(what: str, to: str, value: float | None, goal: float, stretch: float) -> str:
    if value is None:
        missing = ": `helm` is not installed" if HELM in to else ""
        return f"| {what} | {to} | | {goal:g} | {stretch:g} | not measured{missing} |"
    outcome = "stretch reached" if value <= stretch else "reached" if value <= goal else "NOT reached"
    return f"| {what} | {to} | {value:.2f} | {goal:g} | {stretch:g} | {outcome} |"
