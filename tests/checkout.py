"""This repository: where it is, and the scripts in its `tools/`."""

from __future__ import annotations

import importlib.util
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

REPOSITORY = Path(__file__).parent.parent
_PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BUNDLED: tuple[str, ...] = (*sorted(_PROJECT["entry-points"]["tfgitops"]),)
"""The names of the plugins of this repository."""


def load_tool(name: str) -> ModuleType:
    """Import one of the scripts of ``tools/``, which are no package."""
    spec = importlib.util.spec_from_file_location(name, REPOSITORY / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
