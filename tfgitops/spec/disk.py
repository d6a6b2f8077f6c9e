"""What the file system says of a path: what cannot be looked at is a fault, and never taken for what is not there."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tfgitops.spec.diagnostics import CompileError, Diagnostic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Kind = Literal["nothing", "file", "folder"]

_FORBIDDEN = (errno.EACCES, errno.EPERM)
_OTHERS: dict[Callable[[int], bool], str] = {
    stat.S_ISFIFO: "a named pipe", stat.S_ISSOCK: "a socket", stat.S_ISCHR: "a device", stat.S_ISBLK: "a device",
}  # fmt: skip


def kind_of(path: Path) -> Kind:
    """Tell what a path is, through links; nothing only where nothing is.

    Raises:
        OSError: it cannot be looked at, is a link to nothing, or is neither a file nor a folder.
    """
    try:
        mode = _status(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        if is_there(path):
            raise OSError(errno.ENOENT, "it is a link to what is not there", str(path)) from None
        return "nothing"
    if stat.S_ISDIR(mode):
        return "folder"
    _refuse_other(path, mode)
    return "file"


def is_there(path: Path) -> bool:
    """Tell whether there is anything by this name, be it a link to nothing.

    Raises:
        OSError: it cannot be told.
    """
    try:
        _status(path, through_links=False)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def read_file(path: Path | str) -> bytes:
    """Return the content of a file, and wait for nobody: a named pipe is none.

    Raises:
        OSError: it cannot be read, or is no file.
    """
    mode = _status(path).st_mode
    if not stat.S_ISREG(mode):
        _refuse_other(path, mode)
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - of thousands of manifests, no Paths
        return file.read()


def _status(path: Path | str, *, through_links: bool = True) -> os.stat_result:
    try:
        return os.stat(path, follow_symlinks=through_links)  # noqa: PTH116 - likewise
    except ValueError as error:  # a NUL character, which a spec can hold
        raise OSError(errno.EINVAL, "no file has such a name", str(path)) from error


def _refuse_other(path: Path | str, mode: int) -> None:
    for is_one, name in _OTHERS.items():
        if is_one(mode):
            raise OSError(errno.EINVAL, f"it is {name}, and no file", str(path))


def walk(top: Path, report: Callable[[Diagnostic], object]) -> Iterator[tuple[str, list[str], list[str]]]:
    """Walk through the folders below a folder as `os.walk` does, and report each that cannot be listed."""

    def fail(error: OSError) -> None:
        report(unreadable(Path(error.filename), error))

    return os.walk(top, onerror=fail)


def resolved(path: Path) -> Path:
    """Return a path without links; those that lead round in a circle stay, as whoever reads them will notice.

    Raises:
        OSError: no file can have such a name.
    """
    try:
        return Path(os.path.realpath(path))
    except ValueError as error:
        raise OSError(errno.EINVAL, "no file has such a name", str(path)) from error


def unreadable(path: Path, error: OSError) -> Diagnostic:
    """Say that a path cannot be read, and why."""
    hint = "see the permissions of it, and of the folders above it"
    return _failed("TF101", path, "cannot be read", error, hint if error.errno in _FORBIDDEN else "see what is there")


def unwritable(path: Path, error: OSError, hint: str = "") -> CompileError:
    """Say that a path cannot be written, and why: the one that the system names, else the one given."""
    place = Path(error.filename) if isinstance(error.filename, str) else path
    return CompileError([_failed("TF602", place, "cannot be written", error, hint)])


def _failed(code: str, path: Path, what: str, error: OSError, hint: str) -> Diagnostic:
    name = shown(path)
    message = f"{name} {what}: {error.strerror or error}"
    return Diagnostic(code=code, message=message, hint=hint, file=name)


def shown(path: Path) -> str:
    """Name a path as a person at the prompt would: relative to here, where it is below here."""
    try:
        absolute = Path(os.path.abspath(path))  # noqa: PTH100 - not resolved: a link keeps the name it was given by
        return absolute.relative_to(Path.cwd()).as_posix()
    except FileNotFoundError:  # here is no more
        return path.as_posix()
    except ValueError:
        return absolute.as_posix()
