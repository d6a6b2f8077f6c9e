"""What an import says of one object, beside diagnostics: what was dropped, mended, lost or added."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from tfgitops.adoption.sourcefiles import SourceObject
    from tfgitops.targets.routes import Route

Sort = Literal["lost", "changed", "mended", "dropped", "added", "note"]
"""What the spec has no room for · says otherwise · repairs · leaves to the server · gets from the compiler."""

SORTS: tuple[Sort, ...] = ("lost", "changed", "mended", "dropped", "added", "note")


class Remark(NamedTuple):
    """One thing to be told of an object, at a route of it."""

    sort: Sort
    text: str
    at: Route | None = None


class Told(NamedTuple):
    """All that is told of one object; ``became`` is its place in the spec, or nothing if it was skipped."""

    source: SourceObject
    became: str
    remarks: tuple[Remark, ...]
