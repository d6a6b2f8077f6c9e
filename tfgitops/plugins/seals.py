"""Whether plugins have changed what they were given to read: a trace of it, taken before and after."""

from __future__ import annotations

import marshal
from typing import TYPE_CHECKING, Any

from tfgitops.spec.diagnostics import Problem
from tfgitops.spec.view import thaw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops.plugins.door import Plugin, Plugins
    from tfgitops.spec.model import Environment, Job, Role

CHANGED = "has changed what it was given to read"


class Seal:
    """Marks an environment as plugins that are not bundled see it; without such plugins there is nothing to do.

    Views and frozen values stop whoever forgets that they are read-only. What is left are ways round them, which are
    found out once, at the end: to look after each call would cost more than it is worth.
    """

    def __init__(self, environment: Environment, plugins: Plugins) -> None:
        self._environment = environment
        self._plugins = plugins.outside
        self._mark = self._marked()

    def broken(self) -> Iterator[Problem]:
        """Yield what is to be said if anything has changed."""
        if self._marked() != self._mark:
            yield _changed(self._plugins)

    def _marked(self) -> bytes:
        if not self._plugins:
            return b""
        seen = self._environment.twin
        top = [seen.name, seen.cluster, seen.namespace, seen.gitops, str(seen.folder), str(seen.settings)]
        try:
            return marshal.dumps([top, thaw(seen.data), [*map(_of_job, seen.jobs)]], 2)
        except ValueError:  # what was put there is no plain value
            return b""


def _of_job(job: Job) -> list[Any]:
    return [job.name, job.strategy, job.why, job.own, job.route, thaw(job.data), [*map(_of_role, job.roles)]]


def _of_role(role: Role) -> list[Any]:
    return [role.name, role.kind, role.replicas, role.route, thaw(role.data)]


def _changed(plugins: tuple[Plugin, ...]) -> Problem:
    names = ", ".join(map(str, plugins))
    who = names if len(plugins) == 1 else f"one of {names}"
    message = f"{who} {CHANGED}"
    return Problem(code="TF902", message=message, at=(), hint="hooks answer, and change nothing: make a copy")
