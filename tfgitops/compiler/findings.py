"""Everything that the stages of one compile found, and whether the next stage may run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfgitops.spec.diagnostics import CompileError, has_errors

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfgitops.admission.allowances import Allowances, Allowed
    from tfgitops.planning.plan import Planned
    from tfgitops.plugins.door import Plugins
    from tfgitops.spec.diagnostics import Diagnostic, Problem
    from tfgitops.spec.model import Environment
    from tfgitops.spec.places import Places


class Findings:
    """All that was found so far, and what was planned; a stage reports all it can, the next never runs on bad input.

    Faults of plugins are no bad input: they are told beside what is wrong with the spec, and end the compile where the
    manifests are not whole without those plugins.
    """

    def __init__(self, faults: Iterable[Diagnostic]) -> None:
        self.found: list[Diagnostic] = []
        self.faults = list(faults)
        self.environment: Environment | None = None
        self.objects: list[Planned] = []
        self._allowances: Allowances | None = None

    def allow(self, environment: Environment, plugins: Plugins, day: str) -> list[Problem]:
        """Leave out from here on, and of what was read, what an environment allows; return what is wrong with that."""
        from tfgitops.admission.allowances import Allowances  # noqa: PLC0415 - for environments with exceptions alone

        self._allowances = Allowances(environment, plugins.schema.environment, day)
        self.found = list(self._allowances.sift_read(self.found))
        return self._allowances.problems

    def allowed(self) -> tuple[Allowed, ...]:
        """Return what was left out."""
        return self._allowances.allowed if self._allowances else ()

    def leftovers(self, plugins: Plugins, *, finished: bool) -> list[Diagnostic]:
        """Return what is to be said of exceptions that nothing needed."""
        return [*self._allowances.leftovers(plugins.codes, finished=finished)] if self._allowances else []

    def tell(self, places: Places, problems: Iterable[Problem]) -> None:
        """Add problems that end nothing."""
        self.found += self._allowances.sift(problems) if self._allowances else places.diagnose(problems)

    def add(self, places: Places, problems: Iterable[Problem], faults: Iterable[Problem] = ()) -> None:
        """Add a stage's problems, and the faults of plugins that came up while it found them.

        Raises:
            CompileError: there is an error among the problems.
        """
        self.tell(places, problems)
        self.faults += places.diagnose(faults)
        self.stop_on_errors()

    def stop_on_errors(self, *, faults: bool = False) -> None:
        """End the compile where anything found forbids going on, or a plugin's fault does.

        Raises:
            CompileError: there is an error.
        """
        if has_errors(self.found) or (faults and self.faults):
            raise CompileError(())
