"""What can be wrong, as values: a Problem names a route in the spec, a Diagnostic names a line of a file."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from tfgitops.targets.secrets import hidden, masked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tfgitops.targets.routes import Route

Severity = Literal["error", "warning", "note"]
"""An error forbids writing, a warning does so with ``--strict``; a note never does, and is shown to those who ask."""

_TITLE = re.compile(r"^## (TF\d{3}): (.+)$", re.MULTILINE)
_QUOTED_AT_MOST = 60  # characters

WARNED = frozenset({
    "TF109", "TF110", "TF206", "TF301", "TF304", "TF305", "TF307", "TF308", "TF309", "TF310", "TF404", "TF502",
})  # fmt: skip
"""Codes of the compiler of which some problems are warnings, which an environment may allow."""

_HEIRS_AT_MOST = 4
_TEXT_MAX = 2000  # characters of a message or a hint


@dataclass(frozen=True, kw_only=True, slots=True)
class Note:
    """A second place that has to do with a problem."""

    message: str
    at: Route


class Words(NamedTuple):
    """Words of a text of several lines: their line from 0, or None if it is not known, and the text before them."""

    line: int | None
    text: str
    before: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """One thing that is wrong in a spec, at a route of the merged spec; its place is found when it is shown.

    A route may be longer than what is written: it then points at the nearest parent. ``allowable`` is whether an
    environment may allow an error: a judgement of people, such as a policy's, and not what the cluster would do.
    ``words`` are the wrong words of a text, where not all of it is wrong.
    """

    code: str
    message: str
    at: Route
    severity: Severity = "error"
    found: str = ""
    expected: str = ""
    hint: str = ""
    on_key: bool = False
    notes: tuple[Note, ...] = ()
    allowable: bool = False
    words: Words | None = None


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Span:
    """A stretch of one line of a file; line and column count from 1, width in characters."""

    file: str
    line: int
    column: int
    width: int = 1
    excerpt: str = field(default="", compare=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Diagnostic:
    """A problem with its place in a file: all that a reporter needs, and nothing that it must look up.

    Without a line to be shown, ``file`` is the file that the message names. ``at`` is the route written at the line.
    ``heirs`` are the job and the environments that inherit the line, each with its place.
    """

    code: str
    severity: Severity = "error"
    message: str
    span: Span | None = None
    file: str = ""
    found: str = ""
    expected: str = ""
    hint: str = ""
    notes: tuple[tuple[str, Span], ...] = ()
    at: Route = ()
    heirs: tuple[tuple[str, Span], ...] = ()

    @property
    def all_notes(self) -> tuple[tuple[str, Span], ...]:
        """The notes, and one that names the heirs, at the place of the first."""
        told = f"inherited by {a_few([name for name, _ in self.heirs], _HEIRS_AT_MOST)}"
        return (*self.notes, *((told, span) for _, span in self.heirs[:1]))

    def __post_init__(self) -> None:
        """Hide secrets, and cut what is too long to be read: a value of a spec may have millions of characters."""
        names = ("message", "found", "expected", "hint")
        excerpt, texts = hidden(self.span.excerpt if self.span else "", [getattr(self, name) for name in names])
        for name, text in zip(names, texts, strict=True):
            cut = f"{text[: _TEXT_MAX // 2]} … {text[-_TEXT_MAX // 4 :]}" if len(text) > _TEXT_MAX else text
            object.__setattr__(self, name, cut)
        if self.span and self.span.excerpt != excerpt:
            object.__setattr__(self, "span", replace(self.span, excerpt=excerpt))
        for name in ("notes", "heirs"):
            pairs = [(masked(said), replace(at, excerpt=masked(at.excerpt))) for said, at in getattr(self, name)]
            object.__setattr__(self, name, tuple(pairs))


class CompileError(Exception):
    """Raised where nothing more can be done; carries all that was found."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("; ".join(d.message for d in self.diagnostics))

    @classmethod
    def of(cls, code: str, message: str, hint: str = "") -> CompileError:
        """Return an exception with one error that stands on no line."""
        return cls([Diagnostic(code=code, message=message, hint=hint)])


@cache
def compiler_codes() -> dict[str, str]:
    """Return the title of each code of the compiler, as diagnostics.md has it; plugins have codes of their own."""
    page = Path(__file__).with_suffix(".md").read_text(encoding="utf-8")
    return dict(_TITLE.findall(page))


def ordered(diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield diagnostics sorted by place, each once, with all its heirs; those without a place first."""

    def key(found: Diagnostic) -> tuple[object, ...]:
        span = found.span or Span(file="", line=0, column=0)
        place = (found.span is not None, span.file, span.line, span.column)
        return (*place, found.code, found.message, found.file, len(found.notes))

    first: dict[tuple[object, ...], Diagnostic] = {}
    heirs: dict[int, dict[str, Span]] = {}
    for found in sorted(diagnostics, key=key):
        same = first.setdefault((found.code, found.severity, found.message, found.span or found.file), found)
        heirs.setdefault(id(same), {}).update(found.heirs)
    yield from (replace(one, heirs=tuple(heirs[id(one)].items())) if one.heirs else one for one in first.values())


def as_errors(diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Turn warnings into errors, as ``--strict`` asks."""
    return (replace(d, severity="error") if d.severity == "warning" else d for d in diagnostics)


def without_notes(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return what is shown to those who did not ask for more."""
    return [d for d in diagnostics if d.severity != "note"]


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    """Tell whether anything found forbids going on."""
    return any(d.severity == "error" for d in diagnostics)


def unquoted(found: Diagnostic) -> Diagnostic:
    """Return a diagnostic that shows no line and no value of its file, which may be a file of secrets."""
    span = replace(found.span, excerpt="") if found.span else None
    notes = tuple((said, replace(at, excerpt="")) for said, at in found.notes)
    return replace(found, span=span, notes=notes, found="")


def a_few(names: Sequence[str], most: int = 8) -> str:
    """Return the first few of some names, and how many more there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def quoted(text: str) -> str:
    """Write a text as a message quotes it: short, however long it is."""
    return f"'{text if len(text) <= _QUOTED_AT_MOST else text[:_QUOTED_AT_MOST] + '…'}'"


def counted(number: int, thing: str) -> str:
    """Write a number of things: `1 error`, `2 errors`."""
    return f"{number} {thing}{'' if number == 1 else 's'}"
