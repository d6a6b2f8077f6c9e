"""The files of a spec in which pins are edited: all of them, or none."""

from __future__ import annotations

import stat
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tfgitops.compiler.write import replace_file
from tfgitops.spec.diagnostics import CompileError, Diagnostic
from tfgitops.spec.disk import resolved, shown, unwritable
from tfgitops.spec.resolve import merge_files
from tfgitops.spec.yamltext.edit import EditError, edited, lines_of, value_of
from tfgitops.targets.nearest import did_you_mean
from tfgitops.targets.routes import MISSING, reach

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from tfgitops.spec.diagnostics import Span
    from tfgitops.spec.document import Document
    from tfgitops.spec.load import LoadedSpec
    from tfgitops.spec.yamltext.edit import Value
    from tfgitops.targets.routes import Route

    Keys = tuple[str, ...]
    Changes = Callable[[dict[str, Any], Mapping[str, Keys]], Mapping[Keys, Value | None]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Pin:
    """A pin that was set or removed: its job, the Job that it names, the file and line, and the value before."""

    job: str
    name: str
    file: str
    line: int
    before: str

    @property
    def place(self) -> str:
        """The file and the line, in an editor's form."""
        return f"{self.file}:{self.line}"


class SpecFiles:
    """The files of one environment, and the reasons to refuse an edit.

    ``way_out`` is the hint for a file that cannot be edited; braces stand for the job.
    """

    def __init__(self, source: LoadedSpec, way_out: str = "edit it by hand") -> None:
        self._way_out = way_out
        self.source = source
        self.merged = merge_files(source.documents)
        jobs = self.merged.get("jobs")
        self.jobs = {k: v for k, v in jobs.items() if isinstance(v, dict)} if isinstance(jobs, dict) else {}
        self._files = {document.prefix: document for document in source.documents if document.prefix}
        self._found: list[Diagnostic] = []

    def known(self, jobs: Iterable[str]) -> list[str]:
        """Return the existing ones of some jobs, each once, and refuse the others."""
        asked = list(dict.fromkeys(jobs))
        for job in asked:
            if job not in self.jobs:
                message = f"there is no job '{job}' in {shown(self.source.folder)}"
                self.refuse(message, did_you_mean(job, self.jobs, among="the jobs are"), None)
        return [job for job in asked if job in self.jobs]

    def refuse(self, message: str, hint: str, span: Span | None, code: str = "TF605") -> None:
        """Note a reason to refuse."""
        self._found.append(Diagnostic(code=code, severity="error", message=message, span=span, hint=hint))

    def stop_on_errors(self) -> None:
        """Raise a `CompileError` with all reasons to refuse, if there are any."""
        if self._found:
            raise CompileError(self._found)

    def place(self, job: str) -> tuple[Document, Route]:
        """Return the environment's own file for a job, and the route of the job's pin."""
        return self._files.get(("jobs", job), self.source.documents[0]), ("jobs", job, "pin")

    def span(self, job: str) -> Span:
        """Return the place of a job in the environment's own files, or the one it would have."""
        document, route = self.place(job)
        return document.span(route[:-1], on_key=True)

    def edited(self, pins: Mapping[str, str], changes: Changes) -> list[Pin]:
        """Edit the files of some jobs, write those that differ, and return each pin with its place."""
        places: dict[Path, dict[str, Keys]] = {}
        for job in pins:
            document, route = self.place(job)
            keys = tuple(str(key) for key in route[len(document.prefix) :])
            places.setdefault(resolved(document.path), {})[job] = keys
        before = {path: path.read_bytes() for path in places}
        after = {}
        for path, routes in places.items():
            raw = before[path].decode()
            try:
                after[path] = edited(raw, changes(value_of(raw), routes))
            except EditError as error:
                self._refuse_edits(job for job in routes if any(routes[job][: len(r)] == r for r in error.routes))
        self.stop_on_errors()
        _write({path: text.encode() for path, text in after.items()}, before)
        done = (self._pins(pins, routes, before[path], after[path]) for path, routes in places.items())
        found = {pin.job: pin for several in done for pin in several}
        return [found[job] for job in pins]

    def _refuse_edits(self, jobs: Iterable[str]) -> None:
        for job in jobs:
            message = f"the pin of '{job}' cannot be edited without changing anything else"
            hint = f"an alias or a merge key is in the way: {self._way_out.replace('{}', job)}"
            self.refuse(message, hint, self.span(job))

    def _pins(self, names: Mapping[str, str], routes: Mapping[str, Keys], before: bytes, after: str) -> Iterator[Pin]:
        """Yield the pins of one file with their places, the earlier ones if they are removed."""
        value = value_of(after)
        stand = all(reach(value, route) is not MISSING for route in routes.values())
        lines = lines_of(after if stand else before.decode(), routes.values())
        for job, line in zip(routes, lines, strict=True):
            old = str(self.jobs[job].get("pin") or "")
            yield Pin(job=job, name=names[job], file=self.place(job)[0].name, line=line, before=old)


def _write(after: Mapping[Path, bytes], before: Mapping[Path, bytes]) -> None:
    """Replace files whose content differs, or none of them; raise CompileError if a file cannot be written."""
    with all_or_none(after):
        for path, content in after.items():
            if content != before[path]:
                try:
                    replace_file(path, content, stat.S_IMODE(path.stat().st_mode))
                except OSError as error:
                    raise unwritable(path, error) from error


@contextmanager
def all_or_none(paths: Iterable[Path]) -> Iterator[None]:
    """Restore the content of files, as far as the system allows, if anything ends the block early, Ctrl-C too."""
    before = {path: path.read_bytes() if path.exists() else None for path in paths}
    try:
        yield
    except BaseException:
        for path, content in before.items():
            with suppress(OSError):
                if content is None:
                    path.unlink(missing_ok=True)
                elif path.read_bytes() != content:
                    replace_file(path, content, stat.S_IMODE(path.stat().st_mode))
        raise
