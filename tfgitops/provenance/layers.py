"""Every place of a spec that says one route of the merged whole, the strongest first, and which of them won.

Which one won is not described here a second time: what the files say of that one route is merged by the functions that
merge the files themselves, with a `Writing` in the place of each value, and the one that comes out has won.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tfgitops.spec.places import role_depth
from tfgitops.spec.resolve import inherited, overlay_job, stacked
from tfgitops.targets.routes import MISSING, reach

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def writings(places: Places, route: Route) -> tuple[Writing, ...]:
    """Return what each file says of a route, the strongest first; of those with a value at most one has won."""
    trees: dict[int, dict[Any, Any]] = {}
    said = [
        (one, at)
        for at in places.candidates(route)
        for document in places.files(at)
        if (one := _planted(trees.setdefault(id(document), {}), document, at, _layer(places, document, route, at)))
    ]
    if not said:
        return ()
    winner = _winner(places, route, [trees[one] for one in sorted(trees, key=places.ranks.__getitem__)])
    return tuple(_exactly(one, at) if one is winner else one for one, at in said)


def removed(places: Places, holder: Route) -> Iterator[tuple[Route, Any]]:
    """Yield the keys of a job, or of a role, that ``null`` removes, each with the value that there would be."""
    keys = {
        key: None
        for at in places.candidates((*holder, ""))
        for document in places.files(at)
        if document.depth(at[:-1]) == len(at) - 1
        for key, value in (reach(document.value, at[len(document.prefix) : -1]) or {}).items()
        if value is None
    }
    for key in keys:
        said = writings(places, (*holder, key))
        weaker = [one.value for one in said if one.value is not None]
        if weaker and any(one.won and one.value is None for one in said):
            yield (*holder, key), weaker[0]


def _layer(places: Places, document: Document, route: Route, at: Route) -> str:
    """Name the part of a spec in which a file speaks of a route of the merged whole."""
    if len(route) < 3 or route[0] != "jobs":  # noqa: PLR2004 - jobs, a name, and something of the job
        own = places.documents[0].path.parent
        return "environment" if document.prefix or document.path.parent == own else "base file"
    if at[0] != "jobs":
        return "defaults"
    return f"from {at[1]}" if at[1] != route[1] else "role" if role_depth(at[2:]) else "job"


def _planted(tree: dict[Any, Any], document: Document, at: Route, layer: str) -> Writing | None:
    """Put what a file says at a route into a tree, as far as its maps go; return it, if they lead to the end."""
    link = {"jobs": 2, "defaults": 1}.get(str(at[0]), 0)
    start, value = len(document.prefix), document.value
    holder = link + (role_depth(at[link:]) if link and at[link:] else 0)
    variable = holder + 2 if link and at[holder : holder + 1] == ("env",) else 0  # is one value, whatever it holds
    if at[:start] != document.prefix:
        return None
    for end, step in enumerate(at, 1):
        if end > start:
            if step not in value:
                return None
            value = value[step]
        if end >= start and (type(value) is not dict or end in (len(at), variable)):
            tree[step] = one = Writing(layer=layer, document=document, link=at[:link], at=at[:end], value=value)
            return one
        tree = tree.setdefault(step, {})
    return None


def _winner(places: Places, route: Route, trees: list[dict[Any, Any]]) -> Any:
    """Merge what the files say of a route, the strongest first, and return the `Writing` that comes out."""
    merged: Any = stacked(trees)
    if route[0] == "jobs" and route[2:]:
        links = [link[1] for link in places.chains.get(str(route[1]), (route[:2],)) if link[0] == "jobs"]
        blocks = [_map(_map(merged.get("jobs")).get(link)) for link in links]
        merged, route = inherited(blocks, _map(merged.get("defaults"))), route[2:]
        depth = role_depth(route)
        if depth and route[depth:]:
            key = route[depth]
            shared: dict[Any, Any] = {key: merged[key]} if key in merged and places.inherits(key) else {}
            merged, route = overlay_job(shared, _map(reach(merged, route[:depth]))), route[depth:]
    for step in route:
        merged = _map(merged).get(step) if type(merged) is dict else merged
    return merged


def _map(value: Any) -> dict[Any, Any]:
    return value if type(value) is dict else {}


def _exactly(one: Writing, at: Route) -> Writing:
    """Return what won, with the one value that was asked for where it is in a list or a variable."""
    inner = reach(one.value, at[len(one.at) :])
    return replace(one, won=True) if inner is MISSING else replace(one, at=at, value=inner, won=True)
