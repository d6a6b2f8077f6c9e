"""The trees of files that specs are read from: the disk here, and a commit in `tfgitops.review.committedspecs`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tfgitops.spec import disk
from tfgitops.spec.yamltext.textfile import read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tfgitops.spec.diagnostics import Diagnostic
    from tfgitops.spec.document import Document


class FileTree(Protocol):
    """Files by their paths; no file outside of ``root`` is read."""

    @property
    def root(self) -> Path:
        """The folder that holds the tree, without links."""

    def resolved(self, path: Path) -> Path:
        """Return a path without links and dots.

        Raises:
            OSError: no file can have such a name.
        """

    def kind_of(self, path: Path) -> disk.Kind:
        """Tell whether a path is a file, a folder or nothing."""

    def walk(
        self, top: Path, report: Callable[[Diagnostic], object]
    ) -> Iterator[tuple[str, list[str], list[str]]]:  # fmt: skip
        """Walk through the folders below a folder as `os.walk` does, and report each that cannot be listed."""

    def read_text(self, path: Path, name: str) -> str | Diagnostic:
        """Return a file's text, or what is wrong with the file; ``name`` is what to call it."""

    def known(self, path: Path) -> Document | None:
        """Return a file that was read and parsed before, if it is the same here."""


@dataclass(frozen=True)
class Disk:
    """The files as they are on the disk, below a root."""

    root: Path
    resolved = staticmethod(disk.resolved)
    kind_of = staticmethod(disk.kind_of)
    walk = staticmethod(disk.walk)
    read_text = staticmethod(read_text)

    def known(self, _: Path) -> None:
        """Return nothing: each file is read anew."""
