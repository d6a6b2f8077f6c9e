"""From a field of a planned Job back to the place in the spec that asked for it, looked up when there is need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgitops.planning.template import overlay_source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tfgitops.spec.model import Job, Patch, Role
    from tfgitops.targets.routes import Route

_IDENTITIES = ("name", "mountPath", "containerPort", "devicePath", "ip", "topologyKey", "key")
_JOB_KEYS = ("queue", "minAvailable", "maxRetry", "priorityClassName", "plugins", "policies")
_ROLE_KEYS = ("replicas", "minAvailable", "maxRetry", "policies", "dependsOn")
_CONTAINER_KEYS = {"image": "image", "command": "command", "args": "args", "workingDir": "workdir"}
_POD_KEYS = {
    "restartPolicy": "restartPolicy",
    "serviceAccountName": "serviceAccount",
    "imagePullSecrets": "imagePullSecrets",
    "nodeSelector": "nodeSelector",
    "tolerations": "tolerations",
}


def trace(job: Job, manifest: Mapping[str, Any], at: Route, patches: Iterable[Patch]) -> Route:
    """Return the route in the spec that a route in a Job's manifest comes from, or the nearest to it.

    ``patches`` are what the plugins added to this job. Overlays have the last word, and so are asked first.
    """
    if at[:2] != ("spec", "tasks") or len(at) < 3 or not isinstance(at[2], int):  # noqa: PLR2004 - and which of them
        return _job_origin(job, manifest, at)
    role = job.roles[at[2]]
    rest = at[3:]
    if rest[:1] and rest[0] in _ROLE_KEYS:
        return (*role.route, *rest)
    if rest[:1] != ("template",):
        return role.route
    template = manifest["spec"]["tasks"][at[2]]["template"]
    return _template_origin(job, role, template, rest[1:], list(patches))


def _job_origin(job: Job, manifest: Mapping[str, Any], at: Route) -> Route:
    if at[:2] == ("spec", "plugins"):
        return _argument(job, manifest, at)
    said = (at[:1] == ("metadata",) and at[1:2] in (("labels",), ("annotations",))) or (at[1:2] and at[1] in _JOB_KEYS)
    return (*job.route, *at[1:]) if said else job.route


def _argument(job: Job, manifest: Mapping[str, Any], at: Route) -> Route:
    """Find an argument of a job plugin where it is written: the manifest has them sorted, beside ours."""
    route = (*job.route, *at[1:3])
    written = (job.data.get("plugins") or {}).get(at[2] if at[2:] else "") or []
    if at[3:] and (argument := _at(manifest, at[:4])) in written:
        return (*route, written.index(argument))
    return route


def _template_origin(job: Job, role: Role, template: Mapping[str, Any], at: Route, patches: list[Patch]) -> Route:
    origins = _origins(job, role, template, at, patches)
    depth, route = max(origins, key=lambda origin: origin[0], default=(0, role.route))
    spoken = _spoken(job, role, template, at)
    return route if depth > len(spoken[0]) or not spoken[0] else spoken[1]


def _origins(
    job: Job, role: Role, template: Mapping[str, Any], at: Route, patches: list[Patch]
) -> Iterator[tuple[int, Route]]:
    """Yield how much of a route each overlay and each patch holds, and where it was asked for; the strongest first."""
    container = ("spec", "containers", 0)
    for holder in (role, job):
        for kind, base in (("pod", ()), ("container", container)):
            if at[: len(base)] == base and (written := overlay_source(holder, kind)):
                inner = _follow(written, _at(template, base), at[len(base) :])
                if inner:
                    yield len(base) + len(inner), (*holder.route, kind, *inner)
    for patch in patches:
        base = container if patch.target[0] == "container" else ()
        if patch.target[1:] == (role.name,) and at[: len(base)] == base:
            inner = _follow(patch.value, _at(template, base), at[len(base) :])
            if inner:
                yield len(base) + len(inner), patch.because


def _spoken(job: Job, role: Role, template: Mapping[str, Any], at: Route) -> tuple[Route, Route]:
    """Return how much of a route is said by a key of the spec's own, and the route of that key."""
    if at[:3] == ("spec", "containers", 0):
        field, inner = at[3:4], at[4:]
        if field == ("env",) and inner:
            name = template["spec"]["containers"][0]["env"][inner[0]]["name"]
            return (at[:5], (*role.route, "env", name)) if name in (role.data.get("env") or {}) else ((), ())
        if field == ("resources",) and inner[1:2] and inner[1] in role.data:
            return at[:6], (*role.route, inner[1], str(inner[0]).rstrip("s"))
        if field and (key := _CONTAINER_KEYS.get(str(field[0]))):
            return at[:4], (*(job.route if key in job.data else role.route), key, *(inner if key == "args" else ()))
    elif at[:1] == ("spec",) and at[1:2] and (key := _POD_KEYS.get(str(at[1]))):
        return at[:2], (*(job.route if key in job.data else role.route), key, *at[2:])
    return (), ()


def _at(value: Any, route: Route) -> Any:
    for key in route:
        value = value[key]
    return value


def _follow(value: Any, beside: Any, at: Route) -> Route:
    """Walk a route of ``beside`` through a partial ``value``, elements of lists by what identifies them."""
    found: Route = ()
    for key in at:
        if isinstance(value, list) and isinstance(beside, list) and isinstance(key, int):
            index = _same(value, beside[key]) if key < len(beside) else None
            if index is None:
                return found
            value, beside, found = value[index], beside[key], (*found, index)
        elif hasattr(value, "keys") and key in value:
            value, found = value[key], (*found, key)
            beside = beside.get(key) if isinstance(beside, dict) else None
        else:
            return found
    return found


def _same(elements: list[Any], wanted: Any) -> int | None:
    """Find the element that stands for the same thing in another list."""
    for index, element in enumerate(elements):
        if isinstance(element, dict) and isinstance(wanted, dict):
            keys = [key for key in _IDENTITIES if key in element]
            if keys and element[keys[0]] == wanted.get(keys[0]):
                return index
        elif element == wanted:
            return index
    return None
