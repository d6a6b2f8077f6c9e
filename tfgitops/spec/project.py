"""The root of a repository, and what its pyproject.toml says in ``[tool.tfgitops]``."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tfgitops.spec.diagnostics import CompileError, Diagnostic
from tfgitops.spec.disk import is_there, kind_of, read_file, shown, unreadable
from tfgitops.targets.nearest import nearest

LOCK = "tfgitops.lock"
PYPROJECT = "pyproject.toml"
SPEC = "environment.yaml"


@dataclass(frozen=True, kw_only=True)
class Project:
    """One root: nothing outside of it is read, and one call works on one of them."""

    root: Path
    plugins: tuple[str, ...] = ()
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)

    @cached_property
    def day(self) -> str:
        """The day of the newest commit, YYYY-MM-DD; nothing outside of Git. Asked of Git when it is first wanted."""
        from tfgitops.spec.git import newest_commit_day  # noqa: PLC0415 - a process for those with exceptions alone

        return newest_commit_day(self.root)

    @property
    def versions(self) -> list[Path]:
        """The files that name the versions of the compiler and its plugins, or are a plugin."""
        return [self.root / name for name in (LOCK, PYPROJECT, *self.plugins)]


def find_root(environment: Path) -> Path:
    """Return the root of an environment's folder.

    It is the nearest ancestor with ``.git``, or with a ``pyproject.toml`` that has ``[tool.tfgitops]``; else the
    folder above ``environments/``; else the environment's parent.

    Raises:
        CompileError: a pyproject.toml on the way cannot be read, or has not the right form: it may be the root's, and
            another root has other plugins and settings.
    """
    for folder in (environment, *environment.parents):
        if _is_there(folder / ".git") or _tool_table(folder, _pyproject(folder)) is not None:
            return folder
    for folder in environment.parents:
        if folder.name == "environments":
            return folder.parent
    return environment.parent


def read_project(root: Path) -> Project:
    """Read the settings of a root.

    Raises:
        CompileError: its pyproject.toml cannot be read, or ``[tool.tfgitops]`` has not the right form.
    """
    return parse_project(root, _pyproject(root))


def parse_project(root: Path, data: bytes) -> Project:
    """Return the settings that the bytes of a root's pyproject.toml say.

    Raises:
        CompileError: they are no TOML, or ``[tool.tfgitops]`` has not the right form.
    """
    table = _tool_table(root, data) or {}
    plugins = table.get("plugins", [])
    settings = table.get("settings", {})
    unknown = sorted(set(table) - {"plugins", "settings"})
    if unknown:
        raise _refuse(root, f"unknown key '{unknown[0]}' in [tool.tfgitops]", "known are plugins and settings")
    if not isinstance(plugins, list) or not all(isinstance(name, str) for name in plugins):
        raise _refuse(root, "[tool.tfgitops] plugins must be a list of files", 'as in plugins = ["plugins/cost.py"]')
    if not isinstance(settings, dict) or not all(isinstance(value, dict) for value in settings.values()):
        raise _refuse(root, "[tool.tfgitops.settings] must hold a table for each plugin", "")
    return Project(root=root, plugins=tuple(plugins), settings=settings)


def _is_there(path: Path) -> bool:
    try:
        return is_there(path)
    except OSError as error:  # it is the folder that lets nobody in
        raise CompileError([unreadable(path.parent, error)]) from error


def _pyproject(folder: Path) -> bytes:
    path = folder / PYPROJECT
    try:
        return read_file(path) if kind_of(path) == "file" else b""
    except OSError as error:
        raise CompileError([unreadable(path, error)]) from error


def _tool_table(folder: Path, data: bytes) -> dict[str, Any] | None:
    """Return what a folder's pyproject.toml says of us, if it does."""
    if b"tfgitops" not in data:  # most are not ours: do not even parse them
        return None
    import tomllib  # noqa: PLC0415 - most repositories have no settings of ours

    try:
        tool = tomllib.loads(data.decode()).get("tool", {})
    except (ValueError, RecursionError) as error:
        raise _refuse(folder, f"not TOML: {error}", "") from error
    table = tool.get("tfgitops") if isinstance(tool, dict) else tool
    if table is not None and not isinstance(table, dict):
        raise _refuse(folder, "[tool.tfgitops] must be a table", "it holds plugins and settings")
    return table


def _refuse(root: Path, message: str, hint: str) -> CompileError:
    name = shown(root / PYPROJECT)
    diagnostic = Diagnostic(code="TF101", message=f"{name}: {message}", hint=hint, file=name)
    return CompileError([diagnostic])


def file_like(target: str, path: Path, root: Path) -> str:
    """Guess which file is meant by one that is not there: of its name in a folder above, or beside it.

    Args:
        target: the path as it is written.
        path: where that leads.
        root: above which nothing is looked at.
    """
    start = path.parent.resolve()
    above = [folder for folder in (start, *start.parents) if folder.is_relative_to(root)]
    for up, folder in enumerate(above):
        if (folder / path.name).is_file():
            return f"did you mean '{Path(target).parent.joinpath(*['..'] * up, path.name).as_posix()}'?"
    there = {file.stem: Path(target).with_name(file.name).as_posix() for file in sorted(path.parent.glob("*.yaml"))}
    if near := nearest(path.stem, there, cutoff=0.6):
        return f"did you mean '{there[near]}'?"
    others = [name for name in there.values() if Path(name).name != SPEC]
    return f"the path is relative to this file; there are {', '.join(others)}" if others else ""
