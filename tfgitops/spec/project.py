"""The root of a repository, its settings in ``[tool.tfgitops]``, and the environments that a path stands for."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfgitops.spec import bounds
from tfgitops.spec.diagnostics import CompileError, Diagnostic
from tfgitops.spec.disk import is_there, kind_of, read_file, resolved, shown, unreadable, walk
from tfgitops.targets.nearest import nearest

if TYPE_CHECKING:
    from tfgitops.spec.disk import FileTree

LOCK = "tfgitops.lock"
PYPROJECT = "pyproject.toml"
SPEC = "environment.yaml"

_LIKE_A_SPEC = re.compile(r"environment\.(?:ya?ml|json)", re.IGNORECASE).fullmatch
_OURS = b"tfgitops/v"
_IN_SUBMODULE = b"/modules/"  # in the file .git; the one of a worktree leads to /worktrees/
_NO_LINK = "put the environment itself here"
_WHAT_IT_IS = f"an environment is a folder that holds {SPEC}"


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

    It is the nearest ancestor with ``.git``, or with a ``pyproject.toml`` that has ``[tool.tfgitops]``; else the folder
    above ``environments/``; else the environment's parent. Raises CompileError if a pyproject.toml on the way cannot be
    read, or has not the right form: it may be the root's, and another root has other plugins and settings. So it raises
    one, too, if a root is inside of another root of the same checkout.
    """
    above = (folder.parent for folder in environment.parents if folder.name == "environments")
    root = _marked_root(environment)
    if root and (outer := _outer_root(root)):
        message = f"{shown(root)} is a root inside of the root {shown(outer)}"
        raise CompileError.of("TF101", message, f"keep one pyproject.toml with [tool.tfgitops], in {shown(outer)}")
    return root or next(above, environment.parent)


def _outer_root(root: Path) -> Path | None:
    """Return the outermost root of a checkout, if a root is inside of it: whose settings the inner one would hide."""
    outer = None
    for folder in (root, *root.parents):
        if folder != root and (is_there(folder / LOCK) or _tool_table(folder, _pyproject(folder)) is not None):
            outer = folder
        git = folder / ".git"
        if is_there(git) and not (git.is_file() and _IN_SUBMODULE in read_file(git, bounds.FILE)):
            break
    return outer


def _marked_root(place: Path) -> Path | None:
    """Return the nearest folder, at or above a place, that says that it is a root; raise CompileError as above."""
    for folder in (place, *place.parents):
        try:
            if is_there(folder / ".git"):
                return folder
        except OSError as error:  # it is the folder that lets nobody in
            raise CompileError([unreadable(folder, error)]) from error
        if _tool_table(folder, _pyproject(folder)) is not None:
            return folder
    return None


def read_project(root: Path) -> Project:
    """Read the settings of a root; see `parse_project`."""
    return parse_project(root, _pyproject(root))


def parse_project(root: Path, data: bytes) -> Project:
    """Return the settings in a root's pyproject.toml; raise CompileError if it cannot be read or has a wrong form."""
    table = _tool_table(root, data) or {}
    plugins, settings = table.get("plugins", []), table.get("settings", {})
    if unknown := sorted(table.keys() - {"plugins", "settings"}):
        raise _refuse(root, f"unknown key '{unknown[0]}' in [tool.tfgitops]", "known are plugins and settings")
    if not isinstance(plugins, list) or not all(isinstance(name, str) and "\0" not in name for name in plugins):
        raise _refuse(root, "[tool.tfgitops] plugins must be a list of files", 'as in plugins = ["plugins/cost.py"]')
    if not isinstance(settings, dict) or not all(isinstance(value, dict) for value in settings.values()):
        raise _refuse(root, "[tool.tfgitops.settings] must hold a table for each plugin", "")
    return Project(root=root, plugins=tuple(plugins), settings=settings)


def _pyproject(folder: Path) -> bytes:
    path = folder / PYPROJECT
    try:
        return read_file(path, bounds.FILE) if kind_of(path) == "file" else b""
    except OSError as error:
        raise CompileError([unreadable(path, error)]) from error


def _tool_table(folder: Path, data: bytes) -> dict[str, Any] | None:
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
    return CompileError([Diagnostic(code="TF101", message=f"{name}: {message}", hint=hint, file=name)])


@dataclass(kw_only=True)
class Survey:
    """What stands below a path: environments, folders that have manifests but no spec, and faults.

    An environment is wherever a spec is by its name, even one that cannot be read: `load` reports that, and it is no
    reason to think that the environment went away. ``absent`` is whether the only problem is that none is there: an
    earlier commit may have one.
    """

    environments: list[Path] = field(default_factory=list)
    abandoned: list[Path] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    absent: bool = False

    def checked(self) -> Survey:
        """Return what was found; raise CompileError with all faults, if there are any."""
        if self.problems:
            raise CompileError(self.problems)
        return self


