"""Rewrite the keys of specs that have former names, and prove that no manifest changes by a byte."""

from __future__ import annotations

import stat
from contextlib import ExitStack
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from tfgitops.compiler.session import compile_all
from tfgitops.compiler.write import replace_file
from tfgitops.pins.specedits import all_or_none
from tfgitops.spec.committed import MANIFESTS
from tfgitops.spec.diagnostics import CompileError, Diagnostic
from tfgitops.spec.disk import resolved, shown, unwritable
from tfgitops.spec.yamltext.edit import with_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tfgitops.compiler.compiled import Compiled
    from tfgitops.compiler.session import Session
    from tfgitops.spec.document import Document


class Rewritten(NamedTuple):
    """A key that got its present name, and its place in an editor's form."""

    place: str
    former: str
    present: str


def migrate_specs(
    session: Session, undisturbed: Callable[[Path], AbstractContextManager[None]]
) -> tuple[list[Rewritten], int]:
    """Rewrite the specs of all environments, and return the keys, and how many manifests were compared.

    Raises CompileError, and leaves every file as it was, if an environment has errors, a file cannot be written, or a
    manifest would change. ``undisturbed`` keeps builds off an environment.
    """
    with ExitStack() as stack:
        for folder in session.folders:
            stack.enter_context(undisturbed(folder))
        before = _compiled(session)
        documents = _with_former_keys(before)
        with all_or_none(documents):
            for path, document in documents.items():
                _rewrite(path, document)
            if documents and (changes := [*_changes(before, _compiled(session))]):
                raise CompileError(changes)
    done = {key for document in documents.values() for key in _keys(document)}
    return [key for _, key in sorted(done)], sum(len(one.files) for one in before)


def _compiled(session: Session) -> list[Compiled]:
    results = compile_all(session)
    if problems := [problem for one in results if not one.ok for problem in one.diagnostics]:
        raise CompileError(problems)
    return results


def _with_former_keys(results: Iterable[Compiled]) -> dict[Path, Document]:
    """Return the files that have former names of keys, each once, although several environments may extend it."""
    documents = [one for result in results if result.environment for one in result.environment.places.documents]
    return {resolved(one.path): one for one in documents if one.former}


def _keys(document: Document) -> Iterator[tuple[tuple[str, int, int], Rewritten]]:
    for route, name in document.former.items():
        span = document.span(route, on_key=True)
        place = (span.file, span.line, span.column)
        yield place, Rewritten(f"{span.file}:{span.line}", name, str(route[-1]))


def _rewrite(path: Path, document: Document) -> None:
    try:
        after = with_keys(path.read_bytes().decode(), document.former_keys())
        replace_file(path, after.encode(), stat.S_IMODE(path.stat().st_mode))
    except OSError as error:
        raise unwritable(path, error) from error


def _changes(before: Iterable[Compiled], after: Iterable[Compiled]) -> Iterator[Diagnostic]:
    """Yield a problem for each manifest that changed, with its first changed line."""
    for old, new in zip(before, after, strict=True):
        was, now = ({file.path: file.text for file in one.files} for one in (old, new))
        for path in sorted(path for path in was.keys() | now.keys() if was.get(path) != now.get(path)):
            number, expected, found = _first_change(was.get(path, ""), now.get(path, ""))
            name = shown(old.folder / MANIFESTS / path)
            yield Diagnostic(
                code="TF605", message=f"the rewritten spec would change {name}, line {number}", file=name, found=found,
                expected=expected, hint="no file was changed; write the present names by hand",
            )  # fmt: skip


def _first_change(was: str, now: str) -> tuple[int, str, str]:
    """Return the number of the first line that differs, and the line then and now; the digest above tells nothing."""
    pairs = [*enumerate(zip_longest(was.splitlines(), now.splitlines(), fillvalue=""), start=1)]
    changed = [(number, *pair) for number, pair in pairs if pair[0] != pair[1]]
    number, old, new = next((one for one in changed if not one[1].startswith("#")), changed[0])
    return number, old.strip(), new.strip()
