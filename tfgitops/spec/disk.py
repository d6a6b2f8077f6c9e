"""What the file system says of a path: what cannot be looked at is a fault, and never taken for absent."""

from __future__ import annotations

import errno
import os
import stat
from codecs import BOM_UTF8
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

from tfgitops.spec import bounds
from tfgitops.spec.diagnostics import CompileError, Diagnostic, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from tfgitops.spec.document import Document

    Walk = Iterator[tuple[str, list[str], list[str]]]
    Value = TypeVar("Value")

Kind = Literal["nothing", "file", "folder"]
_OTHERS: dict[Callable[[int], bool], str] = {
    stat.S_ISFIFO: "a named pipe", stat.S_ISSOCK: "a socket", stat.S_ISCHR: "a device", stat.S_ISBLK: "a device",
}  # fmt: skip


def kind_of(path: Path) -> Kind:
    """Tell what a path is, through links; nothing only where nothing is.

    Raises OSError if it cannot be looked at, is a link to nothing, or is neither a file nor a folder.
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
    """Tell whether there is anything by this name, be it a link to nothing; raise OSError if it cannot be told."""
    try:
        _status(path, through_links=False)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def read_file(path: Path | str, most: int = 0) -> bytes:
    """Return the content of a file; raise OSError if it cannot be read, or is no file, as a named pipe is none.

    With ``most``, a file with more bytes cannot be read: EFBIG.
    """
    status = _status(path)
    if not stat.S_ISREG(status.st_mode):
        _refuse_other(path, status.st_mode)
    if 0 < most < status.st_size:
        raise OSError(errno.EFBIG, f"it has more than {most} bytes", str(path))
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - of thousands of manifests, no Paths
        return file.read()


def _status(path: Path | str, *, through_links: bool = True) -> os.stat_result:
    try:
        return os.stat(path, follow_symlinks=through_links)  # noqa: PTH116 - likewise
    except ValueError as error:
        raise OSError(errno.EINVAL, "no file has such a name", str(path)) from error


def _refuse_other(path: Path | str, mode: int) -> None:
    for is_one, name in _OTHERS.items():
        if is_one(mode):
            raise OSError(errno.EINVAL, f"it is {name}, and no file", str(path))


def walk(top: Path, report: Callable[[Diagnostic], object]) -> Walk:
    """Walk through the folders below a folder as `os.walk` does; report what cannot be listed, or is too deep."""
    start = str(top).count(os.sep)
    for current, folders, names in os.walk(top, onerror=lambda error: report(unreadable(Path(error.filename), error))):
        if folders and current.count(os.sep) - start == bounds.DEPTH:
            folders.clear()
            name = shown(top)
            message, hint = f"{name} has more than {bounds.DEPTH} levels of folders", "move the inner ones away"
            report(Diagnostic(code="TF106", message=message, file=name, hint=hint))
        yield current, folders, names


def listed(folder: Path) -> dict[str, Kind]:
    """Return what is directly in a folder, by name, sorted; nothing if it cannot be listed: the names are for hints."""
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
            return {one.name: "folder" if one.is_dir() else "file" if one.is_file() else "nothing" for one in found}
    except OSError:
        return {}


def resolved(path: Path) -> Path:
    """Return a path without links, but for those that lead round in a circle; raise OSError for an impossible name."""
    try:
        return Path(os.path.realpath(path))
    except ValueError as error:  # a NUL character, which a spec can hold
        raise OSError(errno.EINVAL, "no file has such a name", str(path)) from error


def is_hidden(path: Path, root: Path, beside: Path) -> bool:
    """Tell whether a path without links has a hidden part below a root, and a folder beside it has not."""
    return any(part.startswith(".") for part in {*path.relative_to(root).parts} - {*beside.parts})


def read_text(path: Path, name: str) -> str | Diagnostic:
    """Return a file's text, or what is wrong with the file; ``name`` is what to call it."""
    try:
        if kind_of(path) == "file" and path.stat().st_size > bounds.FILE:
            hint = "split it into jobs/*.yaml"
            message = f"{name} is larger than {bounds.FILE >> 20} MiB"
            return Diagnostic(code="TF106", message=message, hint=hint, span=_top(name))
        return decoded(read_file(path), name)
    except OSError as error:
        return replace(unreadable(path, error), span=_top(name))


def _top(name: str) -> Span:
    """Return the start of a file, where a reviewer sees what is said of all of it."""
    return Span(file=name, line=1, column=1)


