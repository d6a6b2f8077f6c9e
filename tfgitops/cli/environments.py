"""Open, compile and hold the environments that a command line names."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfgitops.cli.progress import progress
from tfgitops.spec.diagnostics import CompileError
from tfgitops.spec.disk import is_there, shown
from tfgitops.spec.project import SPEC, find_environments

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.compiler.session import Session
    from tfgitops.spec.diagnostics import Diagnostic


def paths_of(given: list[Path] | None) -> list[Path]:
    """Return the given paths; else `environments`, or inside of an environment that one."""
    if given or is_there(Path("environments")):
        return given or [Path("environments")]
    return [_around() or Path("." if "environments" in Path.cwd().parts else "environments")]


def _around() -> Path | None:
    """Return the path from here to the environment that the working directory is in, if it is in one."""
    for depth, folder in enumerate((Path.cwd(), *Path.cwd().parents)):
        if is_there(folder / SPEC) or is_there(folder / ".git"):
            return Path(*[".."] * depth) if is_there(folder / SPEC) else None
    return None


def opened(given: list[Path] | None, no_plugin: Iterable[str] | None, **how: Any) -> Session:
    """Open the environments of a call as `open_session` does."""
    from tfgitops.compiler.session import open_session

    return open_session(paths_of(given), no_plugin or (), **how)


def compiled(session: Session, found: list[Diagnostic], *, strict: bool = False) -> list[Compiled]:
    """Compile all environments of a call, and add to what was found."""
    from tfgitops.compiler.session import compile_all

    doing, total = "compiling", len(session.folders)

    def tell(index: int, folder: Path) -> None:
        nonlocal doing
        doing = f"compiling {shown(folder)}" + (f" ({index + 1} of {total})" if total > 1 else "")

    with progress(session, lambda: doing):
        results = compile_all(session, tell)
    results = [one.as_strict() for one in results] if strict else results
    found += [diagnostic for one in results for diagnostic in one.diagnostics]
    return results


def one_environment(path: Path) -> Path:
    """Return the folder of the one environment that a path stands for; raise CompileError for none, or several."""
    if not is_there(path) and (around := _around()):
        raise CompileError.of("TF101", f"{path} is not there", f"write {around} for the environment around you")
    folders = find_environments(path)
    if len(folders) > 1:
        hint = f"name one of them, such as {shown(folders[0])}"
        raise CompileError.of("TF101", f"{path} holds {len(folders)} environments", hint)
    return folders[0]


def undisturbed(folder: Path) -> AbstractContextManager[None]:
    """Keep builds off an environment while its spec is edited."""
    from tfgitops.compiler.write import alone
    from tfgitops.plugins.plain import printable

    return alone(folder, lambda: sys.stderr.write(f"waiting for a build of {printable(shown(folder))}\n"))
