"""A spec as it was in a commit: its files, and what some of its jobs resolved to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tfgitops.review.committree import CommitTree
from tfgitops.review.pastsettings import SettingsFile
from tfgitops.spec.diagnostics import CompileError
from tfgitops.spec.load import LoadedSpec, Reader
from tfgitops.spec.project import PYPROJECT, Project, parse_project
from tfgitops.spec.resolve import resolve, widened
from tfgitops.spec.schema.validation import validate_file

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    from tfgitops.review.history import Base
    from tfgitops.spec.document import Document
    from tfgitops.spec.model import Environment
    from tfgitops.spec.schema.specschema import SpecSchema


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
        was = Reader(self._tree).read(self.base.top / self.base.path(document.path), document.prefix)
        return self._widened(self._pruned([self._as_now(was)]))[0] if was else None

    @cached_property
    def settings(self) -> SettingsFile:
        """The settings of the plugins."""
        return SettingsFile(root=self.root, settings=self._project.settings)

    @cached_property
    def _project(self) -> Project:
        """What pyproject.toml said; nothing where it was wrong."""
        content = self.base.find(self.base.path(self.root / PYPROJECT))
        try:
            return parse_project(self.root, content or b"")
        except CompileError:
            return Project(root=self.root)

    @cached_property
    def environment(self) -> Environment | None:
        """What the files resolved to; None where that is nothing, or no more."""
        documents = self._pruned(self._files)
        if not documents or not self._valid(documents):
            return None
        return resolve(LoadedSpec(folder=self.now.folder, project=self._project, documents=documents), self.schema)[0]

    def _widened(self, documents: tuple[Document, ...]) -> tuple[Document, ...]:
        return tuple(widened(one, self.schema) for one in documents) if self._valid(documents) else documents

    def _valid(self, documents: Iterable[Document]) -> bool:
        problems = (problem for one in documents for problem in validate_file(one, self.schema))
        return not any(problem.severity == "error" for problem in problems)

    @cached_property
    def _tree(self) -> CommitTree:
        return CommitTree(base=self.base, present=self.now.places.documents)

    @cached_property
    def _files(self) -> tuple[Document, ...]:
        folder = self.base.top / self.base.path(self.now.folder)
        return tuple(map(self._as_now, Reader(self._tree).spec(folder)))

    def _as_now(self, document: Document) -> Document:
        """Return a file under the name that it has now; where its environment was moved, that is another."""
        now = self._tree.now(document)
        return replace(document, path=now.path, name=now.name) if now and now.name != document.name else document

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
