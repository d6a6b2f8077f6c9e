"""Write the compiled files into a folder of manifests. No other stage writes manifests."""

from __future__ import annotations

import os
import re
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tfgitops.spec.committed import MANIFESTS, existing, read_header
from tfgitops.spec.diagnostics import CompileError, Diagnostic
from tfgitops.spec.disk import shown, unreadable, unwritable

try:
    import fcntl
except ImportError:  # Windows has no flock, so the user must not run two builds at once
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tfgitops.compiler.compiled import File

_TEMPORARY = ".tfgitops-"
_MODE = 0o644
_LINK = "is a link, and nothing is written through links"
_PAUSE = 0.05  # seconds between two looks at a lock
_FOLDER_MODE = 0o755
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL  # nothing that is there already is opened: a named pipe would not let go
_PATH = re.compile(r"[a-z0-9-]+/[A-Za-z0-9][A-Za-z0-9._:-]*\.yaml").fullmatch

State = Literal["missing", "stale", "edited", "orphan", "foreign"]


@dataclass(frozen=True, kw_only=True, order=True)
class Difference:
    """One file that differs from its compiled text: its path relative to ``manifests/``, and how it differs."""

    path: str
    state: State


def compare(folder: Path, files: Iterable[File]) -> list[Difference]:
    """Return the differences between an environment's manifests and its compiled files; write nothing.

    Raises CompileError if a file of others or a link is in the way, or if a path leads out of ``manifests/``.
    """
    wanted = _texts(files)
    top = folder / MANIFESTS
    problems = []
    if top.is_symlink():
        problems.append(_in_the_way(top, _LINK))
    elif os.path.lexists(top) and not top.is_dir():
        problems.append(_in_the_way(top, "is a file, and the folder of the manifests must be there"))
    found = dict(existing(top)) if not problems else {}
    differences = []
    for path, text in found.items():
        expected = wanted.get(path)
        state = _state(text, expected)
        if state == "foreign" and expected is not None:
            problems.append(_in_the_way(top / path, "was not generated, and a manifest must go there"))
        elif state:
            differences.append(Difference(path=path, state=state))
    for path in wanted.keys() - found.keys():
        if os.path.lexists(f"{top}/{path}"):
            problems.append(_in_the_way(top / path, "is not a file, and a manifest must go there"))
        differences.append(Difference(path=path, state="missing"))
    folders = sorted({path.rpartition("/")[0] for path in wanted})
    problems += [_in_the_way(top / folder, _LINK) for folder in folders if (top / folder).is_symlink()]
    if problems:
        raise CompileError(problems)
    order = {path: index for index, path in enumerate(wanted)}  # the order of applying; foreign files come last
    return sorted(differences, key=lambda difference: (order.get(difference.path, len(order)), difference.path))


def _texts(files: Iterable[File]) -> dict[str, str]:
    """Return the text of each file by its path.

    Raises CompileError if a path is no file of a folder below ``manifests/``.
    """
    wanted = {file.path: file.text for file in files}
    if odd := [path for path in wanted if not _PATH(path)]:
        message = f"{odd[0]} cannot be written: it is no file of a folder in {MANIFESTS}/"
        raise CompileError.of("TF602", message, "this is a bug of tfgitops; please report it")
    return wanted


def _state(text: str | None, expected: str | None) -> State | None:
    """Return how a file differs from the expected text; None if it does not."""
    if text is not None and text == expected:
        return None
    header = read_header(text) if text is not None else None
    if header is None:
        return "foreign"
    if not header.intact:
        return "edited"
    return "stale" if expected is not None else "orphan"


def apply(folder: Path, files: Iterable[File], differences: Iterable[Difference], done: list[Difference]) -> None:
    """Write the files that differ, and remove our files that no spec compiles to; leave foreign files alone.

    ``differences`` are those that `compare` returned; ``done`` takes each one that is settled. Raises CompileError if a
    file cannot be written.
    """
    wanted = _texts(files)
    top = folder / MANIFESTS
    try:
        for difference in differences:
            if difference.path in wanted:
                replace_file(f"{top}/{difference.path}", wanted[difference.path].encode())
            elif difference.state != "foreign":
                (top / difference.path).unlink()
            done.append(difference)
        _tidy(top)
    except OSError as error:
        hint = "see its permissions, and the room on the disk; the next build mends the rest"
        raise unwritable(top, error, hint) from error


def replace_file(path: Path | str, data: bytes, mode: int = _MODE) -> None:
    """Replace a file as a whole: after a fault it has the old content or the new one.

    Raises OSError with the name of this file, not of the temporary one, if it cannot be written.
    """
    final = str(path)
    folder, _, name = final.rpartition("/")
    temporary = f"{folder}/{_TEMPORARY}{name}.tmp"
    try:
        with open(temporary, "wb", opener=_create) as file:
            os.fchmod(file.fileno(), mode)  # whatever the umask
            file.write(data)
        os.replace(temporary, final)  # noqa: PTH105 - the hot path
    except BaseException as error:
        with suppress(OSError):
            os.unlink(temporary)  # noqa: PTH108
        if isinstance(error, OSError):
            error.filename = final
        raise


def _create(path: str, _flags: int) -> int:
    """Create a temporary file anew, and the folders above it, with modes that are the same under each umask."""
    try:
        return os.open(path, _NEW, _MODE)
    except FileNotFoundError:
        above = [*takewhile(lambda folder: not folder.exists(), Path(path).parents)]
        for folder in reversed(above):
            folder.mkdir(exist_ok=True)
            folder.chmod(_FOLDER_MODE)
    except FileExistsError:  # of a killed build
        os.unlink(path)  # noqa: PTH108
    return os.open(path, _NEW, _MODE)


def _tidy(top: Path) -> None:
    """Remove temporary files of killed builds, and empty folders."""
    for current, _, names in os.walk(top, topdown=False, onerror=_raise) if top.is_dir() else ():
        for name in names:
            if name.startswith(_TEMPORARY):
                Path(current, name).unlink()
        if not os.listdir(current):  # noqa: PTH208 - names are enough
            Path(current).rmdir()


def _raise(error: OSError) -> None:
    raise error


def _in_the_way(path: Path, reason: str) -> Diagnostic:
    message, hint = f"{shown(path)} {reason}", "move it away, then build again"
    return Diagnostic(code="TF601", message=message, file=shown(path), hint=hint)


def _locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # some network file systems have no locks; to wait for one would never end
        pass
    return True


@contextmanager
def alone(folder: Path, waiting: Callable[[], object]) -> Iterator[None]:
    """Hold the lock of an environment; call ``waiting`` before a wait for another build.

    Raises CompileError if the folder cannot be opened.
    """
    if fcntl is None:
        yield
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise CompileError([unreadable(folder, error)]) from error
    try:
        if not _locked(handle):
            waiting()
            while not _locked(handle):
                time.sleep(_PAUSE)  # a wait inside flock would miss a signal that comes just before it
        yield
    finally:
        os.close(handle)