def decoded(data: bytes, name: str) -> str | Diagnostic:
    """Return the text of UTF-8 bytes, without byte order mark and its lines ended by LF, or what is wrong with them."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in data[:4]:
        message, hint = f"{name} is UTF-16 or UTF-32", "save it as UTF-8"
        return Diagnostic(code="TF102", message=message, hint=hint, span=_top(name))
    data = data.removeprefix(BOM_UTF8).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8", "replace")
        line, column = before.count("\n"), len(before) - (before.rfind("\n") + 1)
        excerpt = data.split(b"\n")[line].decode("utf-8", "replace")
        span = Span(file=name, line=line + 1, column=column + 1, excerpt=excerpt)
        message = f"the byte 0x{data[error.start]:02x} is not UTF-8"
        return Diagnostic(code="TF102", message=message, span=span, hint="save the file as UTF-8")


class FileTree(Protocol):
    """Files that specs are read from: the disk's, or a commit's; no file outside of ``root`` is read.

    ``root`` is the folder that holds the tree, without links. The methods do as the functions of this module.
    """

    @property
    def root(self) -> Path: ...  # noqa: D102 - see above
    def resolved(self, path: Path) -> Path: ...  # noqa: D102
    def kind_of(self, path: Path) -> Kind: ...  # noqa: D102
    def listed(self, folder: Path) -> Mapping[str, Kind]: ...  # noqa: D102
    def walk(self, top: Path, report: Callable[[Diagnostic], object]) -> Walk: ...  # noqa: D102
    def read_file(self, path: Path, most: int = 0) -> bytes: ...  # noqa: D102
    def read_text(self, path: Path, name: str) -> str | Diagnostic: ...  # noqa: D102
    def known(self, path: Path) -> Document | None:
        """Return a file that was read and parsed before, if it is the same here."""


Answer = tuple[str, str, str]
"""A question that a compile asked of the disk or of Git, its path, and the digest of the answer."""


@dataclass(frozen=True)
class Disk:
    """The files as they are on the disk, below a root; each answer is added to ``answers``.

    A fault is not added: it is an error, and nobody remembers a compile with errors.
    """

    root: Path
    answers: set[Answer] = field(default_factory=set)

    def resolved(self, path: Path) -> Path:  # noqa: D102 - see `FileTree`
        return self._noted("resolved", path, resolved(path))

    def kind_of(self, path: Path) -> Kind:  # noqa: D102
        return self._noted("kind", path, kind_of(path))

    def listed(self, folder: Path) -> Mapping[str, Kind]:  # noqa: D102
        found = listed(folder)
        self._noted("listed", folder, _not_built(found))
        return found

    def walk(self, top: Path, report: Callable[[Diagnostic], object]) -> Walk:  # noqa: D102
        for current, folders, names in walk(top, report):
            self._noted("inside", Path(current), _inside(current, folders, names))
            yield current, folders, names

    def read_file(self, path: Path, most: int = 0) -> bytes:  # noqa: D102
        return self._noted("bytes", path, read_file(path, most))

    def read_text(self, path: Path, name: str) -> str | Diagnostic:  # noqa: D102
        return self._noted("text", path, read_text(path, name))

    def known(self, _: Path) -> None:
        """Return nothing: each file is read anew."""

    def _noted(self, question: str, path: Path, answer: Value) -> Value:
        self.answers.add(noted(question, path, answer))
        return answer


def noted(question: str, path: Path, answer: object) -> Answer:
    """Return an answer as it is recorded."""
    return question, str(path), sha256(repr(answer).encode()).hexdigest()


def answered_again(questions: Iterable[tuple[str, str]]) -> list[Answer]:
    """Return the present answers to questions that were recorded, sorted.

    Raises OSError, LookupError, ValueError or RuntimeError for a question that is none, or has no answer any more.
    """
    return sorted(noted(question, Path(path), _QUESTIONS[question](Path(path))) for question, path in questions)


def _inside(current: str, folders: list[str], names: list[str]) -> object:
    """Return what a walk finds in a folder: folders, those of them that are links, and files."""
    links = [name for name in folders if os.path.islink(f"{current}/{name}")]  # noqa: PTH114 - as `os.walk` does
    return sorted(folders), sorted(links), sorted(names)


def _not_built(names: Mapping[str, Kind]) -> object:
    """Return what is in a folder but for what a build makes there: a first build changes no answer for the second."""
    return [(name, kind) for name, kind in names.items() if name not in ("manifests", "bootstrap")]


def _day(root: Path) -> str:
    from tfgitops.spec.git import newest_commit_day  # noqa: PLC0415 - for environments with exceptions alone

    return newest_commit_day(root)


_QUESTIONS: dict[str, Callable[[Path], object]] = {
    "resolved": resolved, "kind": kind_of, "listed": lambda path: _not_built(listed(path)),
    "inside": lambda path: _inside(*next(os.walk(path))), "bytes": read_file,
    "text": lambda path: read_text(path, ""), "day": _day,
}  # fmt: skip


def unreadable(path: Path, error: OSError) -> Diagnostic:
    """Say that a path cannot be read, and why."""
    forbidden = error.errno in (errno.EACCES, errno.EPERM)
    hint = "see the permissions of it, and of the folders above it" if forbidden else "see what is there"
    return _failed("TF101", path, "cannot be read", error, hint)


def unwritable(path: Path, error: OSError, hint: str = "") -> CompileError:
    """Say that a path cannot be written, and why: the one that the system names, else the one given."""
    place = Path(error.filename) if isinstance(error.filename, str) else path
    return CompileError([_failed("TF602", place, "cannot be written", error, hint)])


def _failed(code: str, path: Path, what: str, error: OSError, hint: str) -> Diagnostic:
    name = shown(path)
    return Diagnostic(code=code, message=f"{name} {what}: {error.strerror or error}", hint=hint, file=name)


def shown(path: Path) -> str:
    """Name a path as a person at the prompt would: relative to here, where it is below here."""
    try:
        absolute = Path(os.path.abspath(path))  # noqa: PTH100 - not resolved: a link keeps the name it was given by
        return absolute.relative_to(Path.cwd()).as_posix()
    except FileNotFoundError:  # here is no more
        return path.as_posix()
    except ValueError:
        return absolute.as_posix()


def folders_of(files: Iterable[str]) -> dict[str, dict[str, Kind]]:
    """Return what is directly in each folder of some files, by name, sorted; the folder at the top is `.`."""
    found: dict[str, dict[str, Kind]] = {}
    kind: Kind
    for path in sorted(files):
        above, kind = path, "file"
        while above != ".":
            folder, _, name = above.rpartition("/")
            inside = found.setdefault(folder or ".", {})
            if name in inside:
                break
            inside[name], above, kind = kind, folder or ".", "folder"
    return found
