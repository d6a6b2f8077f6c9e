"""The JSON Schemas that ship with the compiler, read once each from the repository or the installed package."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, cast

_PACKAGE = Path(__file__).resolve().parents[2]
_FOLDERS = (_PACKAGE / "schemas", _PACKAGE.parent / "schemas")


@cache
def schema_file(name: str) -> dict[str, Any]:
    """Read one of our schemas by its file name, which is also its `$id`."""
    path = next(folder / name for folder in _FOLDERS if (folder / name).is_file())
    return cast("dict[str, Any]", json.loads(path.read_text(encoding="utf-8")))
