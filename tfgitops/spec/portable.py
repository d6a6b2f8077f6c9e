"""Names of folders and files that other systems cannot have, or take for one name."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from tfgitops.spec.diagnostics import Diagnostic
from tfgitops.spec.disk import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from tfgitops.spec.disk import FileTree
    from tfgitops.spec.document import Document

_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE).fullmatch
_FORBIDDEN = re.compile(r'[<>:"\\|?*\x00-\x1f]')


def awkward_names(folder: Path, documents: Sequence[Document], tree: FileTree) -> Iterator[Diagnostic]:
    """Yield a warning for each name of an environment's folders and files that Windows or macOS cannot check out."""
    places: dict[Path, Document] = {}
    for document in documents:
        path = type(folder)(os.path.normpath(document.path))
        places |= dict.fromkeys((path, *path.parents), document)
    for path, document in places.items():
        if path.is_relative_to(tree.root) and path != tree.root and (why := _awkward(path.name)):
            yield _warning(path, why, document)
    beside = _folded(folder.parent, folder.parent.stat().st_mtime_ns) if folder != tree.root else {}
    if twin := next((one for one in beside.get(folder.name.casefold(), ()) if one != folder.name), ""):
        yield _warning(folder, f"stands beside '{twin}', which is the same name on Windows and macOS", documents[0])


@lru_cache(maxsize=8)  # many environments are in one folder
def _folded(folder: Path, _changed: int) -> Mapping[str, list[str]]:
    """Return the names in a folder, those together that differ in their case alone."""
    found: dict[str, list[str]] = {}
    for name in listed(folder):
        found.setdefault(name.casefold(), []).append(name)
    return found


def _awkward(name: str) -> str:
    if _DEVICE(name):
        return "is the name of a device on Windows"
    if name[-1:] in (".", " "):
        return "ends with a dot or a blank, which Windows leaves out"
    return "has a character that no name on Windows has" if _FORBIDDEN.search(name) else ""


def _warning(path: Path, why: str, document: Document) -> Diagnostic:
    message, hint = f"the name '{path.name}' {why}: nobody can check the repository out there", "rename it"
    return Diagnostic(code="TF110", severity="warning", message=message, hint=hint, span=document.span_at(0, 0))
