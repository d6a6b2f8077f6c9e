"""What changed in the files of a spec since a base: which causes can be true, and what is no longer there."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from tfgitops.load import shown
from tfgitops.plugins.settingsfile import PYPROJECT, parse_settings
from tfgitops.review.causes import Cause
from tfgitops.structure import MISSING, reach
from tfgitops.yamltext import TextError, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from tfgitops.diagnostics import Route
    from tfgitops.document import Document
    from tfgitops.model import Job
    from tfgitops.places import Places
    from tfgitops.review.fieldchanges import FieldChange
    from tfgitops.review.history import Base


class _Removal(NamedTuple):
    """Something that a file said and says no more: taken out, or removed from what it inherits by ``null``."""

    document: Document
    route: Route
    value: Any
    by_null: bool


def plain_text(content: bytes) -> str | None:
    """Return a file's text as the compiler reads it; None for what is none."""
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return None


class Specs:
    """The files of one spec, and the settings of plugins in its root's pyproject.toml, as they are and as they were."""

    def __init__(self, places: Places, base: Base, root: Path) -> None:
        self._places = places
        self._base = base
        self._root = root

    def settle(self, job: Job, found: Iterable[tuple[Cause, Sequence[FieldChange]]]) -> list[Cause]:
        """Return the causes that can be true of a job's new run, sorted.

        What is said as it was said changed nothing. Where a field is gone, what it came from is looked for in the files
        that were; where a plugin made a field of several values, of which none differs, what stood beside them.
        """
        found, causes = list(found), {*self._pins(job)}
        for cause, fields in found:
            gone = [field for field in fields if field.gone]
            removed = {removal for field in gone for removal in self._removed(job, field)}
            causes |= removed
            if (len(gone) < len(fields) or not removed) and self.differ(cause.span.file, cause.route):
                causes.add(cause)
        return sorted(causes or {removal for cause, _ in found for removal in self._beside(job, cause)})

    @cached_property
    def _documents(self) -> dict[str, Document]:
        return {document.name: document for document in self._places.documents}

    @cached_property
    def _values(self) -> dict[str, tuple[Any, Any]]:
        """The value that was and the value that is, as written, of each file that differs."""
        paths = {document.name: self._base.path(document.path) for document in self._places.documents}
        contents = self._base.read(paths.values())
        texts = {name: plain_text(contents.get(path, b"")) or "" for name, path in paths.items()}
        return {
            document.name: (_value(texts[document.name]), _value(document.text))
            for document in self._places.documents
            if document.text != texts[document.name]
        }

    def differ(self, file: str, route: Route) -> bool:
        """Tell whether a file says something else at a route, or at what is nearest to it, than it did."""
        if file not in self._values:
            return file == shown(self._root / PYPROJECT) and self._setting_differs(route)
        was, now = self._values[file]
        route = route[len(self._documents[file].prefix) :]
        return _nearest(was, route) != _nearest(now, route)

    @cached_property
    def _settings(self) -> tuple[Any, Any]:
        path = self._root / PYPROJECT
        full = self._base.path(path)
        was = plain_text(self._base.read([full]).get(full, b"")) or ""
        return parse_settings(was), parse_settings(path.read_text(encoding="utf-8"))

    def _setting_differs(self, route: Route) -> bool:
        was, now = self._settings
        return _nearest(was, route) != _nearest(now, route)

    @cached_property
    def _removals(self) -> list[_Removal]:
        return [
            _Removal(self._documents[name], (*self._documents[name].prefix, *route), value, by_null)
            for name, (was, now) in self._values.items()
            for route, value, by_null in _vanished(was, now)
        ]

    def _removed(self, job: Job, field: FieldChange) -> Iterator[Cause]:
        """Yield what was removed and named a field that is gone, as far as it is this job's business."""
        name = field.path.rpartition("[")[2].rstrip("]") if field.path.endswith("]") else str(field.at[-1])
        for removal in self._removals:
            if self._concerns(job, removal.route) and (name in removal.route or _holds(removal.value, name)):
                yield self._cause(removal)

    def _beside(self, job: Job, cause: Cause) -> Iterator[Cause]:
        """Yield what was removed from the blocks of which a plugin made something."""
        blocks = {route[:-1] for route in cause.made_of} - {(), job.route}
        for removal in self._removals:
            if self._concerns(job, removal.route) and any(removal.route[: len(block)] == block for block in blocks):
                yield self._cause(removal)

    def _pins(self, job: Job) -> Iterator[Cause]:
        """Yield a pin of this job that was taken out: from then on all that had changed since takes effect."""
        for removal in self._removals:
            if removal.route == (*job.route, "pin"):
                yield self._cause(removal)

    def _concerns(self, job: Job, route: Route) -> bool:
        """Tell whether a route is of this job, of what it starts from, or of all jobs."""
        chain = self._places.chains.get(job.name, (job.route,))
        return route[:1] != ("jobs",) or any(route[: len(start)] == start for start in chain)

    def _cause(self, removal: _Removal) -> Cause:
        span = removal.document.span(removal.route)
        return Cause(span=span, route=removal.route, own=bool(removal.document.prefix), gone=not removal.by_null)


def _value(text: str) -> Any:
    try:
        return parse(text)
    except TextError:
        return None


def _nearest(value: Any, route: Route) -> tuple[int, Any]:
    """Return how many keys of a route are there, and what stands at the last of them."""
    for depth, key in enumerate(route):
        inner = reach(value, (key,))
        if inner is MISSING:
            return depth, value
        value = inner
    return len(route), value


def _vanished(was: Any, now: Any, at: Route = ()) -> Iterator[tuple[Route, Any, bool]]:
    """Yield what is there no more, the outermost routes, with what stood there; and what ``null`` removes now."""
    if isinstance(was, dict) and isinstance(now, dict):
        for key, value in was.items():
            if key not in now:
                yield (*at, key), value, False
            elif now[key] is None and value is not None:
                yield (*at, key), value, True
            else:
                yield from _vanished(value, now[key], (*at, key))
        for key in now:
            if key not in was:
                yield from (((*at, key, *route), None, True) for route in _nulls(now[key]))
    elif isinstance(was, list) and isinstance(now, list):
        for index, value in enumerate(was):
            if value not in now:
                yield (*at, index), value, False


def _nulls(value: Any, at: Route = ()) -> Iterator[Route]:
    if value is None:
        yield at
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _nulls(inner, (*at, key))


def _holds(value: Any, name: str) -> bool:
    if isinstance(value, dict):
        return name in value or any(_holds(inner, name) for inner in value.values())
    if isinstance(value, list):
        return any(_holds(inner, name) for inner in value)
    return bool(value == name)
