"""What lies below an environment's ``manifests/``: the text of each file that a controller would apply."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from tfgitops.spec.diagnostics import CompileError, Diagnostic
from tfgitops.spec.disk import is_there, read_file, unreadable, walk
from tfgitops.spec.yamltext.textfile import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

MANIFESTS = "manifests"
READ_BY_CONTROLLERS = (".yaml", ".yml", ".json")


def existing(top: Path) -> Iterator[tuple[str, str | None]]:
    """Yield each file that a controller would apply, with its text; None for what is no text of ours: see below.

    Raises:
        CompileError: a folder or a file cannot be read: what is there cannot be told.
    """
    start = len(f"{top}/")
    problems: list[Diagnostic] = []
    for current, folders, names in walk(top, problems.append) if is_there(top) else ():
        folders.sort()
        for name in names:
            if name.endswith(READ_BY_CONTROLLERS):
                path = f"{current}/{name}"
                try:
                    yield path[start:], read_manifest(path)
                except CompileError as error:
                    problems += error.diagnostics
    if problems:
        raise CompileError(problems)


def texts(folder: Path) -> dict[str, str]:
    """Return the texts of an environment's manifests by their path below ``manifests/``, sorted; none behind a link.

    Raises:
        CompileError: a folder or a file cannot be read.
    """
    top = folder / MANIFESTS
    if top.is_symlink():
        return {}
    return {path: text for path, text in sorted(existing(top)) if text is not None}


def read_manifest(path: str) -> str | None:
    """Return the text of a file, its line ends as LF; None for what is not there, and for what we never wrote.

    That is what is no text, no file, behind a link, or larger than any manifest.

    Raises:
        CompileError: it cannot be read.
    """
    try:
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
            return None
        return read_file(path).decode().replace("\r\n", "\n")
    except (FileNotFoundError, NotADirectoryError, UnicodeDecodeError):
        return None
    except OSError as error:
        raise CompileError([unreadable(Path(path), error)]) from error
