"""Whether pods have room on nodes: counted resource by resource first, then by a search that may give up.

What is refused here is impossible; what cannot be told in a few steps is taken to fit.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from tfgitops_nodes.pools import UNLIMITED, Amounts, Pool

if TYPE_CHECKING:
    from collections.abc import Iterable

STEPS_MAX = 1_000
"""How many placements the search tries before it gives up: some 50 ms at most."""

_UNIONS_MAX = 64
"""How many unions each role's set of pools may add to those that are counted."""


class Need(NamedTuple):
    """So many pods alike that run at once: what each asks for, slots included, and the pools with room for one."""

    pods: int
    amounts: Amounts
    pools: tuple[Pool, ...]


class Shortage(NamedTuple):
    """More of a resource than some pools have together, and the indices of the needs that can go nowhere else."""

    resource: str
    wanted: int
    most: int
    pools: tuple[Pool, ...]
    needs: tuple[int, ...]


_Node = tuple[str, tuple[int, ...]]
"""A node's pool, and what is free on it, in the order of the resources that anybody asks for."""

_Nodes = tuple[tuple[_Node, int], ...]
"""How many nodes there are in each state; sorted, so that the order of placing makes no difference."""


class _Pods(NamedTuple):
    """So many pods alike: what each asks for, in the same order, and the pools that it may run on."""

    number: int
    ask: tuple[int, ...]
    pools: frozenset[str]

    def on(self, node: _Node) -> int:
        """Return how many of them a node has room for."""
        pool, free = node
        return _times(zip(free, self.ask, strict=True)) if pool in self.pools else 0

    def put(self, node: _Node, count: int) -> _Node:
        """Return a node with some of them on it."""
        pool, free = node
        return pool, tuple(there - count * one for there, one in zip(free, self.ask, strict=True))


def room(need: Need) -> int:
    """Return how many such pods the pools hold, if nothing else is on them."""
    return sum(pool.count * _per_node(need, pool) for pool in need.pools)


@lru_cache(maxsize=1024)
def shortages(needs: tuple[Need, ...]) -> tuple[Shortage, ...]:
    """Return for each resource the smallest set of pools that has too little for the pods that must run there."""
    found: dict[str, Shortage] = {}
    for pools in _unions(needs):
        inside = tuple(index for index, need in enumerate(needs) if set(need.pools) <= set(pools))
        wanted: Counter[str] = Counter()
        for index in inside:
            wanted.update({resource: amount * needs[index].pods for resource, amount in needs[index].amounts})
        for resource, total in sorted(wanted.items()):
            most = sum(pool.count * pool.has(resource) for pool in pools)
            if total > most:
                found.setdefault(resource, Shortage(resource, total, most, pools, inside))
    return tuple(found.values())


@lru_cache(maxsize=1024)
def fits(needs: tuple[Need, ...], steps: int = STEPS_MAX) -> bool:
    """Tell whether pods have room together; false only if there is no placement of them at all."""
    resources = sorted({resource for need in needs for resource, _ in need.amounts})
    pools = {pool for need in needs for pool in need.pools}
    nodes = tuple(sorted(((pool.name, tuple(map(pool.has, resources))), pool.count) for pool in pools))
    fewest_places_first = sorted(
        needs, key=lambda need: (len(need.pools), max(_per_node(need, it) for it in need.pools))
    )
    pods = []
    for need in fewest_places_first:
        asked = dict(need.amounts)
        ask = tuple(asked.get(resource, 0) for resource in resources)
        pods.append(_Pods(need.pods, ask, frozenset(pool.name for pool in need.pools)))
    return _fill(nodes, pods) or _search(nodes, pods, steps)


def _unions(needs: Iterable[Need]) -> list[tuple[Pool, ...]]:
    """List the sets of pools that some of the needs have together, the smallest first."""
    unions: set[frozenset[Pool]] = set()
    for own in sorted({frozenset(need.pools) for need in needs}, key=_names):
        unions |= {own, *sorted({own | other for other in unions}, key=_names)[:_UNIONS_MAX]}
    return [tuple(sorted(union, key=lambda pool: pool.name)) for union in sorted(unions, key=_names)]


def _names(pools: Iterable[Pool]) -> tuple[int, list[str]]:
    names = sorted(pool.name for pool in pools)
    return len(names), names


def _per_node(need: Need, pool: Pool) -> int:
    return _times((pool.has(resource), amount) for resource, amount in need.amounts)


def _times(amounts: Iterable[tuple[int, int]]) -> int:
    """Return how often what is asked for goes into what is there."""
    return min((free // ask for free, ask in amounts if ask), default=UNLIMITED)


def _fill(nodes: _Nodes, pods: Iterable[_Pods]) -> bool:
    """Fill one node after the other, the fullest first; tell whether all pods have found a place."""
    for some in pods:
        left = some.number
        after: Counter[_Node] = Counter()
        for node, count in nodes:
            unused = count
            while unused and (each := min(some.on(node), left)):
                filled = min(unused, left // each)
                after[some.put(node, each)] += filled
                unused -= filled
                left -= filled * each
            after[node] += unused
        if left:
            return False
        nodes = _sorted(after)
    return True


def _search(nodes: _Nodes, pods: Iterable[_Pods], steps: int) -> bool:
    """Place one pod after the other in all ways that differ; true also if there are too many of them to be tried."""
    order = [some for some in pods for _ in range(min(some.number, steps))]
    stack = [(0, nodes)]
    seen = set(stack)
    for _ in range(steps):
        if not stack:
            return False
        placed, before = stack.pop()
        if placed == len(order):
            return True
        for node, _count in reversed(before):
            if order[placed].on(node):
                after = Counter(dict(before))
                after[node] -= 1
                after[order[placed].put(node, 1)] += 1
                state = (placed + 1, _sorted(after))
                if state not in seen:
                    seen.add(state)
                    stack.append(state)
    return bool(stack)


def _sorted(nodes: Counter[_Node]) -> _Nodes:
    return tuple(sorted((+nodes).items()))
