"""Read the files of environments: the only stage that reads, and nothing outside the root."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfgitops.diagnostics import CompileError, Diagnostic, Severity, Span, has_errors
from tfgitops.document import LOOKALIKES, Document
from tfgitops.kubernetes.names import describe
from tfgitops.project import SPEC, Project, find_root, read_project
from tfgitops.yamltext import MAX_BYTES, Fault, TextError, parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfgitops.diagnostics import Route

_CONFLICT = re.compile(r"^(<{7}|>{7})(?: .*)?$", re.MULTILINE)
_NOTHING = re.compile("[\u00ad\u00a0\u200b-\u200f\u2028-\u202e\u2060-\u2064\u3000\ufeff]")
_NEVER = re.compile("[\0\ufdd0-\ufdef\ufffe\uffff]")
_ESCAPE = re.compile(r"\\[0xuU]")  # in double quotes, a way to write any character in ASCII
_QUOTES = "\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb"


@dataclass(frozen=True, kw_only=True)
class Source:
    """The files of one environment, the strongest first: its own, then its jobs' files, then what it extends."""

    folder: Path
    project: Project
    documents: tuple[Document, ...]
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def name(self) -> str:
        """The environment's name, which is its folder's."""
        return self.folder.name


def find_environments(path: Path) -> list[Path]:
    """Return the folders of the environments that a path stands for, sorted.

    Raises:
        CompileError: the path is not there, or no environment is below it.
    """
    if path.name == SPEC and path.is_file():
        return [path.parent.resolve()]
    if not path.exists():
        raise _no_place(f"{path} is not there", "name an environment's folder, or a folder of environments")
    if not path.is_dir():
        raise _no_place(f"{path} is not an environment", f"an environment is a folder that holds {SPEC}")
    if (path / SPEC).is_file():
        return [path.resolve()]
    found = sorted(folder.resolve() for folder in _folders(path) if (folder / SPEC).is_file())
    if not found:
        raise _no_place(f"no environment is below {path}", f"an environment is a folder that holds {SPEC}")
    return found


def abandoned(path: Path) -> list[Path]:
    """Return the folders below a folder of environments that have manifests, but no spec any more."""
    if not path.is_dir() or (path / SPEC).is_file():
        return []
    return sorted(
        folder.resolve()
        for folder in _folders(path)
        if (folder / "manifests").is_dir() and not (folder / SPEC).is_file()
    )


def _folders(top: Path) -> Iterator[Path]:
    for current, names, _ in os.walk(top):
        names[:] = sorted(n for n in names if not n.startswith(".") and n not in ("manifests", "jobs"))
        yield Path(current)


def load(folder: Path, project: Project | None = None) -> Source:
    """Read an environment's spec, its jobs' files, and all that it extends.

    Raises:
        CompileError: with every fault of every file.
    """
    project = project or read_project(find_root(folder))
    reader = _Reader(project)
    documents = reader.chain(folder / SPEC)
    own = documents[:1]
    for path in reader.job_files(folder / "jobs"):
        document = reader.read(path, prefix=("jobs", path.stem))
        if document is not None:
            reader.refuse_second(document, own)
            documents.insert(len(own), document)
    if has_errors(reader.diagnostics):
        raise CompileError(reader.diagnostics)
    return Source(folder=folder, project=project, documents=tuple(documents), warnings=tuple(reader.diagnostics))


