"""Where a route of the merged spec is written: through `from`, `defaults` and the files it was inherited from."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING

from tfgitops.spec.diagnostics import Diagnostic, Words
from tfgitops.spec.disk import shown
from tfgitops.targets.routes import reach
from tfgitops.targets.tensorflow import ROLE_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tfgitops.spec.diagnostics import Problem, Span
    from tfgitops.spec.document import Document
    from tfgitops.targets.routes import Route

NOT_INHERITED = frozenset({"replicas", "dependsOn", "minAvailable", "maxRetry", "policies", "pod", "container"})
"""Keys that a role does not have from its job: there they are the job's own, or are laid under the role's."""

NOT_EXTENDED = ("pin", "rerun")
"""Keys of a job that `extends` does not carry, since they are about one run of one environment."""

NOT_FROM = ("from", *NOT_EXTENDED)
"""Keys that `from` does not carry."""


@dataclass(frozen=True, kw_only=True)
class Places:
    """The files of an environment, the strongest first, and for each job the routes that it inherits from."""

    documents: Sequence[Document]
    chains: Mapping[str, tuple[Route, ...]] = field(default_factory=dict)

    def diagnose(self, problems: Iterable[Problem]) -> Iterator[Diagnostic]:
        """Give each problem its place in a file."""
        for problem in problems:
            document, written = self.find(problem.at)
            notes = [(note.message, self.span(note.at)) for note in problem.notes]
            by_job = problem.at[:1] == ("jobs",) and written[:2] != problem.at[:2]
            heirs = [(f"the job '{problem.at[1]}'", self.span(problem.at[:2], on_key=True))] if by_job else []
            found = Diagnostic(
                code=problem.code, severity=problem.severity, message=problem.message,
                span=document.span(written, on_key=problem.on_key, words=problem.words or Words(None, problem.found)),
                found=problem.found, expected=problem.expected, hint=problem.hint, notes=tuple(notes), at=written,
                heirs=tuple(heirs),
            )  # fmt: skip
            yield from inherited([found], self.documents[0]) if self.documents else [found]

    def span(self, route: Route, *, on_key: bool = False) -> Span:
        """Find where a route is written; if it is not, the place that is nearest to it."""
        document, written = self.find(route)
        return document.span(written, on_key=on_key)

    def find(self, route: Route) -> tuple[Document, Route]:
        """Return the file that a route's value comes from, and the route by which it is written there."""
        candidates = self.candidates(route)
        for candidate in candidates:
            for document in self.files(candidate):
                if document.depth(candidate) == len(candidate):
                    return document, candidate
        first = candidates[0]
        return max(self.files(first), key=lambda document: document.depth(first)), first

    def names(self, route: Route) -> list[Route]:
        """Return the routes by which a person may mean what stands at a route: those in its job, and as it is written.

        What a job inherits is meant in this job alone by the former, and in all that inherit it by the latter.
        """
        _, written = self.find(route)
        own = [at for at in takewhile(lambda at: at != written, self.candidates(route)) if at[:2] == route[:2]]
        return [*own, written]

    def known(self, names: Sequence[str]) -> tuple[int, list[str]] | None:
        """Return how far some keys lead in the spec, and which keys are there; None where they lead to its end."""
        route: Route = ()
        for count, name in enumerate(names):
            below = self._below(route)
            step = next((key for key in below if str(key) == name), None)
            if step is None:
                return count, [str(key) for key in below]
            route = (*route, step)
        return None

    def _below(self, route: Route) -> list[str | int]:
        """List the keys, or the indices, that the files have below a route, inherited ones too."""
        found: dict[str | int, None] = {}
        for candidate in self.candidates((*route, "")):
            parent = candidate[:-1]
            from_job = len(route) > 2 and parent[-1] != route[-1]  # noqa: PLR2004 - a role's, not the job's own
            for document in self.files(parent):
                keys = _keys(document, parent)
                found |= dict.fromkeys(key for key in keys if not from_job or self.inherits(key))
        return list(found)

    def from_job(self, role: Route, inner: Route) -> bool:
        """Tell whether what a role may have from its job is not written in any block of the role's."""
        whole = tuple(takewhile(lambda step: isinstance(step, str), inner))  # a list is one value, and so is a variable
        whole = whole[:2] if whole[0] == "env" else whole
        known = self._from_job.get((role, whole))
        if known is None:
            own = (*role[2:], *whole)
            said = [at for at in self.candidates((*role, *whole)) if at[-len(own) :] == own]
            written = any(document.depth(at) == len(at) for at in said for document in self.files(at))
            known = self._from_job[role, whole] = self.inherits(whole[0]) and not written
        return known

    @cached_property
    def _from_job(self) -> dict[tuple[Route, Route], bool]:
        return {}

    @staticmethod
    def inherits(key: str | int) -> bool:
        """Tell whether a role has a key from its job."""
        return key not in NOT_INHERITED

    def files(self, route: Route) -> Sequence[Document]:
        """Return the files that may say something at a route, the strongest first."""
        if route in ((), ("jobs",)):
            return self.documents
        return self._files.get(route[1] if route[0] == "jobs" else None) or self._files.get(None) or self.documents

    @cached_property
    def _files(self) -> Mapping[str | int | None, Sequence[Document]]:
        """The files for each job that has one of its own, and for None those of no one job.

        A thousand jobs may have a thousand files, and whoever asks about each of them looks into few.
        """
        found: dict[str | int | None, list[Document]] = {one.prefix[-1]: [] for one in self.documents if one.prefix}
        found[None] = []
        for one in self.documents:
            for name in [one.prefix[-1]] if one.prefix else found:
                found[name].append(one)
        return found

    @cached_property
    def ranks(self) -> Mapping[int, int]:
        """How strong each file is, by its `id`: 0 is the strongest."""
        return {id(document): index for index, document in enumerate(self.documents)}

    def candidates(self, route: Route) -> list[Route]:
        """List where a value may be written, the strongest first: a role's own key wins over its job's."""
        if len(route) < 3 or route[0] != "jobs":  # noqa: PLR2004 - jobs, a name, and something of the job
            return [route]
        rest = route[2:]
        chain = (route[:2],) if rest[0] in NOT_FROM else self.chains.get(str(route[1]), (route[:2],))
        found = [(*start, *rest) for start in chain]
        depth = role_depth(rest)
        if depth and len(rest) > depth and self.inherits(rest[depth]):
            found += [(*start, *rest[depth:]) for start in chain]
        return found


