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
    """The diagnostics so far, and the planned objects; a stage reports all it can, the next never runs on bad input.

    Faults of plugins are no bad input: they stand beside the problems of the spec, and end the compile where the
    manifests are not whole without those plugins.
    """

    def __init__(self, plugins: Plugins) -> None:
        self.found: list[Diagnostic] = []
        self.faults = list(plugins.faults)
        self.environment: Environment | None = None
        self.objects: list[Planned] = []
        self._plugins = plugins
        self._allowances: Allowances | None = None

    def allow(self, environment: Environment, day: str) -> list[Problem]:
        """Suppress the diagnostics that an environment allows, earlier ones too; return the faults of exceptions."""
        from tfgitops.admission.allowances import Allowances  # noqa: PLC0415 - for environments with exceptions alone

        self._allowances = Allowances(environment, self._plugins.schema.environment, day)
        self.found = list(self._allowances.sift_read(self.found))
        return self._allowances.problems

    @property
    def allowed(self) -> tuple[Allowed, ...]:
        """The diagnostics that an exception suppressed."""
        return self._allowances.allowed if self._allowances else ()

    def leftovers(self, *, finished: bool) -> list[Diagnostic]:
        """Return a diagnostic for each exception that nothing needed."""
        return [*self._allowances.leftovers(self._plugins.codes, finished=finished)] if self._allowances else []

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
        """End the compile after an error, or with ``faults`` after a plugin's fault.

        Raises:
            CompileError: there is an error.
        """
        if has_errors(self.found) or (faults and self.faults):
            raise CompileError(())
