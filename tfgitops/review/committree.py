"""The files of a commit, as a tree that `tfgitops.spec.load` reads specs from."""

from __future__ import annotations

import errno
import posixpath
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tfgitops.spec.diagnostics import Diagnostic
from tfgitops.spec.disk import decoded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfgitops.review.history import Base
    from tfgitops.spec.disk import Kind
    from tfgitops.spec.document import Document


@dataclass(frozen=True, kw_only=True)
class CommitTree:
    """The files of a commit by the paths that they would have in the working tree; links are left out.

    ``present`` are files that were read from the working tree: those that the commit has unchanged are not read again.
    """

    base: Base
    present: Sequence[Document] = ()
    _read: dict[str, bytes | None] = field(default_factory=dict, init=False, repr=False)

    @property
    def root(self) -> Path:
        """The top of the repository."""
        return self.base.top

    def resolved(self, path: Path) -> Path:
        """Return a path without dots.

        Raises:
            OSError: no file can have such a name.
        """
        if "\0" in str(path):
            raise OSError(errno.EINVAL, "no file has such a name", str(path))
        return Path(posixpath.normpath(path))

    def kind_of(self, path: Path) -> Kind:
        """Tell whether a path is a file, a folder or nothing; a folder with no file that was listed is nothing."""
        name = self.name(path)
        if name in self.base.blobs:
            return "file"
        if any(file.startswith(f"{name}/") for file in self.base.blobs):
            return "folder"
        return "nothing" if self._content(name) is None else "file"

    def walk(self, top: Path, _: object) -> Iterator[tuple[str, list[str], list[str]]]:
        """Yield the files directly in a folder; those that differ are read, all in one go."""
        inside = f"{self.name(top)}/"
        files = [name for name in self.base.blobs if name.startswith(inside) and "/" not in name[len(inside) :]]
        self._read.update(self.base.read(name for name in files if name not in self._same))
        yield str(top), [], [name[len(inside) :] for name in files]

    def read_text(self, path: Path, name: str) -> str | Diagnostic:
        """Return a file's text, or what is wrong with the file."""
        content = self._content(self.name(path))
        if content is None:
            message = f"{name} is not in {self.base.commit[:10]}"
            return Diagnostic(code="TF101", message=message, file=name)
        return decoded(content, name)

    def known(self, path: Path) -> Document | None:
        """Return a file of the working tree that the commit has unchanged."""
        return self._same.get(self.name(path))

    def name(self, path: Path) -> str:
        """Return a path from the top of the repository, as Git writes it."""
        path = self.resolved(path)
        return (path.relative_to(self.root) if path.is_relative_to(self.root) else path).as_posix()

    def now(self, document: Document) -> Document | None:
        """Return the file of the working tree that a file of the commit is now."""
        return self._by_name.get(self.name(document.path))

    @cached_property
    def _by_name(self) -> dict[str, Document]:
        return {self.base.path(document.path): document for document in self.present}

    @cached_property
    def _same(self) -> dict[str, Document]:
        return {name: one for name, one in self._by_name.items() if not self.base.differs(name, one.text)}

    def _content(self, name: str) -> bytes | None:
        if name not in self._read:
            self._read[name] = self.base.find(name)
        return self._read[name]
