"""`tfgitops lock`: record the versions of the compiler and the plugins."""

from __future__ import annotations

from pathlib import Path

from tfgitops.cli.common import Paths, Quiet, Without, command_app, example, guarded
from tfgitops.compiler.session import open_session
from tfgitops.compiler.versionlock import versions, write_lock
from tfgitops.spec.diagnostics import CompileError
from tfgitops.spec.load import shown

app = command_app()


@app.command(epilog=example("tfgitops lock"))
@guarded
def lock(paths: Paths = None, no_plugin: Without = None, quiet: Quiet = False) -> int:
    """Record the versions of the compiler and the plugins in tfgitops.lock."""
    session = open_session(paths or [Path("environments")], no_plugin or ())
    if session.plugins.faults:
        raise CompileError(session.plugins.faults)
    path = write_lock(session)
    if not quiet:
        print(f"{shown(path)}: " + ", ".join(f"{name} {version[:19]}" for name, version in versions(session).items()))
    return 0
