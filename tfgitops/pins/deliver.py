"""Write or compare the manifests of all environments; no training restarts by accident."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfgitops.compiler.write import alone, apply, compare, compare_bootstrap
from tfgitops.spec.committed import BOOTSTRAP
from tfgitops.spec.diagnostics import CompileError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from tfgitops.compiler.compiled import Compiled, File
    from tfgitops.compiler.session import Session
    from tfgitops.compiler.write import Difference
    from tfgitops.review.restarts import Consent, Guard, Restart
    from tfgitops.spec.diagnostics import Diagnostic


@dataclass(kw_only=True)
class Delivery:
    """What became of one environment; ``done`` unless something kept it from being written or compared.

    ``given`` is the environment as it was compiled first, ``compiled`` as it was written, with new pins; both are None
    where there is no spec any more. ``differences`` are those of the manifests, ``bootstrap`` those of the files beside
    them, ``written`` the first of these, up to a fault. ``restarts`` are the jobs that would restart by accident.
    """

    folder: Path
    given: Compiled | None
    compiled: Compiled | None
    done: bool = False
    differences: Sequence[Difference] = ()
    bootstrap: Sequence[Difference] = ()
    written: list[Difference] = field(default_factory=list)
    restarts: Sequence[Restart] = ()
    pins: Sequence[str] = ()
    diagnostics: Sequence[Diagnostic] = ()

    @property
    def files(self) -> Sequence[File]:
        """The files that the environment must have."""
        return self.compiled.files if self.compiled else ()

    @property
    def beside(self) -> Sequence[File]:
        """The files that it must have in ``bootstrap/``."""
        return self.compiled.bootstrap if self.compiled else ()


def deliver(
    session: Session, results: Sequence[Compiled], consent: Consent | None, waiting: Callable[[Path], object]
) -> Iterator[Delivery]:
    """Write what changed in each environment that compiled; without ``consent`` compare only.

    Environments are independent: a faulty one keeps its manifests, and does not block another one. ``waiting`` is
    called with an environment's folder if another build writes it.
    """
    pinned = any(planned.text for one in results for planned in one.objects)
    if consent is not None or pinned:
        from tfgitops.review.restarts import Guard  # noqa: PLC0415 - a check restarts nothing

        guard = Guard(session)
    compiled: list[tuple[Path, Compiled | None]] = [(one.folder, one) for one in results]
    for folder, given in [*compiled, *((folder, None) for folder in session.abandoned)]:
        one = Delivery(folder=folder, given=given, compiled=given)
        try:
            if given is None or given.ok:
                if consent is None:
                    one.differences = compare(folder, one.files)
                    one.bootstrap = compare_bootstrap(folder, one.beside)
                    if given and pinned:
                        guard.refuse_pins(given)
                else:
                    with alone(folder, lambda folder=folder: waiting(folder)):  # type: ignore[misc]
                        _write(one, session, consent, guard)
                one.done = True
        except CompileError as error:
            one.diagnostics = error.diagnostics
        yield one


def _write(one: Delivery, session: Session, consent: Consent, guard: Guard) -> None:
    """Write one environment; where jobs are to be pinned, it is compiled once more before.

    Raises CompileError if a training would restart by accident, queues would get stuck, or nothing can be written.
    """
    one.differences = compare(one.folder, one.files)
    if one.compiled:
        guard.refuse(one.compiled, one.differences)
    if one.compiled and not consent.all:
        restarts = [restart for restart in guard.restarts(one.compiled, one.differences) if not consent.covers(restart)]
        one.diagnostics = guard.doubts(one.compiled)
        if restarts and not consent.pin_rest:
            one.restarts = restarts
            raise CompileError(guard.diagnose(one.compiled, restarts))
        if restarts:
            from tfgitops.pins.pinning import pin_rest  # noqa: PLC0415 - few builds edit a spec

            one.compiled, one.pins = pin_rest(one.compiled, restarts, session)
            one.differences = compare(one.folder, one.files)
    changes_queues = any("/queue-" in difference.path for difference in one.differences)
    if one.compiled and changes_queues and not consent.queues_at_once:
        guard.let_pass(one.compiled)
    one.bootstrap = compare_bootstrap(one.folder, one.beside)
    apply(one.folder, one.files, one.differences, one.written)
    if one.bootstrap:
        apply(one.folder, one.beside, one.bootstrap, one.written, BOOTSTRAP)
