"""The sources of a field: keys of the spec, a plugin, or the compiler; and the files that write a key.

A key of the spec with the name of the field is its source. Other keys that change the field are parts of its value:
`minAvailable` is the sum of the replicas of the roles.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from tfgitops.planning.expansion import references
from tfgitops.planning.tfconfig import hosts_variable
from tfgitops.spec.model import JOB_LABEL
from tfgitops.spec.places import role_depth
from tfgitops.spec.resolve import inherited, overlay_job, stacked
from tfgitops.targets.routes import MISSING, reach, value_at
from tfgitops.targets.volcano.defaults import NEEDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfgitops.spec.diagnostics import Span
    from tfgitops.spec.document import Document
    from tfgitops.spec.model import Job
    from tfgitops.spec.places import Places
    from tfgitops.targets.routes import Route

DEFAULT = "compiler default"
COMPILER = "compiler"
ROLE = "role"
STRATEGY = "strategy"
DISCOVERY = "discovery"
CONTROLLER = "gitops"
OVERLAY = "overlay"
OVERLAYS = ("pod", "container")
PLUGIN = "plugin"
PIN = "pin"
SETTING = "settings"


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """One source of a field; it gives the field its value unless there is a stronger one.

    - ``routes``: the keys of the spec that give the value, or that led to it.
    - ``layer``: empty for keys of the spec, since the file that writes a key decides its layer.
    - ``value``: the value of a source with a layer, which gives it whether or not a file writes one of the routes.
    - ``plugin``: the name of the plugin that made the field out of the keys.
    - ``note``: why the field has this value.
    - ``parts``: for a value made from several keys, the part that each route gives, written there or by default, and
      `MISSING` for a route that is only a reason.
    """

    routes: tuple[Route, ...]
    layer: str = ""
    value: Any = None
    plugin: str = ""
    note: str = ""
    parts: tuple[Any, ...] = ()


def given(layer: str, value: Any, *routes: Route, note: str = "") -> Source:
    """Return a source that gives a value whether or not a file writes one of its routes."""
    return Source(routes=routes, layer=layer, value=value, note=note)


class Made(NamedTuple):
    """The layer and the reason of a field that the compiler makes."""

    layer: str
    note: str
    parts: bool = False
    """Whether several keys are parts of the value."""
    alone: bool = False
    """Whether any key that gives the field is its source alone, whatever the name of the key."""


_THE_NAME = Made(COMPILER, "the job's name")
_KIND = Made(DEFAULT, "what is written is a Volcano Job")
_PORT = Made(DEFAULT, "the port of the TensorFlow servers", alone=True)
_OF_THE_JOB: dict[Route, Made] = {
    ("apiVersion",): _KIND,
    ("kind",): _KIND,
    ("metadata", "name"): Made(COMPILER, "the job's name, and a digest of all that cannot change in place"),
    ("metadata", "labels", JOB_LABEL): _THE_NAME,
    ("spec", "plugins", "svc", "*"): Made(DEFAULT, "peers wait for each other before they are ready"),
}
_OF_A_TASK: dict[Route, Made] = {
    ("name",): Made(ROLE, "a role is a task of the Job"),
    ("replicas",): Made(DEFAULT, "a role that is there has one replica"),
    ("minAvailable",): Made(COMPILER, "all replicas"),
    ("template", "metadata", "labels", JOB_LABEL): _THE_NAME,
    ("template", "spec", "restartPolicy"): Made(DEFAULT, "with Always a task would never complete"),
    ("template", "spec", "dnsPolicy"): Made(DEFAULT, "what hostNetwork needs"),
    ("template", "spec", "containers", "*", "name"): Made(DEFAULT, "the training container"),
    ("template", "spec", "containers", "*", "ports", "*", "containerPort"): _PORT,
    ("template", "spec", "containers", "*", "ports", "*", "name"): _PORT,
}
_ANYWHERE: dict[Route, Made] = {
    ("ports", "*", "protocol"): Made(DEFAULT, "what Kubernetes would add"),
    ("grpc", "service"): Made(DEFAULT, "what Kubernetes would add"),
}
_WHY = {
    "PodEvicted": "a gang that lost a pod would wait for it forever",
    "TaskCompleted": "its end is the job's",
    "RestartPod": "the coordinator tolerates the loss of a worker",
    "RestartJob": "without a restart, the other pods would wait forever",
}
"""The reason for a policy, by its event; for failed pods, by its action."""


def made(job: Job, manifest: Mapping[str, Any], at: Route) -> Made | None:
    """Return the layer and the reason of a field that the compiler may make; None for any other field."""
    shape: Route = tuple("*" if isinstance(step, int) else step for step in at)
    known = _OF_A_TASK.get(shape[3:]) if at[:2] == ("spec", "tasks") else _OF_THE_JOB.get(shape)
    if known or (known := next((one for end, one in _ANYWHERE.items() if shape[-len(end) :] == end), None)):
        return known
    if shape == ("spec", "minAvailable"):
        waiting = any(role.data.get("dependsOn") for role in job.roles)
        return Made(COMPILER, "the sum over the roles" + (" without dependsOn" if waiting else ""), parts=True)
    if shape[:2] == ("spec", "plugins"):
        needing = next((name for name in manifest["spec"]["plugins"] if at[2] in NEEDS.get(name, ())), "")
        return Made(DEFAULT, f"the plugin {needing} needs it, and Volcano would add it") if needing else None
    if shape[-3:-1] == ("policies", "*"):
        return _policy(job, value_at(manifest, at[:-1]))
    return _discovery(job, manifest, at) if at[7:8] == ("env",) else None


def _policy(job: Job, policy: Mapping[str, Any]) -> Made | None:
    event, action = policy.get("event", ""), policy.get("action", "")
    if event != "PodFailed":
        return Made(DEFAULT, _WHY[event]) if event in _WHY else None
    since = "" if "strategy" in job.data else f", since {job.why}"
    return Made(STRATEGY, f"{job.strategy}{since}: {_WHY[action]}") if action in _WHY else None


def _discovery(job: Job, manifest: Mapping[str, Any], at: Route) -> Made | None:
    """Return the layer and the reason of a discovery variable; None for any other variable."""
    container = value_at(manifest, at[:7])
    name = value_at(container, at[7:9])["name"]
    if name == "TF_CONFIG":
        return Made(DISCOVERY, "the hosts of all roles, and which of them this is", parts=True)
    if name not in ("RUN", "TASK_TYPE", "TASK_INDEX", *(hosts_variable(role.name) for role in job.roles)):
        return None
    place = references(container).get(name)
    if place is None or place.route == ("env", "TF_CONFIG"):
        return Made(DISCOVERY, "TF_CONFIG refers to it")
    return Made(DISCOVERY, f"`{place.field}` refers to $({name})", parts=True)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Writing:
    """One place where a file writes a value for a route of the merged spec; ``null`` there removes weaker values.

    ``at`` is the route in the file. It stops at a list or a variable, since these merge as one value. ``link`` is the
    part of ``at`` that leads to a job or to `defaults`. ``won`` is whether the merged spec has this value.
    """

    layer: str
    document: Document
    link: Route
    at: Route
    value: Any
    won: bool = False

    @property
    def span(self) -> Span:
        """The place in the file."""
        return self.document.span(self.at)


def writings(places: Places, route: Route) -> tuple[Writing, ...]:
    """Return all places where files write a value for a route, the strongest first; at most one has won."""
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
    """Yield the keys of a job or a role that ``null`` removes, each with the value that it removes."""
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
    """Return the layer in which a file writes a value for a route of the merged spec."""
    if len(route) < 3 or route[0] != "jobs":  # noqa: PLR2004 - jobs, a name, and something of the job
        own = places.documents[0].path.parent
        return "environment" if document.prefix or document.path.parent == own else "base file"
    if at[0] != "jobs":
        return "defaults"
    return f"from {at[1]}" if at[1] != route[1] else "role" if role_depth(at[2:]) else "job"


def _planted(tree: dict[Any, Any], document: Document, at: Route, layer: str) -> Writing | None:
    """Put the value that a file has at a route into a tree, and return it; None where the file has none there."""
    link = {"jobs": 2, "defaults": 1}.get(str(at[0]), 0)
    start, value = len(document.prefix), document.value
    holder = link + (role_depth(at[link:]) if link and at[link:] else 0)
    variable = holder + 2 if link and at[holder : holder + 1] == ("env",) else 0  # merges as one value, like a list
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
    """Merge the trees of the files, the strongest first, and return the `Writing` that the merge keeps at a route."""
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
    """Return the winner, narrowed to a value within its list or variable."""
    inner = reach(one.value, at[len(one.at) :])
    return replace(one, won=True) if inner is MISSING else replace(one, at=at, value=inner, won=True)
