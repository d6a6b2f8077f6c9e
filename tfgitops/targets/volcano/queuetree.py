"""The tree of queues, and what Volcano's webhook asks of amounts up and down in it."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from tfgitops.targets.kubernetes.quantity import parse
from tfgitops.targets.volcano.defaults import ROOT_QUEUE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Json = Mapping[str, Any]

Amounts = dict[str, int]  # by resource, as `parse` counts

DEPTH_MAX = 5
FIELDS = {"capability": ("capability",), "deserved": ("deserved",), "guarantee": ("guarantee", "resource")}


class Tree:
    """All queues by name, with one of them as it is to be."""

    def __init__(self, queues: Iterable[Json], queue: Json) -> None:
        others = {other["metadata"]["name"]: other for other in queues}
        self.name: str = queue.get("metadata", {}).get("name", "")
        self._queues: dict[str, Json] = {**others, self.name: queue}
        self._below: defaultdict[str, list[str]] = defaultdict(list)
        for name in self._queues:
            if name != ROOT_QUEUE:
                self._below[self.parent(name)].append(name)

    def __contains__(self, name: str) -> bool:
        return name in self._queues

    def parent(self, name: str) -> str:
        """Give the parent's name; left out it is the root."""
        return str(self._queues[name].get("spec", {}).get("parent") or ROOT_QUEUE)

    def children(self, name: str) -> Sequence[str]:
        """Give the names of the queues right below one."""
        return self._below[name]

    def ancestors(self, name: str) -> Iterator[str]:
        """Give the names above a queue, nearest first, the root last; a circle or a gap ends it early."""
        seen = {name}
        while name != ROOT_QUEUE and name in self._queues:
            name = self.parent(name)
            yield name
            if name in seen:
                return
            seen.add(name)

    def descendants(self, name: str) -> Iterator[str]:
        """Give the names of all queues below one."""
        todo, seen = [name], {name}
        while todo:
            for child in self._below[todo.pop()]:
                if child not in seen:
                    seen.add(child)
                    todo.append(child)
                    yield child

    def depth(self, name: str) -> int:
        """Count the steps from the root; those in a circle are above any limit."""
        above = list(self.ancestors(name))
        return len(above) if above and above[-1] == ROOT_QUEUE else DEPTH_MAX + 1

    def running(self, name: str) -> bool:
        """Tell whether pods run in a queue."""
        return parse(self._queues[name].get("status", {}).get("allocated", {}).get("pods", 0)) > 0

    def amounts(self, name: str, field: str) -> Amounts:
        """Give the capability, the deserved amounts or the guarantee of a queue."""
        given = self._queues[name].get("spec", {}) if name in self._queues else {}
        for key in FIELDS[field]:
            given = given.get(key, {})
        return {resource: parse(amount) for resource, amount in given.items()}

    def limit_above(self, name: str, resource: str) -> tuple[str, int] | None:
        """Give the nearest capability above a queue, with the words that name it."""
        for above in self.ancestors(name):
            capability = self.amounts(above, "capability")
            if resource in capability:
                return f"that of {above}", capability[resource]
        return None

    def sum_below(self, name: str, field: str) -> Amounts:
        """Add up what the queues right below one have."""
        total: Amounts = defaultdict(int)
        for child in self.children(name):
            for resource, amount in self.amounts(child, field).items():
                total[resource] += amount
        return total
