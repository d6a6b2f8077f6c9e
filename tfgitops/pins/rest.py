"""`build --pin-rest`: the jobs that a build would restart by accident, pinned to their committed runs."""

from __future__ import annotations

import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from tfgitops.compiler.pipeline import compile_environment
from tfgitops.compiler.write import replace_file
from tfgitops.pins.pins import committed_names, pin_jobs
from tfgitops.spec.committed import MANIFESTS
from tfgitops.spec.diagnostics import CompileError
from tfgitops.spec.disk import unwritable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

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
    before = {path: path.read_bytes() if path.exists() else None for path in (*sources, *committed)}
    try:
        for path, text in committed.items():
            replace_file(path, text.encode())
        pins = pin_jobs(folder, names, f"edit it by hand, or let it start anew: --restart {folder.name}/{{}}")
        again = _compiled_again(folder, session)
    except BaseException as error:
        _put_back(before)
        if isinstance(error, OSError):
            raise unwritable(folder / MANIFESTS, error) from error
        raise
    return again, [f"pinned  {pin.place}  {pin.name}" for pin in pins]


def _put_back(before: Mapping[Path, bytes | None]) -> None:
    """Make each file what it was, as far as the system lets it."""
    for path, content in before.items():
        with suppress(OSError):
            if content is None:
                path.unlink(missing_ok=True)
            elif path.read_bytes() != content:
                replace_file(path, content, stat.S_IMODE(path.stat().st_mode))


def _compiled_again(folder: Path, session: Session) -> Compiled:
    again = compile_environment(folder, session.plugins, session.project)
    if not again.ok:
        raise CompileError(again.diagnostics)
    return again
