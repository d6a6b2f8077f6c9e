"""The paths of files in a checkout, by which other programs know them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class Checkout:
    """The folder that ``.git`` is in, and the file that a problem is shown on which belongs to none."""

    top: Path
    fallback: Path

    @classmethod
    def around(cls, root: Path, specs: Sequence[Path] = ()) -> Checkout:
        """Return the checkout that a root lies in: the nearest folder above with ``.git``, else the root itself.

        What belongs to no file is shown on the root's pyproject.toml, or without one on the first of some specs.
        """
        top = next((folder for folder in (root, *root.parents) if os.path.lexists(folder / ".git")), root)
        project = root / "pyproject.toml"
        files = (path for path in (project, *specs) if os.path.isfile(path))  # noqa: PTH113 - is_file raises
        return cls(top=top, fallback=next(files, project))

    def path(self, file: str) -> str | None:
        """Return a file's path relative to the checkout, with slashes, or None if it is outside of it."""
        absolute = Path(os.path.abspath(file))  # noqa: PTH100 - not resolved: a link keeps the name it was given by
        for candidate, top in ((absolute, self.top), (absolute.resolve(), self.top.resolve())):
            if candidate.is_relative_to(top):
                return candidate.relative_to(top).as_posix()
        return None
