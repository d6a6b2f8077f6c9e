"""Suppress the problems that an environment allows: of one code, at one place, until a last day."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tfgitops.provenance.fields import FieldError, tokens
from tfgitops.spec.diagnostics import Note, Problem
from tfgitops.targets.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from tfgitops.spec.diagnostics import Diagnostic, Span
    from tfgitops.spec.model import Environment
    from tfgitops.spec.places import Places
    from tfgitops.targets.routes import Route

_EXAMPLE = "such as jobs.resnet.image; a key with dots stands in brackets, an index too: [example.com/team], [0]"

OF_SEVERAL = frozenset({"STORE04", "TF404"})
"""Codes that environments may have together: an exception for one is not useless because this call has not all."""


@dataclass(frozen=True, kw_only=True)
class Allowance:
    """One entry of ``allow``: ``names`` are the keys that lead to its place, ``route`` leads to the entry itself."""

    code: str
    at: str
    names: tuple[str, ...]
    reason: str
    until: str
    route: Route

    def covers(self, routes: Iterable[Route]) -> bool:
        """Tell whether one of the routes of a problem is in the place of this entry."""
        return any(tuple(map(str, route[: len(self.names)])) == self.names for route in routes)


@dataclass(frozen=True, kw_only=True)
class Allowed:
    """A suppressed problem, and the entry that allows it."""

    diagnostic: Diagnostic
    by: Allowance
    span: Span


class Allowances:
    """The entries of one environment, and the problems that they suppress.

    ``day`` is the day of the newest commit, YYYY-MM-DD. Without a commit it is empty, and every entry holds.
    """

    def __init__(self, environment: Environment, schema: Mapping[str, Any], day: str) -> None:
        self._allowed: dict[tuple[Any, ...], Allowed] = {}
        self.problems: list[Problem] = []
        self._places: Places = environment.places
        self._day = day
        self._used: set[Route] = set()
        self._entries = [*self._read(environment.data.get("allow") or (), schema)]

    @property
    def allowed(self) -> tuple[Allowed, ...]:
        """The suppressed problems; equal ones at one place count once."""
        return tuple(self._allowed.values())

    def sift(self, problems: Iterable[Problem]) -> Iterator[Diagnostic]:
        """Yield the diagnostics of the problems that are not allowed."""
        for problem in problems:
            (diagnostic,) = self._places.diagnose([problem])
            fixed = problem.severity == "error" and not problem.allowable
            yield from self._judge(diagnostic, self._places.names(problem.at), fixed=fixed)

    def sift_read(self, diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
        """Yield the diagnostics that are not allowed, of those from before the files were merged."""
        for diagnostic in diagnostics:
            yield from self._judge(diagnostic, [diagnostic.at], fixed=diagnostic.severity == "error")

    def leftovers(self, codes: Collection[str], *, finished: bool) -> Iterator[Diagnostic]:
        """Yield a warning for each useless entry, and one if there is no day to compare with.

        ``codes`` are those of the compiler and the plugins. Until the compile is ``finished``, only entries are
        useless that can never match.
        """
        unused = [entry for entry in self._entries if entry.route not in self._used]
        found = [problem for entry in unused if (problem := self._useless(entry, codes, finished=finished))]
        if self._entries and not self._day:
            found.append(_no_day())
        yield from self._places.diagnose(found)

    def _read(self, entries: Sequence[Mapping[str, Any]], schema: Mapping[str, Any]) -> Iterator[Allowance]:
        for index, entry in enumerate(entries):
            route: Route = ("allow", index)
            try:
                names = tuple(tokens(entry["at"]))
            except FieldError:
                names = ()
            if not names or names[0] == "":
                self._refuse(f"'{entry['at']}' cannot be read as a place of a spec", route, _EXAMPLE)
            elif len(names) == 1 and _is_by_name(schema, names[0]):
                message = f"'{names[0]}' is all of them, and an exception is for one place"
                self._refuse(message, route, f"name one, such as {names[0]}.NAME")
            else:
                given = {key: str(entry[key]) for key in ("code", "at", "reason", "until")}
                yield Allowance(names=names, route=route, **given)

    def _refuse(self, message: str, route: Route, hint: str) -> None:
        self.problems.append(Problem(code="TF203", message=message, at=(*route, "at"), hint=hint))

    def _judge(self, diagnostic: Diagnostic, routes: Sequence[Route], *, fixed: bool) -> Iterator[Diagnostic]:
        """Yield a diagnostic unless an entry allows it; name expired entries.

        A ``fixed`` diagnostic cannot be allowed: each entry for it is an error, too.
        """
        entries = [entry for entry in self._entries if entry.code == diagnostic.code and entry.covers(routes)]
        self._used |= {entry.route for entry in entries}
        holding = next((entry for entry in entries if entry.until >= self._day), None)
        if fixed:
            yield diagnostic
            yield from self._places.diagnose(_no_judgement(entry, routes[0]) for entry in entries)
        elif holding:
            same = (diagnostic.code, diagnostic.message, diagnostic.span)
            allowed = Allowed(diagnostic=diagnostic, by=holding, span=self._places.span(holding.route))
            self._allowed.setdefault(same, allowed)
        else:
            until = [
                (entry, f"allowed until {entry.until}, and the newest commit is of {self._day}") for entry in entries
            ]
            over = [(message, self._places.span(entry.route)) for entry, message in until]
            yield replace(diagnostic, notes=(*diagnostic.notes, *over))

    def _useless(self, entry: Allowance, codes: Collection[str], *, finished: bool) -> Problem | None:
        at = entry.route
        if entry.code not in codes:
            hint = did_you_mean(entry.code, sorted(codes)) or "docs/diagnostics.md has every code"
            return _warning(f"no problem has the code {entry.code}", (*at, "code"), hint)
        known = self._places.known(entry.names)
        if known is not None:
            reached, keys = known
            where = f"'{'.'.join(entry.names[:reached])}'" if reached else "the spec"
            message = f"{where} has no '{entry.names[reached]}'"
            return _warning(message, (*at, "at"), did_you_mean(entry.names[reached], keys) or _EXAMPLE)
        message = f"there is no {entry.code} at {entry.at} that would have to be allowed"
        return _warning(message, at, "take this entry out") if finished and entry.code not in OF_SEVERAL else None


def _is_by_name(schema: Mapping[str, Any], key: str) -> bool:
    """Tell whether a key at the top holds things by their names, as ``jobs`` does."""
    return type(schema["properties"].get(key, {}).get("additionalProperties")) is dict


def _warning(message: str, at: Route, hint: str) -> Problem:
    return Problem(code="TF801", message=message, at=at, severity="warning", hint=hint)


def _no_judgement(entry: Allowance, at: Route) -> Problem:
    return Problem(
        code="TF802", message=f"this {entry.code} is an error that cannot be allowed", at=(*entry.route, "code"),
        hint="mend it, and take this entry out: only warnings, and errors of rules that people made, can be allowed",
        notes=(Note(message="it is here", at=at),),
    )  # fmt: skip


def _no_day() -> Problem:
    return Problem(
        code="TF803", severity="warning", at=("allow",), on_key=True,
        message="there is no commit whose day could be compared with the last days in `allow`, so that all of it holds",
        hint="build in a Git repository with a commit",
    )  # fmt: skip
