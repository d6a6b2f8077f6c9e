"""Judge the planned manifests as Volcano and Kubernetes would, and say it where the spec says it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfgitops.diagnostics import Problem
    from tfgitops.model import Environment
    from tfgitops.plan import Planned
    from tfgitops.plugins import Plugins


def admit(environment: Environment, objects: Iterable[Planned], plugins: Plugins) -> Iterator[Problem]:
    """Yield a problem for each rule of Volcano or Kubernetes that a planned manifest breaks."""
    yield from ()
