"""Open, compile and hold the environments that a command line names."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfgitops.compiler.session import Session, compile_all, open_session
from tfgitops.plugins.discovery import discover
from tfgitops.plugins.plain import printable
from tfgitops.spec.diagnostics import CompileError
from tfgitops.spec.disk import is_there, shown
from tfgitops.spec.project import SPEC, find_environments, find_root, read_project

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.plugins.door import Plugins
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
    return open_session(paths_of(given), no_plugin or (), **how)


def compiled(session: Session, found: list[Diagnostic], *, strict: bool = False) -> list[Compiled]:
    """Compile all environments of a call, and add to what was found; a terminal has a line of progress."""
    results = compile_all(session, _progress(len(session.folders)))
    results = [one.as_strict() for one in results] if strict else results
    found += [diagnostic for one in results for diagnostic in one.diagnostics]
    return results


def _progress(total: int) -> Callable[[int, Path], None]:
    def tell(index: int, folder: Path) -> None:
        if total > 1 and sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[Kcompiling {printable(shown(folder))} ({index + 1} of {total})")
            if index + 1 == total:
                sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    return tell


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
    from tfgitops.compiler.write import alone  # noqa: PLC0415 - for commands that write alone

    return alone(folder, lambda: sys.stderr.write(f"waiting for a build of {printable(shown(folder))}\n"))


def plugins_here(without: Iterable[str] | None = None) -> Plugins:
    """Return the plugins that `tfgitops build` would use for the environments of the working directory."""
    return discover(read_project(find_root(Path.cwd() / "environments" / "any")), without or ())
