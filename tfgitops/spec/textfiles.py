"""Read the text files that keys of a spec name, such as a script, and put each text beside its path."""

from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tfgitops.spec import bounds
from tfgitops.spec.diagnostics import Diagnostic, Problem
from tfgitops.spec.disk import decoded, is_hidden, shown
from tfgitops.spec.places import Places
from tfgitops.spec.project import file_like
from tfgitops.targets.routes import reach, replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tfgitops.spec.disk import FileTree
    from tfgitops.spec.document import Document
    from tfgitops.spec.schema.specschema import SpecSchema
    from tfgitops.targets.routes import Route

_ELSEWHERE = "put it into the image or on a volume"
_TOO_LARGE = f"the files that keys name are larger than {bounds.TEXTS >> 20} MiB together"


def completed(
    documents: Iterable[Document], schema: SpecSchema, tree: FileTree, home: Callable[[Path], Path] = Path
) -> tuple[tuple[Document, ...], list[Diagnostic]]:
    """Return valid documents in the wide form, with the texts of files that they name, and the errors of the files.

    A text is exactly that of the file, line ends included; it is empty for a file that cannot be read. ``home`` returns
    the path of a document in the tree, which is another one in the commit of a moved environment.
    """
    found: list[Diagnostic] = []
    read: dict[Path, str] = {}  # a thousand jobs may name one file
    size = 0
    complete = []
    for document in documents:
        widener, plan = (schema.job_widener, schema.job_files) if document.prefix else (schema.widener, schema.files)
        wide = replace(document, value=widener.widen(document.value))
        value, texts = wide.value, {}
        for at in plan.marked(wide.value, document.prefix):
            inner = at[len(document.prefix) :]
            named = reach(value, inner)
            if type(target := named.get("path")) is not str:
                continue
            folder = home(document.path).parent
            text = read.get(folder / target)
            if text is None:
                said = _text(wide, (*at, "path"), folder, tree) if size <= bounds.TEXTS else ""
                if isinstance(said, Diagnostic):  # told for each key that names the file
                    found.append(said)
                    text = ""
                else:
                    text = read[folder / target] = said
                before, size = size, size + len(text)
                if before <= bounds.TEXTS < size:
                    problem = Problem(code="TF106", message=_TOO_LARGE, at=(*at, "path"), hint=_ELSEWHERE)
                    found += Places(documents=(wide,)).diagnose([problem])
            value = replaced(value, inner, {**named, "text": text})
            texts[(*at, "text")] = document.path.parent / target
        complete.append(replace(wide, value=value, texts=texts) if texts else wide)
    return tuple(complete), found


def _text(document: Document, at: Route, home: Path, tree: FileTree) -> str | Diagnostic:
    """Return the text of a file, or what is wrong with the file or its path, which stands at a route."""
    target = str(reach(document.value, at[len(document.prefix) :]))
    path = home / target
    try:
        wrong = _refusal(target, home, tree)
        data = b"" if wrong else tree.read_file(path, bounds.TEXT_FILE)
    except OSError as error:
        wrong = ("TF101", f"the file {target} cannot be read: {error.strerror}", "look at the path")
        if error.errno == errno.EFBIG:
            wrong = ("TF106", f"the file {target} is larger than 1 MiB, and no ConfigMap holds more", _ELSEWHERE)
    if not wrong:
        try:
            text = data.decode()
        except UnicodeDecodeError:
            garbled = decoded(data, shown(path))
            assert isinstance(garbled, Diagnostic)
            assert garbled.span
            note = ("the file is named here", document.span(at))
            place = replace(garbled.span, excerpt="")  # its lines are not for everyone to see
            return replace(garbled, span=place, hint=f"save it as UTF-8; if it is no text, {_ELSEWHERE}", notes=(note,))
        if "\0" not in text:
            return text
        wrong = ("TF102", f"the file {target} has a NUL character, and so is no text", _ELSEWHERE)
    code, message, hint = wrong
    problem = Problem(code=code, message=message, at=at, hint=hint)
    return next(iter(Places(documents=(document,)).diagnose([problem])))


def _refusal(target: str, home: Path, tree: FileTree) -> tuple[str, str, str] | None:
    """Say why a path, from a folder, names no file of the repository, as code, message and hint."""
    path = home / target
    if "://" in target:
        return "TF108", f"{target} is a URL, and no file of this repository", "copy the file here, and name that"
    if path.as_posix() == target or target.startswith(("/", "~")):
        return "TF108", f"the path {target} depends on the machine", "write it relative to this file, such as train.py"
    outside = not (at := tree.resolved(path)).is_relative_to(tree.root)
    if outside or is_hidden(at, tree.root, tree.resolved(home)):
        leads = f"leads out of the root, {shown(tree.root)}" if outside else "leads to a hidden file"
        return "TF108", f"the path {target} {leads}", "name a file inside the repository, and no link to another one"
    kind = tree.kind_of(path)
    if kind == "folder":
        return "TF101", f"the path {target} names a folder", "name a file in it"
    if kind == "nothing":
        hint = file_like(target, path, tree) or "the path is relative to this file"
        return "TF101", f"the file {target} is not there", hint
    return None
