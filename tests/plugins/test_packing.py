"""Packing pods on nodes, against a packer that tries everything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tfgitops.targets.kubernetes.quantity import NANO
from tfgitops_nodes.packing import Need, fits, room, shortages
from tfgitops_nodes.pools import Pool

if TYPE_CHECKING:
    from collections.abc import Sequence

SLOT = "with host port 2222 free"
RESOURCES = ("cpu", "example.com/device", SLOT)


def pool(name: str, count: int, cpu: int, devices: int = 0) -> Pool:
    return Pool(name=name, count=count, amounts={"cpu": cpu, "example.com/device": devices}, labels={})


@st.composite
def gangs(draw: st.DrawFn) -> tuple[Need, ...]:
    """Draw pods of two to four kinds that fill up to two pools, more or less, each kind bound to one or to both."""
    pools = [
        pool(name, draw(st.integers(1, 3)), draw(st.integers(8, 13)), draw(st.sampled_from([9, 9, 3])))
        for name in draw(st.sampled_from(["a", "ab"]))
    ]
    free = sum(one.count * one.has("cpu") for one in pools) + draw(st.integers(-3, 2))
    needs: list[Need] = []
    for _ in range(draw(st.integers(2, 4))):
        cpu = draw(st.integers(3, 7))
        slots = NANO * draw(st.sampled_from([0, 0, 1]))
        amounts = (("cpu", cpu), ("example.com/device", draw(st.integers(0, 2))), (SLOT, slots))
        pods = draw(st.integers(1, 4))
        if pods * cpu <= free:
            free -= pods * cpu
            needs.append(Need(pods, amounts, tuple(draw(st.sampled_from([pools, pools, pools[:1]])))))
    return tuple(needs)


def brute_force(needs: Sequence[Need]) -> bool:
    """Try every pod on every node, but for nodes alike."""
    pools = {pool.name: pool for need in needs for pool in need.pools}
    nodes = [(pool, {name: pool.has(name) for name in RESOURCES}) for pool in pools.values() for _ in range(pool.count)]
    pods = [need for need in needs for _ in range(need.pods)]

    def place(index: int) -> bool:
        if index == len(pods):
            return True
        tried = []
        for where, free in nodes:
            state = (where, dict(free))
            amounts = pods[index].amounts
            if state in tried or where not in pods[index].pools or any(free[name] < amount for name, amount in amounts):
                continue
            tried.append(state)
            free.update({name: free[name] - amount for name, amount in amounts})
            if place(index + 1):
                return True
            free.update({name: free[name] + amount for name, amount in amounts})
        return False

    return place(0)


TENS = pool("tens", 2, 10)
EIGHTS = pool("eights", 1, 8)
BY_SEARCH_ALONE = (Need(2, (("cpu", 4),), (TENS,)), Need(4, (("cpu", 3),), (TENS,)))
"""4 + 3 + 3 twice; the largest first, as many as a node holds, would leave one over."""
SIXES = tuple(pool(name, 1, 6) for name in "abc")
BY_UNIONS_ALONE = (Need(2, (("cpu", 5),), SIXES[:2]), Need(2, (("cpu", 5),), SIXES[1:]))
"""20 of 18 on all three pools, and each two have enough for those that must be there."""
BOUND = (Need(2, (("cpu", 5),), (EIGHTS,)), Need(1, (("cpu", 2),), (TENS,)))
"""Nodes with room are of no use to those that may not run there."""


@settings(max_examples=400, deadline=None)
@given(gangs())
@example(BY_SEARCH_ALONE)
@example(BY_UNIONS_ALONE)
@example(BOUND)
def test_packing_agrees_with_one_that_tries_everything(needs: tuple[Need, ...]) -> None:
    possible = brute_force(needs)
    assert fits(needs, 1_000_000) == possible
    if possible:
        assert shortages(needs) == ()
        assert all(room(need) >= need.pods for need in needs)


@settings(deadline=None)
@given(gangs(), st.integers(0, 12))
@example(BY_SEARCH_ALONE, 0)
def test_a_search_that_gives_up_refuses_nothing_that_is_possible(needs: tuple[Need, ...], steps: int) -> None:
    assert fits(needs, steps) or not brute_force(needs)


def test_a_shortage_is_found_in_any_union_of_pools() -> None:
    [found] = shortages(BY_UNIONS_ALONE)
    assert (found.wanted, found.most, found.needs) == (20, 18, (0, 1))


def test_ten_thousand_pods_are_counted_and_not_tried() -> None:
    small = Need(10_000, (("cpu", 1),), (pool("many", 5_000, 3),))
    assert fits((small, small._replace(pods=5_000)))
    assert fits((small, small._replace(pods=5_001)))  # it cannot be told in time; that it is too much, `shortages` sees
    assert shortages((small, small._replace(pods=5_001)))
