"""A spec as it was in a commit: its files, and what some of its jobs resolved to."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tfgitops.plugins.settingsfile import PYPROJECT
from tfgitops.review.pastsettings import SettingsFile
from tfgitops.spec.disk import shown
from tfgitops.spec.document import Document
from tfgitops.spec.load import Source
from tfgitops.spec.project import SPEC, Project
from tfgitops.spec.resolve import resolve, widened
from tfgitops.spec.validation import validate
from tfgitops.spec.yamltext import TextError, parse

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

    from tfgitops.review.history import Base
    from tfgitops.spec.model import Environment
    from tfgitops.spec.schema.specschema import SpecSchema
    from tfgitops.targets.routes import Route


def plain_text(content: bytes) -> str | None:
    """Return a file's text as the compiler reads it; None for what is none."""
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return None


@dataclass(frozen=True, kw_only=True)
class Past:
    """What the files of an environment that is there now were in a commit, as far as some of its jobs go."""

    now: Environment
    base: Base
    root: Path
    schema: SpecSchema
    jobs: Collection[str]

    @cached_property
    def documents(self) -> tuple[Document, ...]:
        """The files, the strongest first, with those jobs alone; short forms are widened where the files are valid."""
        return self._widened(self._pruned(self._files))

    @cached_property
    def present(self) -> tuple[Document, ...]:
        """The files as they are now, with the same jobs alone."""
        return self._pruned(self.now.places.documents)

    def beside(self, document: Document) -> Document | None:
        """Return what a file was that is part of the spec now and was there without being part of it."""
        path = self.base.path(document.path)
        was = self._same(path) or self._document(path, self.base.find(path), document.prefix)
        return self._widened(self._pruned([was]))[0] if was else None

    @cached_property
    def settings(self) -> SettingsFile:
        """The settings of the plugins."""
        content = self.base.find(self.base.path(self.root / PYPROJECT))
        return SettingsFile(root=self.root, text=plain_text(content or b"") or "")

    @cached_property
    def environment(self) -> Environment | None:
        """What the files resolved to; None where that is nothing, or no more."""
        source = Source(
            folder=self.now.folder, documents=self._pruned(self._files),
            project=Project(root=self.root, settings=self.settings.settings),
        )  # fmt: skip
        if not source.documents or not self._valid(source.documents):
            return None
        return resolve(source, self.schema)[0]

    def _widened(self, documents: tuple[Document, ...]) -> tuple[Document, ...]:
        return tuple(widened(one, self.schema) for one in documents) if self._valid(documents) else documents

    def _valid(self, documents: Iterable[Document]) -> bool:
        shapes = [(one, self.schema.job if one.prefix else self.schema.environment) for one in documents]
        return not any(
            problem.severity == "error"
            for one, shape in shapes
            for problem in validate(one.value, shape, one.prefix, part=True)
        )

    @cached_property
    def _files(self) -> tuple[Document, ...]:
        own = list(self._own())
        return (*own, *self._extended(own[0])) if own else ()

    def _own(self) -> Iterator[Document]:
        """Yield the environment's file, and the files of its jobs."""
        folder = self.base.path(self.now.folder)
        spec, jobs = posixpath.normpath(f"{folder}/{SPEC}"), posixpath.normpath(f"{folder}/jobs")
        named = {
            path: path.rpartition("/")[2].removesuffix(".yaml") for path in self.base.blobs if path.startswith(jobs)
        }
        files = {path: name for path, name in sorted(named.items()) if path == f"{jobs}/{name}.yaml"}
        prefixes: dict[str, Route] = {spec: (), **{path: ("jobs", name) for path, name in files.items()}}
        texts = self.base.read(path for path in prefixes if not self._same(path))
        for path, prefix in prefixes.items():
            if document := self._same(path) or self._document(path, texts.get(path), prefix):
                yield document

    def _extended(self, document: Document) -> Iterator[Document]:
        """Yield the files that one extends, the strongest first."""
        seen = {document.path}
        while type(target := document.value.get("extends")) is str:
            path = posixpath.normpath(posixpath.join(posixpath.dirname(self.base.path(document.path)), target))
            found = self._same(path) or self._document(path, self.base.find(path), ())
            if found is None or found.path in seen:
                return
            seen.add(found.path)
            yield found
            document = found

    @cached_property
    def _by_path(self) -> dict[str, Document]:
        return {self.base.path(document.path): document for document in self.now.places.documents}

    def _same(self, path: str) -> Document | None:
        """Return a file that is as it was, of which nothing has to be read."""
        now = self._by_path.get(path)
        return None if now is None or self.base.differs(path, now.text) else now

    def _document(self, path: str, content: bytes | None, prefix: Route) -> Document | None:
        if content is None:
            return None
        text, now = plain_text(content) or "", self._by_path.get(path)
        if now is not None and now.text == text:
            return now
        try:
            value = parse(text)
        except TextError:
            return None
        if type(value) is not dict:
            return None
        place = now.path if now else self.base.top / path
        return Document(path=place, name=now.name if now else shown(place), text=text, value=value, prefix=prefix)

    @cached_property
    def _wanted(self) -> frozenset[str]:
        """The jobs that are asked about, and all that they start from, then or now."""
        wanted, new = set(self.jobs), set(self.jobs)
        while new:
            blocks = [_block(one, name) for one in (*self._files, *self.now.places.documents) for name in new]
            new = {str(block["from"]) for block in blocks if type(block) is dict and "from" in block} - wanted
            wanted |= new
        return frozenset(wanted)

    def _pruned(self, documents: Iterable[Document]) -> tuple[Document, ...]:
        """Leave out all jobs that are not wanted."""
        kept = [one for one in documents if not one.prefix or one.prefix[-1] in self._wanted]
        return tuple(
            replace(one, value={**one.value, "jobs": {name: jobs[name] for name in jobs if name in self._wanted}})
            if type(jobs := one.value.get("jobs")) is dict and not one.prefix
            else one
            for one in kept
        )


def _block(document: Document, job: str) -> Any:
    """Return what a file says of a job."""
    if document.prefix:
        return document.value if document.prefix[-1] == job else None
    jobs = document.value.get("jobs")
    return jobs.get(job) if type(jobs) is dict else None
