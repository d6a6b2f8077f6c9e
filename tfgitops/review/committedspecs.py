"""The specs of a commit: their files, the settings of plugins beside them, and what some of their jobs resolved to."""

from __future__ import annotations

import errno
import posixpath
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfgitops.plugins.settingsfile import TABLE, find_setting
from tfgitops.spec.diagnostics import CompileError, Diagnostic, Span
from tfgitops.spec.disk import decoded, read_file, shown
from tfgitops.spec.formerkeys import with_present_keys
from tfgitops.spec.load import LoadedSpec, Reader
from tfgitops.spec.project import PYPROJECT, Project, parse_project
from tfgitops.spec.resolve import resolve
from tfgitops.spec.schema.validation import validate_file
from tfgitops.spec.textfiles import completed
from tfgitops.targets.routes import MISSING, Route, reach

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from tfgitops.review.history import Base
    from tfgitops.spec.disk import Kind
    from tfgitops.spec.document import Document
    from tfgitops.spec.model import Environment
    from tfgitops.spec.schema.specschema import SpecSchema


@dataclass(frozen=True, kw_only=True)
class CommitTree:
    """The files of a commit, without links, by their paths in the working tree: the `FileTree` of a commit.

    ``present`` are files that were read from the working tree; those that the commit has unchanged are not read again.
    """

    base: Base
    present: Sequence[Document] = ()
    _read: dict[str, bytes | None] = field(default_factory=dict, init=False, repr=False)

    @property
    def root(self) -> Path:
        """The top of the repository."""
        return self.base.top

    def resolved(self, path: Path) -> Path:
        """Return a path without dots; raise OSError if no file can have such a name."""
        if "\0" in str(path):
            raise OSError(errno.EINVAL, "no file has such a name", str(path))
        return Path(posixpath.normpath(path))

    def kind_of(self, path: Path) -> Kind:
        """Tell whether a path is a file, a folder or nothing; a folder with no file that was listed is nothing."""
        name = self.name(path)
        if name in self.base.blobs:
            return "file"
        if name in self.base.folders:
            return "folder"
        return "nothing" if self._content(name) is None else "file"

    def listed(self, folder: Path) -> dict[str, Kind]:
        """Return what is directly in a folder, by name, sorted, of the files that were listed."""
        return {**self.base.folders.get(self.name(folder), {})}

    def walk(self, top: Path, _: object) -> Iterator[tuple[str, list[str], list[str]]]:
        """Yield the files directly in a folder, and read those that differ in one go."""
        inside = f"{self.name(top)}/"
        names = [name for name, kind in self.listed(top).items() if kind == "file"]
        self._read.update(self.base.read(path for path in map(inside.__add__, names) if path not in self._same))
        yield str(top), [], names

    def read_file(self, path: Path, _: int = 0) -> bytes:
        """Return the content of a file; raise OSError if there is none."""
        content = self._content(self.name(path))
        if content is None:
            raise OSError(errno.ENOENT, f"it is not in {self.base.commit[:10]}", str(path))
        return content

    def read_text(self, path: Path, name: str) -> str | Diagnostic:
        """Return a file's text, or what is wrong with the file."""
        if (content := self._content(self.name(path))) is None:
            return Diagnostic(code="TF101", message=f"{name} is not in {self.base.commit[:10]}", file=name)
        return decoded(content, name)

    def known(self, path: Path) -> Document | None:
        """Return a file of the working tree that the commit has unchanged."""
        return self._same.get(self.name(path))

    def name(self, path: Path) -> str:
        """Return a path from the top of the repository as Git writes it."""
        path = self.resolved(path)
        return (path.relative_to(self.root) if path.is_relative_to(self.root) else path).as_posix()

    def now(self, document: Document) -> Document | None:
        """Return the file of the working tree that follows a file of the commit."""
        return self._by_name.get(self.name(document.path))

    @cached_property
    def _by_name(self) -> dict[str, Document]:
        return {self.base.path(document.path): document for document in self.present}

    @cached_property
    def _same(self) -> dict[str, Document]:
        return {name: one for name, one in self._by_name.items() if not self.base.differs(name, one.text)}

    def _content(self, name: str) -> bytes | None:
        if name not in self._read:
            self._read[name] = self.base.find(name)
        return self._read[name]


