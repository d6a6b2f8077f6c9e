"""Whether a gang fits the pools, all its pods together, and what is said where it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfgitops import Job, Note, Problem, Role, Route, is_extended, quantity
from tfgitops_nodes.packing import Need, Shortage, fits, room, shortages
from tfgitops_nodes.pools import is_slot
from tfgitops_nodes.slots import routes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tfgitops_nodes.pools import Pool

    Pods = Sequence[tuple[Role, Need]]

_HINT = "it would wait for ever: fewer or smaller pods, or more nodes"
_SLOT_HINT = "it would wait for ever: fewer pods, or more nodes"


def check_gang(job: Job, pods: Pods) -> Iterator[Problem]:
    """Report a gang whose pods each fit a node, and all together have no room."""
    needs = tuple(need for _, need in pods)
    if short := shortages(needs):
        yield from (_short(job, pods, shortage) for shortage in short)
    elif crowded := [(role, need) for role, need in pods if room(need) < need.pods]:
        yield from (_crowded(job, role, need) for role, need in crowded)
    elif not fits(needs):
        yield _no_room(job, pods)


def asked_at(job: Job, role: Role, resource: str) -> Route:
    """Return where the spec asks for a resource: an overlay, a key of the role, or a container beside the training."""
    if is_slot(resource):
        return job.written(role, *routes_of(resource), ())
    overlays = [("container", "resources", bound, resource) for bound in ("requests", "limits")]
    keys = [("gpu", "count"), ("gpu",)] if is_extended(resource) else [(resource, "request"), (resource, "limit")]
    return job.written(role, *overlays, *keys, ("pod", "spec", "initContainers"), ("pod", "spec", "containers"), ())


def said(resource: str, nanos: int) -> str:
    """Say how much of a resource, `4 cpu`, or how many nodes for a slot, `4 nodes with host port 2222 free`."""
    nodes = f"node{'s' * (nanos > quantity.NANO)} " if is_slot(resource) else ""
    return f"{quantity.show(nanos, resource)} {nodes}{resource}"


def _short(job: Job, pods: Pods, shortage: Shortage) -> Problem:
    resource = shortage.resource
    wanted, most = said(resource, shortage.wanted), quantity.show(shortage.most, resource)
    shares = [need.pods * dict(need.amounts).get(resource, 0) for _, need in pods]
    asking = [index for index in shortage.needs if shares[index]]
    who, they = f"the gang of '{job.name}' needs", "it"
    if len(asking) < len(list(filter(None, shares))):
        who, they = f"the pods of {_roles(pods[index][0] for index in asking)} of '{job.name}' need", "they"
    most_asking = pods[max(asking, key=shares.__getitem__)][0]
    return Problem(
        code="NODES03", at=asked_at(job, most_asking, resource), found=wanted,
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
    return " and ".join(said(resource, nanos) for resource, nanos in amounts)


def _notes(pools: Iterable[Pool], key: str) -> tuple[Note, ...]:
    return tuple(Note(message=f"the pool '{pool.name}'", at=pool.route(key)) for pool in pools)
