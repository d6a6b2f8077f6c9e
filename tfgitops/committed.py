"""What lies below an environment's ``manifests/``: the text of each file that a controller would apply."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MANIFESTS = "manifests"
READ_BY_CONTROLLERS = (".yaml", ".yml", ".json")


def existing(top: Path) -> Iterator[tuple[str, str | None]]:
    """Yield each file that a controller would apply, with its text; None for what is no text, or a link."""
    start = len(f"{top}/")
    for current, folders, names in os.walk(top):
        folders.sort()
        for name in names:
            if name.endswith(READ_BY_CONTROLLERS):
                path = f"{current}/{name}"
                yield path[start:], read_manifest(path)


def texts(folder: Path) -> dict[str, str]:
    """Return the texts of an environment's manifests by their path below ``manifests/``, sorted; none behind a link."""
    top = folder / MANIFESTS
    if top.is_symlink():
        return {}
    return {path: text for path, text in sorted(existing(top)) if text is not None}


def read_manifest(path: str) -> str | None:
    """Return the text of a file, its line ends as LF; None for what is no text, or a link."""
    if os.path.islink(path):  # noqa: PTH114 - of thousands of files, no Paths
        return None
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - likewise
            return file.read().decode().replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError):
        return None