@dataclass(frozen=True, kw_only=True)
class SettingsFile:
    """The settings of each plugin in a pyproject.toml, as a file of the spec; routes begin with its table."""

    root: Path
    settings: dict[str, dict[str, Any]]
    prefix: Route = ()
    texts: Mapping[Route, Path] = field(default_factory=dict)

    @property
    def value(self) -> Any:
        """The settings."""
        return self.settings

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self.root / PYPROJECT

    @property
    def name(self) -> str:
        """The file's name for people."""
        return shown(self.path)

    def written(self, route: Route) -> Route:
        """Return a route as it is written: there are no short forms."""
        return route

    def home(self, route: Route) -> Route:
        """Return the route at which a value stands: there are no aliases."""
        return route

    def span(self, route: Route, *, on_key: bool = False) -> Span:  # noqa: ARG002 - as of a Document
        """Find the place of a setting, else the nearest one, in the file as it is now."""
        for end in range(len(route), len(TABLE), -1):
            value = reach(self.settings, route[len(TABLE) : end])
            if value is not MISSING and (span := find_setting(self.root, route[len(TABLE) : end], str(value))):
                return span
        text = read_file(self.path).decode(errors="replace") if self.settings else ""
        return Span(file=self.name, line=1, column=1, excerpt=text.partition("\n")[0].rstrip("\r"))


@dataclass(frozen=True, kw_only=True)
class CommittedSpec:
    """The files of a present environment as they were in a commit, for some of its jobs."""

    now: Environment
    base: Base
    root: Path
    schema: SpecSchema
    jobs: Collection[str]

    @cached_property
    def documents(self) -> tuple[Document, ...]:
        """The files with those jobs alone, the strongest first; valid files are complete."""
        return self._widened(self._pruned(self._files))

    @cached_property
    def present(self) -> tuple[Document, ...]:
        """The present files with the same jobs alone."""
        return self._pruned(self.now.places.documents)

    def beside(self, document: Document) -> Document | None:
        """Return the earlier version of a file that was not part of the spec then."""
        was = Reader(self._tree).read(self.base.top / self.base.path(document.path), document.prefix)
        return self._widened(self._pruned(with_present_keys([self._as_now(was)], self.schema)))[0] if was else None

    @cached_property
    def settings(self) -> SettingsFile:
        """The settings of the plugins."""
        return SettingsFile(root=self.root, settings=self._project.settings)

    @cached_property
    def _project(self) -> Project:
        """What pyproject.toml said; nothing if it was wrong."""
        content = self.base.find(self.base.path(self.root / PYPROJECT))
        try:
            return parse_project(self.root, content or b"")
        except CompileError:
            return Project(root=self.root)

    @cached_property
    def environment(self) -> Environment | None:
        """The resolved files; None if there are none, or they are not valid."""
        if not self._files or not self._valid(self._pruned(self._files)):
            return None
        documents = self.documents
        return resolve(LoadedSpec(folder=self.now.folder, project=self._project, documents=documents), self.schema)[0]

    def _widened(self, documents: tuple[Document, ...]) -> tuple[Document, ...]:
        return completed(documents, self.schema, self._tree, self._home)[0] if self._valid(documents) else documents

    def _home(self, path: Path) -> Path:
        return self.base.top / self.base.path(path)

    def _valid(self, documents: Iterable[Document]) -> bool:
        problems = (problem for one in documents for problem in validate_file(one, self.schema))
        return not any(problem.severity == "error" for problem in problems)

    @cached_property
    def _tree(self) -> CommitTree:
        return CommitTree(base=self.base, present=[one.bare for one in self.now.places.documents])

    @cached_property
    def _files(self) -> tuple[Document, ...]:
        read = Reader(self._tree).spec(self.base.top / self.base.path(self.now.folder))
        return with_present_keys(map(self._as_now, read), self.schema)

    def _as_now(self, document: Document) -> Document:
        """Return a file under its present name, which is another if its environment was moved."""
        now = self._tree.now(document)
        return replace(document, path=now.path, name=now.name) if now and now.name != document.name else document

    @cached_property
    def _wanted(self) -> frozenset[str]:
        """The jobs in question and all from which they start, then or now."""
        starts: dict[str, set[str]] = {}
        for document in (*self._files, *self.now.places.documents):
            for name, block in document.jobs.items():
                if type(block) is dict and "from" in block:
                    starts.setdefault(name, set()).add(str(block["from"]))
        wanted, new = set(self.jobs), set(self.jobs)
        while new:
            new = {start for name in new for start in starts.get(name, ())} - wanted
            wanted |= new
        return frozenset(wanted)

    def _pruned(self, documents: Iterable[Document]) -> tuple[Document, ...]:
        """Leave out unwanted jobs."""
        kept = [one for one in documents if not one.prefix or one.prefix[-1] in self._wanted]
        return tuple(
            replace(one, value={**one.value, "jobs": {name: jobs[name] for name in jobs if name in self._wanted}})
            if (jobs := one.jobs) and not one.prefix
            else one
            for one in kept
        )
