"""The checks that plugins make: of the resolved environment, and of all manifests together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfgitops.spec.model import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfgitops.compiler.findings import Findings
    from tfgitops.planning.plan import Planned
    from tfgitops.plugins.door import Plugins
    from tfgitops.spec.diagnostics import Problem
    from tfgitops.spec.model import Environment


def check_environment(environment: Environment, plugins: Plugins, findings: Findings) -> None:
    """Add what plugins find wrong with a resolved environment."""
    faults: list[Problem] = []
    asked = plugins.ask("tfgitops_check_environment", (), faults, environment=environment)
    findings.add(environment.places, _in_force(environment, asked), faults)


def check_manifests(environment: Environment, objects: Iterable[Planned], plugins: Plugins, findings: Findings) -> None:
    """Add what plugins find wrong with the planned manifests."""
    faults: list[Problem] = []
    manifests = tuple(View(planned.manifest) for planned in objects)
    accelerators = tuple(one for _, one in plugins.ask("tfgitops_accelerators", (), faults))
    asked = plugins.ask(
        "tfgitops_check_manifests", (), faults, environment=environment, manifests=manifests,
        accelerators=accelerators,
    )  # fmt: skip
    findings.add(environment.places, _at_pins(environment, asked), faults)


def _in_force(environment: Environment, asked: Iterable[tuple[str, Problem]]) -> Iterator[Problem]:
    """Leave out what plugins say of pinned jobs' blocks: not they are what runs, but what was committed."""
    pinned = {job.route for job in environment.jobs if job.pin}
    return (problem for _, problem in asked if problem.at[:2] not in pinned)


def _at_pins(environment: Environment, asked: Iterable[tuple[str, Problem]]) -> Iterator[Problem]:
    """Show what plugins say of a pinned job's manifest where the spec asks for that manifest: at the pin."""
    pinned = {job.route for job in environment.jobs if job.pin}
    for _, problem in asked:
        yield replace(problem, at=(*problem.at[:2], "pin")) if problem.at[:2] in pinned else problem