class _Reader:
    """Reads files inside one root, and collects what is wrong with them."""

    def __init__(self, project: Project) -> None:
        self.root = project.root.resolve()
        self.diagnostics: list[Diagnostic] = []

    def chain(self, path: Path) -> list[Document]:
        """Read a file and what it extends, the strongest first."""
        documents: list[Document] = []
        seen: list[Path] = []
        while True:
            seen.append(path.resolve())
            document = self.read(path)
            if document is None:
                return documents
            documents.append(document)
            target = document.value.get("extends")
            if type(target) is not str or not target:
                return documents  # validation says what is wrong with another type
            path = path.parent / target
            if problem := self._forbidden(path, seen):
                self.say("TF108", problem, document.span(("extends",)), "name a file inside the repository")
                return documents
            if not path.is_file():
                message = f"the file to extend, {target}, is not there"
                self.say("TF101", message, document.span(("extends",)), "the path is relative to this file")
                return documents

    def _forbidden(self, path: Path, seen: list[Path]) -> str:
        resolved = path.resolve()
        if not resolved.is_relative_to(self.root):
            return f"'extends' leads out of the root, {shown(self.root)}"
        if resolved in seen:
            return "'extends' leads round in a circle"
        return ""

    def job_files(self, folder: Path) -> list[Path]:
        """List the files of ``jobs/``, sorted; other YAML-like names are refused, since they would be passed over."""
        if not folder.is_dir():
            return []
        found = []
        for path in sorted(folder.iterdir()):
            if path.name.startswith(".") or not path.is_file():
                continue
            if path.suffix == ".yaml":
                found.append(path)
            elif path.suffix in (".yml", ".json"):
                self.say("TF101", f"{shown(path)} would be passed over", None, f"name it {path.stem}.yaml")
        return found

    def read(self, path: Path, prefix: Route = ()) -> Document | None:
        """Read one file whose value is a map; None if anything is wrong with it."""
        name = shown(path)
        text = self._text(path, name)
        if text is None:
            return None
        document = Document(path=path, name=name, text=text, value=None, prefix=prefix)
        try:
            self._refuse_conflicts(text)
            value = parse(text)
        except TextError as error:
            self.diagnostics.extend(_diagnose(document, fault) for fault in error.faults)
            return None
        if type(value) is not dict:
            found = "nothing" if value is None else "a list" if type(value) is list else "a single value"
            wanted = "a job's own mapping" if prefix else "the keys of an environment"
            span = Span(file=name, line=1, column=1, excerpt=text.split("\n", 1)[0])
            self.say("TF202", f"the file holds {found}", span, f"it must hold {wanted}, as `key: value`")
            return None
        document = Document(path=path, name=name, text=text, value=value, prefix=prefix)
        if not text.isascii() or _ESCAPE.search(text):
            self._refuse_lookalikes(document, value, prefix)
        return document

    def refuse_second(self, document: Document, own: list[Document]) -> None:
        """Refuse a job that stands in the spec and in a file of its own."""
        for spec in own:
            if spec.depth(document.prefix) == len(document.prefix):
                here = Span(file=document.name, line=1, column=1, excerpt=document.text.split("\n", 1)[0])
                there = spec.span(document.prefix, on_key=True)
                message = f"the job '{document.prefix[-1]}' is given twice"
                self.say("TF104", message, here, "keep one of the two", notes=(("also given here", there),))

    def say(
        self,
        code: str,
        message: str,
        span: Span | None,
        hint: str,
        *,
        notes: tuple[tuple[str, Span], ...] = (),
        severity: Severity = "error",
    ) -> None:
        """Note one thing that is wrong with a file."""
        self.diagnostics.append(
            Diagnostic(code=code, severity=severity, message=message, span=span, hint=hint, notes=notes)
        )

    def _text(self, path: Path, name: str) -> str | None:
        """Read a file's text, without a BOM and with LF alone; None, and a diagnostic, if that cannot be."""
        if not path.resolve().is_relative_to(self.root):
            self.say("TF108", f"{name} leads out of the root, {shown(self.root)}", None, "copy the file here")
            return None
        try:
            if path.stat().st_size > MAX_BYTES:
                self.say("TF106", f"{name} is larger than {MAX_BYTES >> 20} MiB", None, "split it into jobs/*.yaml")
                return None
            data = path.read_bytes()
        except OSError as error:
            self.say("TF101", f"{name} cannot be read: {error.strerror or error}", None, "")
            return None
        if data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in data[:4]:
            self.say("TF102", f"{name} is UTF-16 or UTF-32", None, "save it as UTF-8")
            return None
        try:
            return data.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            before = data[: error.start].decode("utf-8", "replace")
            line, column = before.count("\n"), len(before) - (before.rfind("\n") + 1)
            excerpt = data.split(b"\n")[line].decode("utf-8", "replace").rstrip("\r")
            span = Span(file=name, line=line + 1, column=column + 1, excerpt=excerpt)
            self.say("TF102", f"the byte 0x{data[error.start]:02x} is not UTF-8", span, "save the file as UTF-8")
            return None

    def _refuse_conflicts(self, text: str) -> None:
        if match := _CONFLICT.search(text):
            line = text.count("\n", 0, match.start())
            raise TextError([Fault("TF107", "Git's conflict markers", line, 0, "resolve the merge, then build")])

    def _refuse_lookalikes(self, document: Document, value: Any, route: Route) -> None:
        """Refuse typographic quotes around a text, and warn of characters that nobody sees."""
        if type(value) is dict:
            for key, inner in value.items():
                self._judge_text(document, key, (*route, key), on_key=True)
                self._refuse_lookalikes(document, inner, (*route, key))
        elif type(value) is list:
            for index, inner in enumerate(value):
                self._refuse_lookalikes(document, inner, (*route, index))
        elif type(value) is str:
            self._judge_text(document, value, route, on_key=False)

    def _judge_text(self, document: Document, text: str, route: Route, *, on_key: bool) -> None:
        if text.isascii() and "\0" not in text:
            return
        span = document.span(route, on_key=on_key)
        if found := _NEVER.search(text):
            message = f"'{route[-1]}' has {describe(found[0])}, which no text may hold"
            self.say("TF109", message, span, "leave it out")
        elif text[0] in _QUOTES:
            plain = LOOKALIKES.get(ord(text[0]), '"')
            message = f"'{route[-1]}' has {describe(text[0])}, which quotes nothing in YAML"
            self.say("TF109", message, span, f"use {plain}")
        elif found := _NOTHING.search(text):
            message = f"'{route[-1]}' has {describe(found[0])}, which looks like a blank, or like nothing"
            turns_text = "\u202a" <= found[0] <= "\u202e"
            self.say(
                "TF109",
                message,
                span,
                "type it anew",
                severity="error" if on_key or turns_text else "warning",
            )


def _diagnose(document: Document, fault: Fault) -> Diagnostic:
    notes: tuple[tuple[str, Span], ...] = ()
    if fault.also:
        message, line, column = fault.also
        notes = ((message, document.span_at(line, column)),)
    return Diagnostic(
        code=fault.code, severity="error", message=fault.message, span=document.span_at(fault.line, fault.column),
        hint=fault.hint, notes=notes,
    )  # fmt: skip


def _no_place(message: str, hint: str) -> CompileError:
    return CompileError([Diagnostic(code="TF101", severity="error", message=message, hint=hint)])


def shown(path: Path) -> str:
    """Name a path as a person at the prompt would: relative to here, where it is below here."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - not resolved: a link keeps the name it was given by
    try:
        return absolute.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return absolute.as_posix()
