"""What changed in the files of a spec since a base: which causes can be true, and what is no longer there."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from tfgitops.causes import Cause
from tfgitops.structure import reach
from tfgitops.yamltext import TextError, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tfgitops.diagnostics import Route
    from tfgitops.document import Document
    from tfgitops.fieldchanges import FieldChange
    from tfgitops.model import Job
    from tfgitops.places import Places
    from tfgitops.review.history import Base

_ABSENT = object()


def plain_text(content: bytes) -> str | None:
    """Return a file's text as the compiler reads it; None for what is none."""
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return None


class Specs:
    """The files of one spec, as they are and as they were."""

    def __init__(self, places: Places, base: Base) -> None:
        self._places = places
        self._base = base

    def settle(self, job: Job, found: Iterable[tuple[Cause, Sequence[FieldChange]]]) -> Iterator[Cause]:
        """Yield the causes that can be true of a job's new run, sorted.

        A file that is as it was changed nothing. Where a field is gone, what it came from is looked for in the file
        that was.
        """
        causes = set()
        for cause, fields in found:
            gone = [field for field in fields if field.gone]
            removed = {removal for field in gone for removal in self._removed(job, field)}
            causes |= removed
            if len(gone) < len(fields) or not removed:
                causes |= {cause} if cause.span.file in self._before else set()
        yield from sorted(causes)

    def differ(self, file: str, route: Route) -> bool:
        """Tell whether a file says something else at a route than it did."""
        if file not in self._before:
            return False
        document = next(document for document in self._places.documents if document.name == file)
        inner = route[len(document.prefix) :]
        return bool(reach(self._values[file], inner) != reach(document.value, inner))

    @cached_property
    def _values(self) -> dict[str, Any]:
        """What each file that differs said."""
        return {name: _value(text) for name, text in self._before.items()}

    @cached_property
    def _before(self) -> dict[str, str]:
        """The text that was, of each file that differs; empty where there was none."""
        paths = {document.name: self._base.path(document.path) for document in self._places.documents}
        contents = self._base.read(paths.values())
        texts = {
            document.name: plain_text(contents.get(paths[document.name], b"")) or ""
            for document in self._places.documents
        }
        return {
            document.name: texts[document.name]
            for document in self._places.documents
            if document.text != texts[document.name]
        }

    @cached_property
    def _removals(self) -> list[tuple[Document, Route, Any]]:
        """What stood in the files and is not there now: the outermost routes, and their values."""
        found = []
        for document in self._places.documents:
            if document.name in self._before:
                was, now = self._values[document.name], _value(document.text)
                found += [(document, (*document.prefix, *route), value) for route, value in _vanished(was, now)]
        return found

    def _removed(self, job: Job, field: FieldChange) -> Iterator[Cause]:
        """Yield what was removed and named a field that is gone, where this job inherits from."""
        name = field.path.rpartition("[")[2].rstrip("]") if field.path.endswith("]") else str(field.at[-1])
        starts = [*self._places.chains.get(job.name, (job.route,)), ("defaults",)]
        for document, route, value in self._removals:
            if any(route[: len(start)] == start for start in starts) and (name in route or _holds(value, name)):
                own = bool(document.prefix) or document is self._places.documents[0]
                yield Cause(span=document.span(route), route=route, own=own, gone=True)


def _value(text: str) -> Any:
    try:
        return parse(text)
    except TextError:
        return None


def _vanished(was: Any, now: Any, at: Route = ()) -> Iterator[tuple[Route, Any]]:
    if isinstance(was, dict) and isinstance(now, dict):
        for key, value in was.items():
            if key not in now:
                yield (*at, key), value
            else:
                yield from _vanished(value, now[key], (*at, key))
    elif isinstance(was, list) and isinstance(now, list):
        for index, value in enumerate(was):
            if value not in now:
                yield (*at, index), value


def _holds(value: Any, name: str) -> bool:
    if isinstance(value, dict):
        return name in value or any(_holds(inner, name) for inner in value.values())
    if isinstance(value, list):
        return any(_holds(inner, name) for inner in value)
    return bool(value == name)
