"""Manifests that are not as compiled, as problems: for the formats that know nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfgitops.spec.diagnostics import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_BUILD = "run `tfgitops build`, and commit what it writes"
_STATES = {
    "missing": ("TF611", "is missing: its spec compiles to it", _BUILD),
    "stale": ("TF612", "is stale: its spec compiles to something else", _BUILD),
    "edited": ("TF613", "was edited by hand: it is not as it was generated", f"{_BUILD}; change the spec instead"),
    "orphan": ("TF614", "is an orphan: no spec compiles to it any more", _BUILD),
    "foreign": ("TF615", "is foreign: it was not generated, and would be applied all the same", "move it away"),
}


def as_diagnostics(files: Iterable[tuple[str, str]]) -> Iterator[Diagnostic]:
    """Yield a problem for each file that `build --check` found different; ``files`` are states and paths."""
    for state, path in files:
        code, what, hint = _STATES[state]
        yield Diagnostic(code=code, severity="error", message=f"the manifest {what}", file=path, hint=hint)
