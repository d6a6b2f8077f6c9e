"""Report pods that fit no node they may run on, and gangs that have no room on the nodes together."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tfgitops import Job, Note, Problem, Role, did_you_mean, gang_pods, is_extended, near_device, pod_requests, quantity
from tfgitops_nodes.packing import Need, Shortage, fits, room, shortages
from tfgitops_nodes.pools import Amounts, Pool, Wish, is_slot, read_pools, routes_of, slots_of, wish_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tfgitops import Environment, Route

    Pods = Sequence[tuple[Role, Need]]

_HINT = "the gang would wait forever: use fewer or smaller pods, or more nodes"
_SLOT_HINT = "the gang would wait forever: use fewer pods, or more nodes"


def check_jobs(
    environment: Environment, nodes: Mapping[str, Any], manifests: tuple[Mapping[str, Any], ...]
) -> Iterator[Problem]:
    """Report the pods of each planned Job that fit no node; where all fit one, whether they fit together."""
    pools = read_pools(nodes)
    for manifest in manifests:
        if job := environment.job_of(manifest):
            yield from _check_job(job, manifest, pools)


def _check_job(job: Job, manifest: Mapping[str, Any], pools: tuple[Pool, ...]) -> Iterator[Problem]:
    problems: list[Problem] = []
    needs: list[tuple[Role, Need]] = []
    counted = (job.roles, manifest["spec"]["tasks"], gang_pods(manifest), slots_of(manifest))
    for role, task, count, slots in zip(*counted, strict=True):
        spec = task["template"]["spec"]
        amounts, wish = (*sorted(one for one in pod_requests(spec).items() if one[1]), *slots), wish_of(spec)
        chosen = _chosen(wish, pools)
        if fitting := _fitting(amounts, chosen):
            needs += [(role, Need(count, amounts, fitting))] * bool(count)
        elif chosen:
            problems += _too_large(job, role, amounts, chosen)
        else:
            problems.append(_not_there(job, role, spec, pools, _fitting(amounts, pools) or pools))
    yield from problems or _check_gang(job, needs)


@lru_cache(maxsize=1024)
def _chosen(wish: Wish, pools: tuple[Pool, ...]) -> tuple[Pool, ...]:
    return tuple(pool for pool in pools if not pool.unmet(wish))


@lru_cache(maxsize=1024)
def _fitting(amounts: Amounts, pools: tuple[Pool, ...]) -> tuple[Pool, ...]:
    return tuple(pool for pool in pools if all(pool.has(resource) >= amount for resource, amount in amounts))


def _not_there(
    job: Job, role: Role, spec: Mapping[str, Any], pools: tuple[Pool, ...], large: tuple[Pool, ...]
) -> Problem:
    """Say what the nodes of the nearest pool lack, of those that are large enough if any are."""
    wish = wish_of(spec)
    nearest = min(large, key=lambda pool: len(pool.unmet(wish)))
    missing = nearest.unmet(wish)[0]
    elsewhere = any(not pool.unmet(((missing,),)) for pool in pools)
    known = sorted({pool.labels[missing.key] for pool in pools if missing.key in pool.labels})
    silent = next((pool for pool in large if (missing,) == pool.unmet(wish) and missing.key not in pool.labels), None)
    hint = did_you_mean(missing.values[0], known) if missing.operator == "In" and not elsewhere else ""
    if not hint and silent:
        nearest, hint = silent, f"if the nodes of '{silent.name}' have this label, add it to its `labels`"
    routes: tuple[tuple[str, ...], ...] = (("pod", "spec", "affinity", "nodeAffinity"), ())
    if missing.key in (spec.get("nodeSelector") or {}):
        routes = (("pod", "spec", "nodeSelector", missing.key), ("nodeSelector", missing.key), ("gpu", "product"), ())
    return Problem(
        code="NODES01", at=job.written(role, *routes), found=str(missing),
        message=f"'{role.name}' selects nodes with {missing}, and no pool "
        f"{'that suits it otherwise ' * elsewhere}has such nodes",
        expected=f"{missing.key}: {' or '.join(known)}" if known and missing.operator == "In" else "",
        hint=hint or "select other nodes, or declare the pool that has these under `nodes`",
        notes=(Note(message=f"the labels of '{nearest.name}'", at=nearest.route("labels", missing.key)),),
    )  # fmt: skip


def _too_large(job: Job, role: Role, amounts: Amounts, pools: tuple[Pool, ...]) -> Iterator[Problem]:
    """Say what the largest node has too little of; devices come first, since they decide which nodes are meant."""
    narrowed: list[str] = []
    for resource, amount in sorted(amounts, key=lambda one: (not is_extended(one[0]), one)):
        asked = _said(resource, amount)
        if fitting := _fitting(((resource, amount),), pools):
            narrowed += [asked] * (len(fitting) < len(pools))
            pools = fitting
            continue
        largest = max(pools, key=lambda pool: pool.has(resource))
        has = quantity.show(largest.has(resource), resource)
        which = f" with {' and '.join(narrowed)}" if narrowed else ""
        known = {name for pool in pools for name in pool.amounts if is_extended(name) and not near_device(name)}
        hint = "" if largest.has(resource) else did_you_mean(resource, sorted(known), cutoff=0.8)
        yield Problem(
            code="NODES02", at=_asked_at(job, role, resource), found=asked, expected=f"at most {has}",
            message=f"a pod of '{role.name}' asks for {asked}, and the largest node{which} it may run on"
            f" (pool '{largest.name}') has {has}",
            hint=hint or "the pod would wait forever: ask for less, or declare the nodes that have it under `nodes`",
            notes=(Note(message=f"the nodes of '{largest.name}'", at=largest.route(resource)),),
        )  # fmt: skip


def _check_gang(job: Job, pods: Pods) -> Iterator[Problem]:
    """Report a gang whose pods each fit a node, and all together have no room."""
    needs = tuple(need for _, need in pods)
    if short := shortages(needs):
        yield from (_short(job, pods, shortage) for shortage in short)
    elif crowded := [(role, need) for role, need in pods if room(need) < need.pods]:
        yield from (_crowded(job, role, need) for role, need in crowded)
    elif not fits(needs):
        yield _no_room(job, pods)


def _asked_at(job: Job, role: Role, resource: str) -> Route:
    """Return where the spec asks for a resource: an overlay, a key of the role, or a container beside the training."""
    if is_slot(resource):
        return job.written(role, *routes_of(resource), ())
    overlays = [("container", "resources", bound, resource) for bound in ("requests", "limits")]
    keys = [("gpu", "count"), ("gpu",)] if is_extended(resource) else [(resource, "request"), (resource, "limit")]
    return job.written(role, *overlays, *keys, ("pod", "spec", "initContainers"), ("pod", "spec", "containers"), ())


def _said(resource: str, nanos: int) -> str:
    """Say how much of a resource, `4 cpu`, or how many nodes for a slot, `4 nodes with host port 2222 free`."""
    nodes = f"node{'s' * (nanos > quantity.NANO)} " if is_slot(resource) else ""
    return f"{quantity.show(nanos, resource)} {nodes}{resource}"


def _short(job: Job, pods: Pods, shortage: Shortage) -> Problem:
    resource = shortage.resource
    wanted, most = _said(resource, shortage.wanted), quantity.show(shortage.most, resource)
    shares = [need.pods * dict(need.amounts).get(resource, 0) for _, need in pods]
    asking = [index for index in shortage.needs if shares[index]]
    who, they = f"the gang of '{job.name}' needs", "it"
    if len(asking) < len(list(filter(None, shares))):
        who, they = f"the pods of {_roles(pods[index][0] for index in asking)} of '{job.name}' need", "they"
    most_asking = pods[max(asking, key=shares.__getitem__)][0]
    return Problem(
        code="NODES03", at=_asked_at(job, most_asking, resource), found=wanted,
        message=f"{who} {wanted}, and the pools {they} may use ({_named(shortage.pools)}) have {most} together",
        expected=f"at most {most}", hint=_SLOT_HINT if is_slot(resource) else _HINT,
        notes=_notes(shortage.pools, resource),
    )  # fmt: skip


def _crowded(job: Job, role: Role, need: Need) -> Problem:
    return Problem(
        code="NODES03", at=_counted_at(job, role), found=f"{need.pods} pods with {_amounts(need.amounts)}",
        message=f"the gang of '{job.name}' needs {need.pods} pods of '{role.name}', and the pools they may use"
        f" ({_named(need.pools)}) have room for {room(need)}",
        expected=f"at most {room(need)}", hint=_HINT, notes=_notes(need.pools, "count"),
    )  # fmt: skip


def _no_room(job: Job, pods: Pods) -> Problem:
    """Say it of the fewest roles that do not go together."""
    for one in pods:
        rest = [other for other in pods if other is not one]
        if not fits(tuple(need for _, need in rest)):
            return _no_room(job, rest)
    pools = sorted({pool for _, need in pods for pool in need.pools}, key=lambda pool: pool.name)
    asked = {resource for _, need in pods for resource, _ in need.amounts}
    offers = [(pool, [(name, pool.has(name)) for name in sorted(asked & set(pool.amounts))]) for pool in pools]
    return Problem(
        code="NODES03", at=_counted_at(job, max(pods, key=lambda pod: pod[1].pods)[0]),
        message=f"the {sum(need.pods for _, need in pods)} pods of {_roles(role for role, _ in pods)} of '{job.name}'"
        f" do not go together on the pools they may use ({_named(pools)}), however they are placed",
        found="; ".join(f"{need.pods} {role.name} with {_amounts(need.amounts)}" for role, need in pods),
        expected="; ".join(f"room on {_nodes(pool.count)} with {_amounts(amounts)}" for pool, amounts in offers),
        hint=_HINT, notes=_notes(pools, "count"),
    )  # fmt: skip


def _counted_at(job: Job, role: Role) -> Route:
    return job.written(role, ("minAvailable",), ("replicas",))


def _roles(roles: Iterable[Role]) -> str:
    return " and ".join(f"'{role.name}'" for role in roles)


def _named(pools: Sequence[Pool]) -> str:
    """Name pools, and how many nodes they have: `'a100', 4 nodes`."""
    return ", ".join([*(f"'{pool.name}'" for pool in pools), _nodes(sum(pool.count for pool in pools))])


def _nodes(count: int) -> str:
    return f"{count} node{'s' * (count > 1)}"


def _amounts(amounts: Iterable[tuple[str, int]]) -> str:
    return " and ".join(_said(resource, nanos) for resource, nanos in amounts)


def _notes(pools: Iterable[Pool], key: str) -> tuple[Note, ...]:
    return tuple(Note(message=f"the pool '{pool.name}'", at=pool.route(key)) for pool in pools)
