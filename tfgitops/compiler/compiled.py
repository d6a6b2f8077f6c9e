"""The result of one compile: files, diagnostics, and the objects behind them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tfgitops.spec.diagnostics import as_errors, has_errors

if TYPE_CHECKING:
    from pathlib import Path

    from tfgitops.admission.allowances import Allowed
    from tfgitops.planning.plan import Planned
    from tfgitops.spec.diagnostics import Diagnostic
    from tfgitops.spec.model import Environment


@dataclass(frozen=True, kw_only=True)
class File:
    """One generated file: its path relative to ``manifests/``, and its text."""

    path: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Compiled:
    """What came of one environment: its files, unless something is wrong, and all that is to be said.

    The environment, and the objects that could be planned, are also there where something is wrong with the manifests.
    ``allowed`` is what would be to be said, were it not allowed by the environment.
    """

    folder: Path
    diagnostics: tuple[Diagnostic, ...]
    allowed: tuple[Allowed, ...] = ()
    environment: Environment | None = None
    objects: tuple[Planned, ...] = field(default=(), repr=False)
    files: tuple[File, ...] = field(default=(), repr=False)

    @property
    def ok(self) -> bool:
        """Whether nothing forbids writing the files."""
        return not has_errors(self.diagnostics)

    def as_strict(self) -> Compiled:
        """Return the same with warnings as errors."""
        return replace(self, diagnostics=tuple(as_errors(self.diagnostics)))
