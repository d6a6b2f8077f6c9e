"""Every place of a spec that says one route of the merged whole, the strongest first, and which of them won."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from tfgitops.spec.places import NOT_FROM, role_depth
from tfgitops.targets.routes import MISSING, reach

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfgitops.spec.diagnostics import Span
    from tfgitops.spec.document import Document
    from tfgitops.spec.places import Places
    from tfgitops.targets.routes import Route


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Writing:
    """One file's word on a route: the layer it speaks in, the route by which it is written there, and the value.

    ``at`` stops at the list, or the variable, that holds the route where that is one value; ``link`` is how much of it
    leads to the job, or to `defaults`. ``won`` is whether the merged spec has this value; one of ``null`` removes.
    """

    layer: str
    document: Document
    link: Route
    at: Route
    value: Any
    won: bool = False

    @property
    def span(self) -> Span:
        """Where it is written."""
        return self.document.span(self.at)


class _Claim(NamedTuple):
    """What one part of a spec says of a route: its value, or how many keys of the route are maps there."""

    depth: int
    writing: Writing | None = None
    exact: tuple[Route, Any] | None = None


def writings(places: Places, route: Route) -> tuple[Writing, ...]:
    """Return what each file says of a route, the strongest first; of those with a value at most one has won.

    Which one is told by the rules of `resolve`: maps merge key by key, and a variable, a list or a scalar is
    one value; the files of each job are merged first, then its `from` chain, then `defaults`, and a role's keys last.
    """
    if len(route) < 3 or route[0] != "jobs":  # noqa: PLR2004 - jobs, a name, and something of the job
        link: Route = route[:2] if route[:1] == ("jobs",) else ()
        claims = [_claim(document, link, route[len(link) :], _top_layer(places)) for document in places.documents]
        return _settled(claims, _folded(claims))
    job, rest = str(route[1]), route[2:]
    claims, result = _level(places, job, rest)
    depth = role_depth(rest)
    if depth and len(rest) > depth and places.inherits(rest[depth]):
        weaker, below = _level(places, job, rest[depth:])
        result = _over(result._replace(depth=result.depth - depth), below)
        claims += weaker
    return _settled(claims, result)


def _level(places: Places, job: str, rest: Route) -> tuple[list[_Claim], _Claim]:
    """Return what a job, what it starts from, and the defaults say of a key, and what comes of that."""
    chain = places.chains.get(job, (("jobs", job),))
    links, defaults = [link for link in chain if link[0] == "jobs"], [link for link in chain if link[0] != "jobs"]
    if rest[0] in NOT_FROM:
        links, defaults = links[:1], []
    found = [
        [_claim(document, link, rest, _layer(job, link, rest)) for document in places.documents]
        for link in (*links, *defaults)
    ]
    folded = [_folded(claims) for claims in found]
    result = _folded(folded[: len(links)])
    for weaker in folded[len(links) :]:
        result = _over(result, weaker)
    return [claim for claims in found for claim in claims], result


def _layer(job: str, link: Route, rest: Route) -> str:
    if link[0] != "jobs":
        return "defaults"
    if link[1] != job:
        return f"from {link[1]}"
    return "role" if role_depth(rest) else "job"


def _top_layer(places: Places) -> dict[int, str]:
    """Tell the environment's own files from those that they extend."""
    own = places.documents[0].path.parent
    return {id(d): "environment" if d.prefix or d.path.parent == own else "base file" for d in places.documents}


def _claim(document: Document, link: Route, rest: Route, layer: str | dict[int, str]) -> _Claim:
    """Follow a route in one file, as far as its maps go; ``link`` leads to what is merged."""
    route, start = (*link, *rest), len(document.prefix)
    if route[:start] != document.prefix:
        return _Claim(-1)
    value, variable = document.value, _variable(link, rest)
    for index in range(start, len(route) + 1):
        atomic = index == variable
        if type(value) is not dict or index == len(route) or atomic:
            name = layer if isinstance(layer, str) else layer[id(document)]
            writing = Writing(layer=name, document=document, link=link, at=route[:index], value=value)
            inner = reach(value, route[index:])
            exact = None if inner is MISSING else (route, inner)
            return _Claim(max(index - len(link), 0), writing, exact)
        if route[index] not in value:
            return _Claim(max(index - len(link), -1))
        value = value[route[index]]
    raise AssertionError("the loop ends with the route")


def _variable(link: Route, rest: Route) -> int:
    """Return how many keys of a route lead to a variable of `env`, which is one value; -1 where none do."""
    block = len(link) or int(rest[:1] == ("defaults",))  # where the keys of a job begin
    keys = (*link, *rest)[block:]
    depth = role_depth(keys) if block and keys else 0
    return block + depth + 2 if block and keys[depth : depth + 1] == ("env",) else -1


def _folded(claims: Sequence[_Claim]) -> _Claim:
    """Merge some parts as `tfgitops.spec.resolve` does: one over another, beginning with the weakest."""
    result = _Claim(-1)
    for claim in reversed(claims):
        result = _over(claim, result)
    return result


def _over(strong: _Claim, weak: _Claim) -> _Claim:
    """Lay what one part says over what a weaker one says; a map replaces what is no map."""
    if strong.writing:
        return strong
    if weak.writing:
        return strong if weak.depth <= strong.depth else weak
    return max(strong, weak, key=lambda claim: claim.depth)


def _settled(claims: Sequence[_Claim], result: _Claim) -> tuple[Writing, ...]:
    return tuple(_told(claims, result.writing))


def _told(claims: Sequence[_Claim], winner: Writing | None) -> Iterator[Writing]:
    for claim in claims:
        if claim.writing is None:
            continue
        if claim.writing is winner:
            at, value = claim.exact or (winner.at, winner.value)
            yield replace(winner, at=at, value=value, won=True)
        else:
            yield claim.writing
