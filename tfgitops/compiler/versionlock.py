"""Write and check tfgitops.lock: the versions of the compiler and the plugins that build a repository's manifests."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from tfgitops import __version__
from tfgitops.compiler.write import replace_file
from tfgitops.spec import bounds
from tfgitops.spec.diagnostics import CompileError, Diagnostic
from tfgitops.spec.disk import kind_of, read_file, shown, unwritable
from tfgitops.spec.project import LOCK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfgitops.compiler.session import Session
    from tfgitops.spec.diagnostics import Severity
    from tfgitops.spec.project import Project

_NUMBER = re.compile(r"(?<![^.])[0-9]{1,9}(?![^.])")
_HEAD = "# Written by `tfgitops lock`: the versions that build these manifests.\n"


def versions(session: Session) -> dict[str, str]:
    """Return the versions in use by name: the compiler's, and each plugin's; a local file has its SHA-256 instead."""
    return {"tfgitops": __version__} | {
        plugin.name: _digest(session.project, plugin.origin) if plugin.version == "local" else plugin.version
        for plugin in session.plugins.plugins
    }


def lock_text(session: Session) -> str:
    """Return the content of a lock with the versions in use."""
    return _HEAD + "".join(f'{name} = "{version}"\n' for name, version in versions(session).items())


def write_lock(session: Session) -> Path:
    """Write the versions in use, and return the path of the file; raise CompileError if it cannot be written."""
    path = session.project.root / LOCK
    try:
        replace_file(path, lock_text(session).encode())
    except OSError as error:
        raise unwritable(path, error) from error
    return path


def _digest(project: Project, plugin: str) -> str:
    """Return the digest of a local plugin's file, or the empty string if it cannot be read."""
    try:
        return f"sha256:{sha256(read_file(project.root / plugin, bounds.FILE)).hexdigest()}"
    except OSError:
        return ""


def refuse_changed_plugins(project: Project) -> None:
    """Raise CompileError if a local plugin is not the one of the lock, or without a lock; an import would run it."""
    if not project.plugins:
        return
    used = {Path(plugin).stem: _digest(project, plugin) for plugin in project.plugins}
    recorded = _recorded(project)
    known = {name: recorded[name] for name in used.keys() & recorded.keys()} if recorded is not None else None
    if found := _differences(project, known, used, "error"):
        raise CompileError(found)


def check_lock(session: Session, *, locked: bool = False, strict: bool = False) -> list[Diagnostic]:
    """Return a warning for each version that is not the one of the lock; ``locked`` and ``strict`` make it an error.

    With ``locked``, a missing lock is an error, too. Raises CompileError if the lock is no readable list of versions.
    """
    recorded = _recorded(session.project)
    if recorded is None and not locked:
        return []
    return _differences(session.project, recorded, versions(session), "error" if locked or strict else "warning")


def _differences(
    project: Project, recorded: Mapping[str, str] | None, used: Mapping[str, str], severity: Severity
) -> list[Diagnostic]:
    if recorded is None:
        message, hint = f"there is no {LOCK} in {shown(project.root)}", "run `tfgitops lock`, and commit it"
        return [_problem(project, message, hint)]
    return [
        _problem(project, message, "use those versions, or run `tfgitops lock`", severity)
        for name in sorted(used.keys() | recorded.keys())
        if (message := _difference(name, recorded.get(name), used.get(name)))
    ]


def _recorded(project: Project) -> dict[str, str] | None:
    path = project.root / LOCK
    if path.is_symlink() and path.exists():  # the versions in it are shown
        raise CompileError([_problem(project, f"{shown(path)} is a link", "`tfgitops lock` writes it anew")])
    try:
        if kind_of(path) == "nothing":
            return None
        import tomllib  # noqa: PLC0415 - many repositories have no lock

        recorded = tomllib.loads(read_file(path, bounds.FILE).decode())
        unquoted = [name for name, version in recorded.items() if not isinstance(version, str)]
        broken = f"gives {unquoted[0]} no version in quotes" if unquoted else ""
    except (OSError, ValueError, RecursionError) as error:
        broken = f"cannot be read: {error.strerror if isinstance(error, OSError) else error}"
    if broken:
        raise CompileError([_problem(project, f"{shown(path)} {broken}", "`tfgitops lock` writes it anew")])
    return recorded


def _problem(project: Project, message: str, hint: str, severity: Severity = "error") -> Diagnostic:
    return Diagnostic(code="TF603", severity=severity, message=message, hint=hint, file=shown(project.root / LOCK))


def _difference(name: str, recorded: str | None, used: str | None) -> str:
    if recorded == used:
        return ""
    what = "the compiler" if name == "tfgitops" else f"plugin '{name}'"
    if used is None:
        return f"{what}, {recorded} in {LOCK}, is not installed"
    if not used:
        return f"{what} cannot be read"
    if recorded is None:
        return f"{what} {used} is not in {LOCK}"
    if name == "tfgitops" and _newer(recorded, used):
        return f"the manifests were written by a newer compiler: {recorded} in {LOCK}, and this is {used}"
    return f"{what} is {used}, and {recorded} in {LOCK}"


def _newer(one: str, other: str) -> bool:
    first, second = ([*map(int, _NUMBER.findall(version))] for version in (one, other))
    return first > second
