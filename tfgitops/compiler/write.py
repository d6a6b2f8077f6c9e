"""Write the compiled files into the folders of an environment. No other stage writes manifests."""

from __future__ import annotations

import os
import re
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tfgitops.spec.committed import BOOTSTRAP, MANIFESTS, existing, is_half_written, read_header
from tfgitops.spec.diagnostics import CompileError, Diagnostic
from tfgitops.spec.disk import shown, unreadable, unwritable
from tfgitops.targets.gitops import KUSTOMIZATION

try:
    import fcntl
except ImportError:  # Windows has no flock, so the user must not run two builds at once
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tfgitops.compiler.compiled import File

_MODE = 0o644
_LINK = "is a link, and nothing is written through links"
_PAUSE = 0.05  # seconds between two looks at a lock
_FOLDER_MODE = 0o755
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_LEVEL = re.compile(r"(?:workloads|cluster(?:-[0-9]+)?)/").match
_PATH = re.compile(r"[a-z0-9-]+/[A-Za-z0-9][A-Za-z0-9._:-]*\.yaml").fullmatch

State = Literal["missing", "stale", "edited", "orphan", "foreign"]


@dataclass(frozen=True, kw_only=True, order=True)
class Difference:
    """One file that differs from its compiled text: its path below ``manifests/`` or ``bootstrap/``, and its state."""

    path: str
    state: State


def compare(folder: Path, files: Iterable[File], place: str = MANIFESTS) -> list[Difference]:
    """Return the differences between an environment's manifests and its compiled files; write nothing.

    ``place`` is the folder of the environment that is compared. Raises CompileError if a file of others or a link is in
    the way, or if a path leads out of the folder.
    """
    wanted = _texts(files)
    top = folder / place
    problems = []
    if top.is_symlink():
        problems.append(_in_the_way(top, _LINK))
    elif os.path.lexists(top) and not top.is_dir():
        problems.append(_in_the_way(top, "is a file, and the folder of the manifests must be there"))
    found = dict(existing(top)) if not problems else {}
    differences = []
    for path, text in found.items():
        expected = wanted.get(path)
        state = _state(text, expected) if expected is not None else _unwanted(place, path, text, wanted)
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


def compare_bootstrap(folder: Path, files: Sequence[File]) -> list[Difference]:
    """Return the differences of ``bootstrap/``.

    Files of others count in the folders that we write, because people apply these as a whole. Elsewhere, nobody does.
    Raises CompileError as `compare` does.
    """
    top = folder / BOOTSTRAP
    if not files and (top.is_symlink() or not top.is_dir()):
        return []
    ours = {file.path.partition("/")[0] for file in files}
    found = compare(folder, files, BOOTSTRAP)
    return [one for one in found if one.state != "foreign" or one.path.partition("/")[0] in ours]


def _texts(files: Iterable[File]) -> dict[str, str]:
    """Return the text of each file by its path.

    Raises CompileError if a path is no file of a folder below the folder that is written.
    """
    wanted = {file.path: file.text for file in files}
    if odd := [path for path in wanted if not _PATH(path)]:
        message = f"{odd[0]} cannot be written: it is no file of a folder in {MANIFESTS}/ or {BOOTSTRAP}/"
        raise CompileError.of("TF602", message, "this is a bug of tfgitops; please report it")
    return wanted


def _state(text: str | None, expected: str) -> State | None:
    """Return how a file differs from the expected text; None if it does not."""
    if text is None or text == expected:
        return None if text else "foreign"
    header = read_header(text)
    return "foreign" if header is None else "stale" if header.intact else "edited"


def _unwanted(place: str, path: str, text: str | None, wanted: Iterable[str]) -> State | None:
    """Return whose a file is that no spec compiles to: ours only if it is as it was written, at its own place.

    An empty folder is nobody's, unless a file goes into it: Git has none, but for a submodule that nobody fetched.
    """
    if path[-1:] in ("", "/"):
        return None if any(one.startswith(path) for one in wanted) else "orphan"
    header = read_header(text) if text and _PATH(path) else None
    if header and header.intact and (place == BOOTSTRAP or _is_own_place(path, str(text))):
        return "orphan"
    return "orphan" if is_half_written(path, text) else "foreign"


def _is_own_place(path: str, text: str) -> bool:
    """Tell whether a manifest has the path at which the compiler writes its object."""
    if not _LEVEL(path):
        return False
    from tfgitops.planning.pinned import holds_its_object  # noqa: PLC0415 - for builds that remove files
    from tfgitops.spec.yamltext import TextError, parse  # noqa: PLC0415

    try:
        value = parse(text)
    except TextError:
        return False
    listing = path.endswith(f"/{KUSTOMIZATION}") and type(value) is dict and value.get("kind") == "Kustomization"
    return listing or holds_its_object(path, value)


def apply(
    folder: Path,
    files: Iterable[File],
    differences: Iterable[Difference],
    done: list[Difference],
    place: str = MANIFESTS,
) -> None:
    """Write the files that differ, and remove our files that no spec compiles to; leave foreign files alone.

    ``differences`` are those that `compare` returned; ``done`` takes each one that is settled. Raises CompileError if a
    file cannot be written.
    """
    wanted = _texts(files)
    top = folder / place
    try:
        for difference in differences:
            if difference.path in wanted:
                replace_file(f"{top}/{difference.path}", wanted[difference.path].encode())
            elif difference.state == "orphan":
                _remove(top, difference.path)
            done.append(difference)
    except OSError as error:
        hint = "see its permissions, and the room on the disk; the next build mends the rest"
        raise unwritable(top, error, hint) from error


def replace_file(path: Path | str, data: bytes, mode: int = _MODE) -> None:
    """Replace a file as a whole: after a fault it has the old content or the new one.

    Raises OSError with the name of this file, not of the temporary one, if it cannot be written.
    """
    final = str(path)
    temporary = f"{final.rpartition('/')[0]}/.tfgitops-{os.urandom(4).hex()}.tmp"  # as `is_half_written` knows it
    try:
        _create(temporary, data, mode)
        os.replace(temporary, final)  # noqa: PTH105 - the hot path
    except BaseException as error:
        with suppress(OSError):
            os.unlink(temporary)  # noqa: PTH108
        if isinstance(error, OSError):
            error.filename = final
        raise


def _create(path: str, data: bytes, mode: int) -> None:
    """Create a file anew, and the folders above it, with modes that are the same under each umask."""
    try:
        handle = os.open(path, _NEW, _MODE)
    except FileNotFoundError:
        above = [*takewhile(lambda folder: not folder.exists(), Path(path).parents)]
        for folder in reversed(above):
            folder.mkdir(exist_ok=True)
            folder.chmod(_FOLDER_MODE)
        handle = os.open(path, _NEW, _MODE)
    try:
        os.fchmod(handle, mode)
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(handle, rest) :]
    finally:
        os.close(handle)


def _remove(top: Path, path: str) -> None:
    """Remove a file or an empty folder, and the folders that are empty without it."""
    place = top / path
    if path[-1:] not in ("", "/"):
        place.unlink()
        place = place.parent
    while place.is_relative_to(top) and not os.listdir(place):  # noqa: PTH208 - names are enough
        place.rmdir()
        place = place.parent


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