def find_environments(path: Path) -> list[Path]:
    """Return the folders of the environments that a path stands for, sorted.

    Raises CompileError if the path is not there, something below it cannot be read, or no environment is below it.
    """
    if found := survey(path).checked().environments:
        return found
    raise CompileError.of("TF101", f"no environment is below {path}", _WHAT_IT_IS)


def survey(path: Path) -> Survey:
    """Look for the environments that a path stands for: its own, or all below a folder."""
    try:
        if link := _leading_out(path):
            message = f"{shown(link)} leads out of the root"
            return Survey(problems=[Diagnostic(code="TF108", message=message, hint="copy the folder here")])
        return _survey(path)
    except OSError as error:
        return Survey(problems=[unreadable(Path(error.filename), error)])


def _leading_out(path: Path) -> Path | None:
    """Return the link in a path that leads out of the repository around it, if there is one."""
    whole = Path(os.path.abspath(path))  # noqa: PTH100 - not resolved
    if resolved(whole) != whole:
        for link in (one for one in (whole, *whole.parents) if one.is_symlink()):
            root = _marked_root(link.parent)
            if root and not resolved(link).is_relative_to(resolved(root)):
                return link
    return None


def _survey(path: Path) -> Survey:
    spec = path if path.name == SPEC else path / SPEC
    kind = "spec" if path is spec and is_there(path) else kind_of(path)
    if kind == "nothing":
        hint = _near(path) or "name an environment's folder, or a folder of environments"
        return _none(f"{path} is not there", hint, absent=True)
    if kind == "file":
        hint = f"rename it to {SPEC}" if _LIKE_A_SPEC(path.name) else _WHAT_IT_IS
        return _none(f"{path} is not an environment", hint)
    if kind == "folder" and not is_there(spec):
        return _below(path)
    if spec.is_dir():
        return _none(f"{shown(spec)} is a folder", "it must be a file: the spec of the environment")
    return Survey(environments=[resolved(spec.parent)])


def _none(message: str, hint: str, *, absent: bool = False) -> Survey:
    return Survey(problems=[Diagnostic(code="TF101", message=message, hint=hint)], absent=absent)


def _below(top: Path) -> Survey:
    found, unlike = Survey(), []
    for current, folders, names in walk(top, found.problems.append):
        folder = Path(current)
        misnamed = next((folder / name for name in sorted(names) if _LIKE_A_SPEC(name)), None)
        if SPEC in names or SPEC in folders:
            found.environments.append(resolved(folder))
        elif misnamed and ("manifests" in folders or _is_ours(misnamed)):
            found.problems += _none(f"{shown(misnamed)} would be passed over", f"rename it to {SPEC}").problems
        elif "manifests" in folders:
            found.abandoned.append(resolved(folder))
        elif misnamed:  # Conda's, it may be
            unlike.append(misnamed)
        inside = {"manifests", SPEC} | ({"jobs"} if SPEC in names else set())
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in inside)
        for link in (path for path in (folder / name for name in folders) if path.is_symlink()):
            if is_there(link / SPEC) or is_there(link / "manifests"):
                found.problems += _none(f"{shown(link)} is a link, and would be passed over", _NO_LINK).problems
    if not (found.environments or found.abandoned or found.problems):
        hint = f"rename {shown(unlike[0])} to {SPEC}" if unlike else _WHAT_IT_IS
        return _none(f"no environment is below {top}", hint, absent=not unlike)
    found.environments.sort()
    found.abandoned.sort()
    return found


def _is_ours(path: Path) -> bool:
    """Tell whether a file says that it is a spec of ours; one that cannot be read says nothing."""
    try:
        return _OURS in read_file(path, bounds.FILE)
    except OSError:
        return False


def _near(path: Path) -> str:
    """Guess which environment was meant by a path that is not there: one beside it, or below `environments`."""
    folders = [place.parent for top in (path.parent, Path("environments")) for place in top.glob(f"*/{SPEC}")]
    by_name = {folder.name: shown(folder) for folder in reversed(folders)}
    near = nearest(path.name, sorted(by_name), cutoff=0.6)
    return f"did you mean '{by_name[near]}'?" if near else ""


def file_like(target: str, path: Path, tree: FileTree) -> str:
    """Guess which file is meant by a target at a path that is not there: one in a folder above, up to the root."""
    start = tree.resolved(path.parent)
    above = [folder for folder in (start, *start.parents) if folder.is_relative_to(tree.root)]
    for up, folder in enumerate(above):
        if tree.listed(folder).get(path.name) == "file":
            return f"did you mean '{Path(target).parent.joinpath(*['..'] * up, path.name).as_posix()}'?"
    files = [name for name in tree.listed(path.parent) if name.endswith(".yaml")]
    there = {Path(name).stem: Path(target).with_name(name).as_posix() for name in files}
    if near := nearest(path.stem, there, cutoff=0.6):
        return f"did you mean '{there[near]}'?"
    others = [name for name in there.values() if Path(name).name != SPEC]
    return f"the path is relative to this file; there are {', '.join(others)}" if others else ""
