"""`tfgitops lock`: record the versions of the compiler and the plugins."""

from __future__ import annotations

from tfgitops.cli.commandapp import Paths, Quiet, Without


def lock(paths: Paths = None, no_plugin: Without = None, quiet: Quiet = False) -> int:
    """Record the versions of the compiler and the plugins in tfgitops.lock."""
    from tfgitops.cli.environments import opened
    from tfgitops.compiler.versionlock import versions, write_lock
    from tfgitops.plugins.plain import printable
    from tfgitops.spec.diagnostics import CompileError
    from tfgitops.spec.disk import shown

    session = opened(paths, no_plugin)
    if session.plugins.faults:
        raise CompileError(session.plugins.faults)
    path = write_lock(session)
    if not quiet:
        used = ", ".join(f"{name} {version[:19]}" for name, version in versions(session).items())
        print(f"{printable(shown(path))}: {used}")
    return 0
