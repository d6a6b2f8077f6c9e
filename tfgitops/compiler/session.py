"""Find and compile the environments of one call, which have one root."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from tfgitops.compiler.pipeline import compile_environment
from tfgitops.compiler.sharing import check_sharing
from tfgitops.plugins.discovery import discover
from tfgitops.spec.diagnostics import CompileError, Diagnostic, a_few
from tfgitops.spec.disk import is_there, resolved, shown
from tfgitops.spec.project import SPEC, Project, find_root, read_project, survey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.plugins.door import Plugins

_MUCH = 50_000  # bytes of specs, which one core compiles in a fifth of a second
_OVERHEAD = 500  # bytes that take as long as an environment without jobs


@dataclass(frozen=True, kw_only=True)
class Session:
    """The environments of one call.

    ``abandoned`` are folders that have manifests and no spec. ``absent`` are paths without an environment, each with
    the error to report if there never was one.
    """

    project: Project
    plugins: Plugins
    folders: Sequence[Path]
    abandoned: Sequence[Path]
    absent: Sequence[tuple[Path, Diagnostic]] = ()


def open_session(
    paths: Iterable[Path],
    without: Iterable[str] = (),
    before_plugins: Callable[[Project], object] = lambda _: None,
    *,
    keep_absent: bool = False,
) -> Session:
    """Find the environments at some paths, their root and its plugins.

    ``before_plugins`` may raise before the import of a plugin runs its code. ``keep_absent`` allows paths without an
    environment, because there may have been one. Raises CompileError if a path is missing, cannot be read or has no
    environment, or if there is more than one root.
    """
    surveys = [(path, survey(path)) for path in paths]
    kept = {id(found) for _, found in surveys if keep_absent and found.absent}
    if problems := [problem for _, found in surveys if id(found) not in kept for problem in found.problems]:
        raise CompileError(problems)
    absent = [
        (resolved(path.parent if path.name == SPEC else path), found.problems[0])
        for path, found in surveys
        if id(found) in kept
    ]
    lost = sorted({folder for _, found in surveys for folder in found.abandoned})
    folders = sorted({folder for _, found in surveys for folder in found.environments})
    roots: dict[Path, list[str]] = {}
    for folder in (*folders, *lost, *(path for path, _ in absent)):
        roots.setdefault(find_root(folder), []).append(shown(folder))
    if len(roots) > 1:
        raise CompileError(_one_of_several(root, roots[root]) for root in sorted(roots))
    project = read_project(*roots)
    before_plugins(project)
    plugins = discover(project, without)
    return Session(project=project, plugins=plugins, folders=folders, abandoned=lost, absent=absent)


def _one_of_several(root: Path, environments: Sequence[str]) -> Diagnostic:
    why = "a repository of Git" if is_there(root / ".git") else "the folder of its settings or environments"
    message = f"the environments have more than one root: {shown(root)}, {why}"
    return Diagnostic(code="TF101", message=message, found=a_few(environments), hint="one call for each root")


def compile_all(session: Session, progress: Callable[[int, Path], None] = lambda *_: None) -> list[Compiled]:
    """Compile each environment; a broken one does not stop the others."""
    return check_sharing(compile_each(session, session.folders, progress), session.plugins.codes)


def compile_each(
    session: Session, folders: Sequence[Path], progress: Callable[[int, Path], None] = lambda *_: None
) -> list[Compiled]:
    """Compile the environments of some folders, on several cores if there is much to do; a trace is for one core."""

    def one(item: tuple[int, Path]) -> Compiled:
        progress(*item)
        return compile_environment(item[1], session.plugins, session.project)

    if len(folders) > 1 and not session.plugins.traced and is_much(folders):
        from tfgitops.compiler.parallel import forks_for, in_parallel  # noqa: PLC0415 - for much work alone

        if forks := forks_for(len(folders)):
            return in_parallel(one, [*enumerate(folders)], forks)
    return [*map(one, enumerate(folders))]


def is_much(folders: Iterable[Path]) -> bool:
    """Tell whether forks pay, by the size of the specs, and of the files beside them, which they may extend."""
    sizes = (
        _OVERHEAD + sum(file.lstat().st_size for file in (*folder.glob("*.yaml"), *folder.glob("jobs/*.yaml")))
        for folder in (place for folder in folders for place in (folder, folder.parent))
    )
    return any(total > _MUCH for total in accumulate(sizes))
