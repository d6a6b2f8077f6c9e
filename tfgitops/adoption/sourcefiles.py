"""Read the Kubernetes objects of files, with the place of each field: YAML, JSON, lists, standard input."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfgitops.spec import bounds
from tfgitops.spec.diagnostics import Diagnostic
from tfgitops.spec.disk import decoded, read_text, shown
from tfgitops.spec.document import Document
from tfgitops.spec.yamltext import TextError, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfgitops.spec.diagnostics import Span
    from tfgitops.targets.routes import Route

STDIN = "-"
_MARK = re.compile(r"(---|\.\.\.)(?=\s|\Z)").match


@dataclass(frozen=True, kw_only=True, eq=False)
class SourceObject:
    """One object: its value stands at ``route`` of a document that begins ``offset`` lines into its file."""

    document: Document
    offset: int
    route: Route
    value: dict[str, Any] = field(repr=False)

    @property
    def kind(self) -> str:
        """The kind, such as Job."""
        return str(self.value.get("kind", ""))

    @property
    def group(self) -> str:
        """The group of the API, such as batch.volcano.sh."""
        return str(self.value.get("apiVersion", "")).partition("/")[0]

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata, or none."""
        found = self.value.get("metadata")
        return found if isinstance(found, dict) else {}

    @property
    def name(self) -> str:
        """The name, or that from which the server would generate one."""
        return str(self.metadata.get("name") or self.metadata.get("generateName") or "")

    @property
    def title(self) -> str:
        """The kind and the name, as messages have them."""
        return f"{self.kind} {self.name}".rstrip()

    def span(self, route: Route = (), *, on_key: bool = False) -> Span:
        """Return the place of a route of the object, or of its nearest parent that is written."""
        return _moved(self.document.span((*self.route, *route), on_key=on_key), self.offset)


def read_sources(names: Iterable[str]) -> tuple[list[SourceObject], list[Diagnostic]]:
    """Return the objects in some files, ``-`` being standard input, and what is wrong with the files."""
    found: list[SourceObject] = []
    problems: list[Diagnostic] = []
    for name in names:
        title, text = ("<stdin>", _stdin()) if name == STDIN else (shown(Path(name)), _file(Path(name)))
        if isinstance(text, Diagnostic):
            problems.append(text)
            continue
        for offset, part in _parts(text):
            try:
                document = Document(path=Path(name), name=title, text=part, value=parse(part, title))
            except TextError as error:
                problems += [_shifted(one, offset) for one in error.diagnostics]
                continue
            found += _objects(document, offset, (), document.value, problems)
    return found, problems


def _file(path: Path) -> str | Diagnostic:
    if path.is_dir():
        message = f"{shown(path)} is a folder"
        return Diagnostic(code="TF101", message=message, file=shown(path), hint=f"name its files: {path}/*.yaml")
    return read_text(path, shown(path))


def _stdin() -> str | Diagnostic:
    data = sys.stdin.buffer.read(bounds.FILE + 1)
    if len(data) > bounds.FILE:
        message = f"standard input is larger than {bounds.FILE >> 20} MiB"
        return Diagnostic(code="TF106", message=message, hint="split it")
    return decoded(data, "<stdin>")


def _parts(text: str) -> Iterator[tuple[int, str]]:
    """Yield the documents of a stream, each with the number of lines above it; a marker never stands in a value."""
    lines: list[str] = []
    start = 0
    for number, line in enumerate(text.split("\n")):
        if mark := _MARK(line):
            yield start, "\n".join(lines)
            lines, start = [" " * len(mark[1]) + line[mark.end() :]], number
        else:
            lines.append(line)
    yield start, "\n".join(lines)


def _objects(
    document: Document, offset: int, route: Route, value: Any, problems: list[Diagnostic]
) -> Iterator[SourceObject]:
    """Yield the object that stands at a route, or those of a list of objects."""
    if value is None and not route:
        return
    if not isinstance(value, dict) or not all(isinstance(value.get(key), str) for key in ("apiVersion", "kind")):
        message = "this is not a Kubernetes object: it has no apiVersion or no kind"
        span = _moved(document.span(route), offset)
        hint = "give manifests of Volcano Jobs or TFJobs, as in `helm template … | tfgitops import -`"
        problems.append(Diagnostic(code="TF202", message=message, span=span, hint=hint))
        return
    items = value.get("items")
    if value["kind"].endswith("List") and isinstance(items, list):
        for index, item in enumerate(items):
            yield from _objects(document, offset, (*route, "items", index), item, problems)
    else:
        yield SourceObject(document=document, offset=offset, route=route, value=value)


def _moved(span: Span, offset: int) -> Span:
    return replace(span, line=span.line + offset)


def _shifted(found: Diagnostic, offset: int) -> Diagnostic:
    notes = tuple((message, _moved(span, offset)) for message, span in found.notes)
    return replace(found, span=_moved(found.span, offset) if found.span else None, notes=notes)
