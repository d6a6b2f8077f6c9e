"""tfgitops.lock: the versions of the compiler and of each plugin that a repository's manifests are written by."""

from __future__ import annotations

import tomllib
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from tfgitops import __version__
from tfgitops.compiler.write import replace_file
from tfgitops.spec.diagnostics import CompileError, Diagnostic
from tfgitops.spec.disk import kind_of, read_file, shown, unwritable
from tfgitops.spec.project import LOCK

if TYPE_CHECKING:
    from tfgitops.compiler.session import Session
    from tfgitops.spec.diagnostics import Severity
    from tfgitops.spec.project import Project

_USE = "use those versions, or run `tfgitops lock`"
_HEAD = "# Written by `tfgitops lock`: the versions that build these manifests.\n"


def versions(session: Session) -> dict[str, str]:
    """Return the versions in use: the compiler's, each plugin's, and for a local file its SHA-256."""
    return {"tfgitops": __version__} | {
        plugin.name: _digest(session.project, plugin.origin) if plugin.version == "local" else plugin.version
        for plugin in session.plugins.plugins
    }


def write_lock(session: Session) -> Path:
    """Record the versions in use, and return the file; raise CompileError if it cannot be written."""
    path = session.project.root / LOCK
    lines = [f'{name} = "{version}"\n' for name, version in versions(session).items()]
    try:
        replace_file(path, (_HEAD + "".join(lines)).encode())
    except OSError as error:
        raise unwritable(path, error) from error
    return path


def _digest(project: Project, plugin: str) -> str:
    """Return what the lock says of a local plugin's file; nothing of one that cannot be read."""
    try:
        return f"sha256:{sha256(read_file(project.root / plugin)).hexdigest()}"
    except OSError:
        return ""


def refuse_changed_plugins(project: Project) -> None:
    """Let no local plugin run that is not the one of the lock: to import it is to run it.

    Raises CompileError if there is no lock, or the file of a local plugin has another digest.
    """
    if not project.plugins:
        return
    recorded = _recorded(project)
    if recorded is None:
        raise CompileError([_missing(project)])
    used = {Path(plugin).stem: _digest(project, plugin) for plugin in project.plugins}
    changed = {name: digest for name, digest in used.items() if recorded.get(name) != digest}
    if changed:
        raise CompileError(
            _problem(project, _difference(name, recorded.get(name), digest)) for name, digest in changed.items()
        )


def check_lock(session: Session, *, locked: bool = False, strict: bool = False) -> list[Diagnostic]:
    """Say where the versions in use are not those of the lock, as errors if these are asked for.

    With ``locked``, a missing lock is an error too; with ``strict``, warnings are errors. Raises CompileError if the
    lock cannot be read, or is no list of versions.
    """
    recorded = _recorded(session.project)
    if recorded is None:
        return [_missing(session.project)] if locked else []
    used = versions(session)
    return [
        _problem(session.project, message, severity="error" if locked or strict else "warning")
        for name in sorted(used.keys() | recorded.keys())
        if (message := _difference(name, recorded.get(name), used.get(name)))
    ]


def _recorded(project: Project) -> dict[str, str] | None:
    path, broken = project.root / LOCK, ""
    recorded: dict[str, str] | None = None
    try:
        recorded = tomllib.loads(read_file(path).decode()) if kind_of(path) != "nothing" else None
    except (OSError, ValueError, RecursionError) as error:
        broken = f"cannot be read: {error.strerror if isinstance(error, OSError) else error}"
    for name, version in (recorded or {}).items():
        if not isinstance(version, str):
            broken = broken or f"gives {name} no version in quotes"
    if broken:
        raise CompileError([_problem(project, f"{shown(path)} {broken}", "`tfgitops lock` writes it anew")])
    return recorded


def _missing(project: Project) -> Diagnostic:
    return _problem(project, f"there is no {LOCK} in {shown(project.root)}", "run `tfgitops lock`, and commit it")


def _problem(project: Project, message: str, hint: str = _USE, severity: Severity = "error") -> Diagnostic:
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
    first, second = ([int(part) for part in version.split(".") if part.isdigit()] for version in (one, other))
    return first > second
