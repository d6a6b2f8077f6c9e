"""`build --pin-rest`: the jobs that a build would restart by accident, pinned to their committed runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfgitops.compiler.pipeline import compile_environment
from tfgitops.compiler.write import replace_file
from tfgitops.pins.jobpins import committed_names, pin_jobs
from tfgitops.pins.specedits import all_or_nothing
from tfgitops.spec.committed import MANIFESTS
from tfgitops.spec.diagnostics import CompileError
from tfgitops.spec.disk import unwritable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.compiler.session import Session
    from tfgitops.review.restarts import Restart


def pin_rest(compiled: Compiled, restarts: Iterable[Restart], session: Session) -> tuple[Compiled, list[str]]:
    """Pin jobs to their committed runs and compile again: all of it, or nothing.

    A committed manifest that is not in the working tree is put back. Returns the environment, and a line a pin.

    Raises:
        CompileError: a committed manifest cannot be kept, a file cannot be edited, or the pinned spec does not compile.
    """
    folder, restarts = compiled.folder, list(restarts)
    names = {restart.job.name: restart.old_name for restart in restarts}
    committed = {folder / MANIFESTS / restart.planned.path: restart.committed for restart in restarts}
    committed_names(folder, names, {restart.planned.path: restart.committed for restart in restarts})
    assert compiled.environment is not None
    sources = [document.path for document in compiled.environment.places.documents]
    try:
        with all_or_nothing((*sources, *committed)):
            for path, text in committed.items():
                replace_file(path, text.encode())
            pins = pin_jobs(folder, names, f"edit it by hand, or let it start anew: --restart {folder.name}/{{}}")
            again = compile_environment(folder, session.plugins, session.project)
            if not again.ok:
                raise CompileError(again.diagnostics)
    except OSError as error:
        raise unwritable(folder / MANIFESTS, error) from error
    return again, [f"pinned  {pin.place}  {pin.name}" for pin in pins]