def inherited(diagnostics: Iterable[Diagnostic], own: Document) -> Iterator[Diagnostic]:
    """Name the environment of which ``own`` is the spec as the heir of what is wrong in a file outside its folder."""
    top, folder = own.name.removesuffix(own.path.name), own.path.parent
    name = shown(folder) if top else folder.name
    for one in diagnostics:
        file = one.span.file if one.span else one.file
        if not file or own.prefix or (file.startswith(top) and not file.removeprefix(top).startswith("/")):
            yield one
        else:
            heirs = [(f"{job} of {name}", span) for job, span in one.heirs]
            yield replace(one, heirs=tuple(heirs) or ((name, own.span(("extends",))),))


def _keys(document: Document, route: Route) -> Iterable[str | int]:
    """Return the keys, or the indices, that one file has below a route."""
    if len(route) < len(document.prefix):
        return document.prefix[len(route) : len(route) + 1] if document.prefix[: len(route)] == route else ()
    if document.depth(route) < len(route):
        return ()
    value = reach(document.value, route[len(document.prefix) :])
    return value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()


def role_depth(rest: Route) -> int:
    """Count how many keys of a route within a job lead to a role; 0 where it is the job's own."""
    return 2 if rest[0] == "tasks" else 1 if rest[0] in ROLE_NAMES else 0
