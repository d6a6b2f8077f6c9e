"""Read the files of environments: the only stage that reads, and nothing outside the root."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfgitops.spec import bounds
from tfgitops.spec.committed import texts
from tfgitops.spec.diagnostics import CompileError, Diagnostic, Span, has_errors, unquoted
from tfgitops.spec.disk import Disk, is_hidden, noted, resolved, shown, unreadable
from tfgitops.spec.document import Document
from tfgitops.spec.places import NOT_EXTENDED, inherited
from tfgitops.spec.portable import awkward_names
from tfgitops.spec.project import SPEC, Project, file_like, find_root, read_project
from tfgitops.spec.schema.formats import complain
from tfgitops.spec.yamltext import TextError, measured
from tfgitops.spec.yamltext.textfaults import lookalikes

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping

    from tfgitops.spec.disk import Answer, FileTree, Kind
    from tfgitops.targets.routes import Route

_LIKE_YAML = (".yaml", ".yml", ".json")
_A_SPEC = "the name of a spec ends with .yaml, and no part of its path is hidden"
_WHOLE = ("the keys of an environment", "a job's own mapping")
_SPECS = f"{bounds.SPECS >> 20} MiB, where each value counts {bounds.EACH} bytes"
_SEVERAL = "make several environments"
_UNSHOWN = "if it is a spec, add `apiVersion: tfgitops/v1alpha1` at its top: then the line and the reason are shown"
_TOO_LONG = ("TF106", f"more than {bounds.CHAIN} files extend one another", "join some of these files")
_NOT_IN_A_JOB = {
    "apiVersion": f"leave it out: {SPEC} says it",
    "kind": f"leave it out: {SPEC} says it",
    "jobs": "leave out what is above the job's keys, and indent them less",
    "extends": "`from` starts a job from another one",
}


@dataclass(frozen=True, kw_only=True)
class LoadedSpec:
    """The files of one environment, the strongest first: its own, then its jobs' files, then what it extends.

    ``committed`` are the texts of its manifests by their path below ``manifests/``, read only where a job is pinned;
    ``day`` is that of the newest commit, asked of Git only where something is allowed. ``answers`` are those of the
    disk and of Git, but for the manifests.
    """

    folder: Path
    project: Project
    documents: tuple[Document, ...]
    warnings: tuple[Diagnostic, ...] = ()
    committed: Mapping[str, str] = field(default_factory=dict, repr=False)
    day: str = ""
    answers: set[Answer] = field(default_factory=set, repr=False)

    @property
    def name(self) -> str:
        """The environment's name, which is its folder's."""
        return self.folder.name


def load(folder: Path, project: Project | None = None) -> LoadedSpec:
    """Read an environment's spec, its jobs' files, and all that it extends; raise CompileError with every fault."""
    project = project or read_project(find_root(folder))
    answers: set[Answer] = set()
    tree = Disk(resolved(project.root), answers)
    reader = Reader(tree)
    documents = reader.spec(folder)
    if has_errors(reader.diagnostics):
        raise CompileError(inherited(reader.diagnostics, documents[0]) if documents else reader.diagnostics)
    day = ""
    if any(document.value.get("allow") for document in documents):
        day = project.day
        answers.add(noted("day", project.root, day))
    return LoadedSpec(
        folder=folder, project=project, documents=tuple(documents),
        warnings=(*inherited(reader.diagnostics, documents[0]), *awkward_names(folder, documents, tree)),
        committed=texts(folder) if any(map(_pins, documents)) else {},
        day=day, answers=answers,
    )  # fmt: skip


def _pins(document: Document) -> bool:
    """Tell whether a file pins a job, be it that a stronger one takes the pin away."""
    return any(type(block) is dict and "pin" in block for block in document.jobs.values())


@lru_cache(maxsize=8)
def _parsed(text: str, name: str) -> tuple[Any, int]:
    """Return the value and the size of a file that many environments may extend."""
    return measured(text, name)


class Reader:
    """Reads the files of specs from a tree, and collects what is wrong with them."""

    def __init__(self, tree: FileTree) -> None:
        self.diagnostics: list[Diagnostic] = []
        self._tree = tree
        self._home: Path | None = None
        self._size = 0

    def spec(self, folder: Path) -> list[Document]:
        """Read the files of an environment, the strongest first: its own, its jobs' files, and what it extends."""
        documents = list(self.chain(folder / SPEC))
        own = documents[:1]
        if len(files := self.job_files(folder / "jobs")) > bounds.JOBS:
            self.say("TF106", f"{shown(folder / 'jobs')} has more than {bounds.JOBS:,} files", None, _SEVERAL)
        for path in files[: bounds.JOBS]:
            if document := self.job(path, own):
                documents.insert(len(own), document)
        return documents

    def chain(self, path: Path) -> Iterator[Document]:
        """Read a file and what it extends, and yield each, the strongest first."""
        names: dict[Path, str] = {}  # by the path without links
        while document := self.read(path):
            yield self._inherited(document) if names else document
            names[self._tree.resolved(path)] = document.name
            target = document.value.get("extends")
            if type(target) is not str or not target:
                break  # validation says what is wrong with another type
            path = path.parent / target
            if problem := self._refusal(target, path, names) or (_TOO_LONG if len(names) == bounds.CHAIN else None):
                code, message, hint = problem
                self.say(code, message, document.span(("extends",)), hint)
                break

    def _inherited(self, document: Document) -> Document:
        """Return a file as others extend it: without the keys that are an environment's own."""
        jobs = dict(document.jobs)
        for name, block in document.jobs.items():
            if type(block) is dict and not block.keys().isdisjoint(NOT_EXTENDED):
                jobs[name] = {key: value for key, value in block.items() if key not in NOT_EXTENDED}
                for key in NOT_EXTENDED if document.path.name != SPEC else ():
                    if block.get(key) is not None:
                        message = f"no environment gets `{key}` from this file: it is about one run of one environment"
                        span = document.span(("jobs", name, key), on_key=True)
                        self.say("TF201", message, span, f"write it below `jobs.{name}` of that environment")
        return replace(document, value={**document.value, "jobs": jobs}) if jobs != document.jobs else document

    def _refusal(self, target: str, path: Path, names: Mapping[Path, str]) -> tuple[str, str, str] | None:
        """Say why a file cannot be extended, as code, message and hint."""
        if "://" in target:
            return "TF108", "'extends' names a file of this repository, and no URL", "copy the file here, and name that"
        try:
            at, kind = self._tree.resolved(path), self._tree.kind_of(path)
        except OSError as error:
            return "TF101", f"the file to extend, {target}, cannot be read: {error.strerror}", "look at the path"
        if why := self._no_spec(at, kind):
            return "TF108", f"'extends' leads {why[0]}", why[1]
        if at in names:
            circle = [*names.values()][[*names].index(at) :]
            if len(circle) == 1:
                return "TF108", "the file extends itself", "leave this line out, or name another file"
            hint = f"break it at one place: {' → '.join([*circle, circle[0]])}"
            return "TF108", "'extends' leads round in a circle", hint
        return self._no_file(target, path, names) if kind != "file" else None

    def _no_spec(self, at: Path, kind: Kind) -> tuple[str, str] | None:
        """Say where a path leads if it leads to no spec by name and place, with a hint: no line of it must be shown."""
        if not at.is_relative_to(self._tree.root):
            return f"out of the root, {shown(self._tree.root)}", "name a file inside the repository"
        hidden = is_hidden(at, self._tree.root, self._home or at.parent)
        no_spec = kind == "file" and (hidden or at.suffix.lower() not in _LIKE_YAML[:2])
        return ("to what is no spec", _A_SPEC) if no_spec else None

    def _no_file(self, target: str, path: Path, seen: Container[Path]) -> tuple[str, str, str]:
        if self._tree.kind_of(path) == "folder":
            files = (path / name for name in self._tree.listed(path) if name.endswith(".yaml"))
            inside = [file.name for file in files if self._tree.resolved(file) not in seen]
            hint = f"name a file in it, such as {Path(target, inside[0]).as_posix()}" if inside else ""
            return "TF101", f"'extends' names a folder, {target}", hint or "name a file, such as ../base.yaml"
        hint = file_like(target, path, self._tree) or "the path is relative to this file"
        return "TF101", f"the file to extend, {target}, is not there", hint

    def job_files(self, folder: Path) -> list[Path]:
        """List the files of ``jobs/``, sorted; what else looks like YAML is refused, since it would be passed over."""
        try:
            kind = self._tree.kind_of(folder)
        except OSError as error:
            self.diagnostics.append(unreadable(folder, error))
            return []
        if kind == "file":
            self.say("TF101", f"{shown(folder)} is a file", None, "jobs/ is a folder: one file a job")
        if kind != "folder":
            for name in self._tree.listed(folder.parent):  # a slip would take all of its jobs away
                if name.lower() == folder.name != name:
                    self.say("TF101", f"{shown(folder.parent / name)} would be passed over", None, "rename it to jobs")
            return []
        found: list[Path] = []
        for current, folders, files in self._tree.walk(folder, self.diagnostics.append):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            self._refuse_folders(Path(current), folders)
            for path in (Path(current, name) for name in sorted(files) if not name.startswith(".")):
                fitting = folder / f"{path.stem}.yaml"
                if path == fitting:
                    found.append(path)
                elif path.suffix.lower() in _LIKE_YAML:
                    hint = f"name it {shown(fitting)}; the name of a file in jobs/ is that of its job"
                    self.say("TF101", f"{shown(path)} would be passed over", None, hint)
        return found

    def _refuse_folders(self, above: Path, names: list[str]) -> None:
        for path in (above / name for name in names):
            if path.is_symlink():
                self.say("TF101", f"{shown(path)} is a link, and would be passed over", None, "link the files in it")
            elif path.suffix.lower() in _LIKE_YAML:
                self.say("TF101", f"{shown(path)} is a folder", None, "a file in jobs/ is a job")

    def job(self, path: Path, own: list[Document]) -> Document | None:
        """Read the file of one job, whose name is the file's."""
        name = path.stem
        document = self.read(path, prefix=("jobs", name))
        top = document.span_at(0, 0) if document else Span(file=shown(path), line=1, column=1)
        if complaint := complain("job-name", name):
            better = re.search(r"'(.+)'", complaint.hint)
            hint = f"rename it {better[1]}.yaml" if better else "rename the file"
            self.say(complaint.code, complaint.message, top, hint, found=path.name, expected=complaint.expected)
        if document is None:
            return None
        for spec in own:
            if spec.depth(document.prefix) == len(document.prefix):
                notes = (("also given here", spec.span(document.prefix, on_key=True)),)
                self.say("TF104", f"the job '{name}' is given twice", top, "keep one of the two", notes=notes)
        hints = _NOT_IN_A_JOB if len(document.value) > 1 else {**_NOT_IN_A_JOB, name: "leave it out, and indent less"}
        for key in document.value:
            if key in hints:
                message = f"a file in jobs/ holds the job's own mapping, without '{key}'"
                self.say("TF201", message, document.span((*document.prefix, key), on_key=True), hints[key])
        return document

    def read(self, path: Path, prefix: Route = ()) -> Document | None:
        """Read one file whose value is a map; None if anything is wrong with it."""
        if known := self._tree.known(path):
            return known
        name = shown(path)
        self._home = self._home or self._tree.resolved(path.parent)
        if why := self._no_spec(self._tree.resolved(path), self._kind(path)):
            self.say("TF108", f"{name} leads {why[0]}", None, why[1])
            return None
        if isinstance(text := self._tree.read_text(path, name), Diagnostic):
            self.diagnostics.append(text)
            return None
        document = Document(path=path, name=name, text=text, value=None, prefix=prefix)
        try:
            value, size = (measured if prefix or path.name == SPEC else _parsed)(text, name)
        except TextError as error:
            for one in error.diagnostics:
                shy = replace(unquoted(one), message="this line cannot be read", hint=_UNSHOWN)
                self.diagnostics.append(one if document.is_named else shy)
            return None
        document = replace(document, value=value)
        if type(value) is not dict:
            found = "nothing" if value is None else "a list" if type(value) is list else "a single value"
            hint = f"it must hold {_WHOLE[bool(prefix)]}, as `key: value`"
            span = document.span_at(0, 0)
            span = span if document.is_named else replace(span, excerpt="")
            self.say("TF202", f"the file holds {found}", span, hint)
            return None
        said = lookalikes(document)
        self.diagnostics.extend(said if document.is_named else map(unquoted, said))
        return document if self._has_room(size, name) else None

    def _kind(self, path: Path) -> Kind:
        try:
            return self._tree.kind_of(path)
        except OSError:  # which is told where it is read
            return "nothing"

    def _has_room(self, size: int, name: str) -> bool:
        """Tell whether all files so far are not too large together; the first that is too much is told."""
        before, self._size = self._size, self._size + size
        if before <= bounds.SPECS < self._size:
            self.say("TF106", f"{name} and the files before it are larger than {_SPECS}", None, _SEVERAL)
        return self._size <= bounds.SPECS

    def say(self, code: str, message: str, span: Span | None, hint: str, **more: Any) -> None:
        """Note one thing that is wrong with a file; ``more`` are other fields of its diagnostic."""
        self.diagnostics.append(Diagnostic(code=code, message=message, span=span, hint=hint, **more))
