"""Which environments a path stands for, and which folders below it have lost their spec."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from tfgitops.spec.diagnostics import CompileError, Diagnostic
from tfgitops.spec.disk import is_there, kind_of, read_file, resolved, shown, unreadable, walk
from tfgitops.spec.project import SPEC
from tfgitops.targets.nearest import did_you_mean

_LIKE_A_SPEC = re.compile(r"environment\.(?:ya?ml|json)", re.IGNORECASE).fullmatch
_OURS = b"tfgitops/v"
_WHAT_IT_IS = f"an environment is a folder that holds {SPEC}"


@dataclass(kw_only=True)
class Survey:
    """What stands below a path: environments, folders with manifests and no spec any more, and what cannot be told.

    An environment is wherever a spec is by its name, be it that it cannot be read: that is for `load` to say, and no
    reason to think that it went away. ``absent`` is whether the only problem is that none is there: an earlier commit
    may have one.
    """

    environments: list[Path] = field(default_factory=list)
    abandoned: list[Path] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    absent: bool = False

    def checked(self) -> Survey:
        """Return what was found, if all could be told.

        Raises:
            CompileError: with all that could not.
        """
        if self.problems:
            raise CompileError(self.problems)
        return self


def find_environments(path: Path) -> list[Path]:
    """Return the folders of the environments that a path stands for, sorted.

    Raises:
        CompileError: the path is not there, something below it cannot be read, or no environment is below it.
    """
    found = survey(path).checked()
    if not found.environments:
        raise CompileError([_no_place(f"no environment is below {path}", _WHAT_IT_IS)])
    return found.environments


def survey(path: Path) -> Survey:
    """Look for the environments that a path stands for: its own, or all below a folder."""
    try:
        return _survey(path)
    except OSError as error:
        return Survey(problems=[unreadable(Path(error.filename), error)])


def _survey(path: Path) -> Survey:
    if path.name == SPEC and is_there(path):
        return _one(path)
    kind = kind_of(path)
    if kind == "nothing":
        hint = _near(path) or "name an environment's folder, or a folder of environments"
        return Survey(problems=[_no_place(f"{path} is not there", hint)], absent=True)
    if kind == "file":
        hint = f"rename it to {SPEC}" if _LIKE_A_SPEC(path.name) else _WHAT_IT_IS
        return Survey(problems=[_no_place(f"{path} is not an environment", hint)])
    return _one(path / SPEC) if is_there(path / SPEC) else _below(path)


def _one(spec: Path) -> Survey:
    if spec.is_dir():
        problem = _no_place(f"{shown(spec)} is a folder", "it must be a file: the spec of the environment")
        return Survey(problems=[problem])
    return Survey(environments=[resolved(spec.parent)])


def _below(top: Path) -> Survey:
    """Look through a folder that is no environment itself."""
    found, unlike = Survey(), []
    for current, folders, names in walk(top, found.problems.append):
        folder = Path(current)
        misnamed = next((folder / name for name in sorted(names) if _LIKE_A_SPEC(name)), None)
        if SPEC in names or SPEC in folders:
            found.environments.append(resolved(folder))
        elif misnamed and ("manifests" in folders or _is_ours(misnamed)):
            found.problems.append(_no_place(f"{shown(misnamed)} would be passed over", f"rename it to {SPEC}"))
        elif "manifests" in folders:
            found.abandoned.append(resolved(folder))
        elif misnamed:  # Conda's, it may be
            unlike.append(misnamed)
        folders[:] = sorted(n for n in folders if not n.startswith(".") and n not in ("manifests", "jobs", SPEC))
    if not (found.environments or found.abandoned or found.problems):
        hint = f"rename {shown(unlike[0])} to {SPEC}" if unlike else _WHAT_IT_IS
        found.problems.append(_no_place(f"no environment is below {top}", hint))
        found.absent = not unlike
    found.environments.sort()
    found.abandoned.sort()
    return found


def _is_ours(path: Path) -> bool:
    """Tell whether a file says that it is a spec of ours; one that cannot be read says nothing."""
    try:
        return _OURS in read_file(path)
    except OSError:
        return False


def _near(path: Path) -> str:
    """Guess which environment was meant by a path that is not there: one beside it, or below `environments`."""
    folders = [place.parent for top in (path.parent, Path("environments")) for place in top.glob(f"*/{SPEC}")]
    by_name = {folder.name: shown(folder) for folder in reversed(folders)}
    near = did_you_mean(path.name, sorted(by_name))
    return next((f"did you mean '{by_name[name]}'?" for name in by_name if f"'{name}'" in near), "")


def _no_place(message: str, hint: str) -> Diagnostic:
    return Diagnostic(code="TF101", message=message, hint=hint)
