"""The tree of queues by parents and amounts, and the older hierarchy of paths in two annotations."""

from __future__ import annotations

import math
from collections import defaultdict
from copy import copy
from itertools import islice
from typing import TYPE_CHECKING

from tfgitops.targets.kubernetes.fault import Fault, Rules, show
from tfgitops.targets.kubernetes.quantity import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tfgitops.targets.routes import Json

Amounts = dict[str, int]  # by resource, as `parse` counts

ROOT_QUEUE = "root"
DEPTH_MAX = 5
FIELDS = {"capability": ("capability",), "deserved": ("deserved",), "guarantee": ("guarantee", "resource")}
HIERARCHY = "volcano.sh/hierarchy"
WEIGHTS = "volcano.sh/hierarchy-weights"

_AT = ("metadata", "annotations")
RULES = Rules.read("""
    queue-hierarchy-length:
        the path {path} and the weights {weights} differ in depth | give one weight for each step of the path
    queue-hierarchy-weight-number: the weight {found} is not a number | write a number
    queue-hierarchy-weight-zero: the weight {found} is not above zero | write 1 or more
    queue-hierarchy-prefix:
        the path of the queue {queue} runs through this one | give this queue a path that ends where no other goes on
""")


class Tree:
    """All queues by name, of which one is looked at."""

    def __init__(self, queues: Iterable[Json], name: str = "") -> None:
        self.name = name
        self._queues: dict[str, Json] = {queue.get("metadata", {}).get("name", ""): queue for queue in queues}
        self._below: defaultdict[str, list[str]] = defaultdict(list)
        self._sums: dict[tuple[str, str], Amounts] = {}
        for other in self._queues:
            if other != ROOT_QUEUE:
                self._below[self.parent(other)].append(other)

    def at(self, queue: Json) -> Tree:
        """Return the tree with a queue as it is to be, and look at that one; most often, the tree has it so."""
        name: str = queue.get("metadata", {}).get("name", "")
        if self._queues.get(name) != queue:
            return Tree([*self._queues.values(), queue], name)
        there = copy(self)
        there.name = name
        return there

    @property
    def queues(self) -> Iterable[Json]:
        """The manifests."""
        return self._queues.values()

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
        above = list(islice(self.ancestors(name), DEPTH_MAX + 1))
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
        if (name, field) not in self._sums:
            total: Amounts = defaultdict(int)
            for child in self.children(name):
                for resource, amount in self.amounts(child, field).items():
                    total[resource] += amount
            self._sums[name, field] = total
        return self._sums[name, field]


def judge_hierarchy(name: str, annotations: Mapping[str, str], queues: Iterable[Json]) -> Iterator[Fault]:
    """Judge path and weights against each other, and the path against those of other queues."""
    path, weights = annotations.get(HIERARCHY, ""), annotations.get(WEIGHTS, "")
    if not path and not weights:
        return
    if path.count("/") != weights.count("/"):
        yield RULES.fault("queue-hierarchy-length", _AT, path=show(path), weights=show(weights))
        return
    for weight in weights.split("/"):
        number = _number(weight)
        if number is None:
            yield RULES.fault("queue-hierarchy-weight-number", _AT, found=show(weight))
        elif not number > 0:
            yield RULES.fault("queue-hierarchy-weight-zero", _AT, found=show(weight))
    for queue in queues:
        metadata = queue.get("metadata", {})
        other = metadata.get("annotations", {}).get(HIERARCHY, "")
        if other and metadata.get("name") != name and _rooted(other).startswith(_rooted(path) + "/"):
            yield RULES.fault("queue-hierarchy-prefix", _AT, found=other, queue=metadata.get("name"))


def rooted(annotations: Mapping[str, str]) -> dict[str, str]:
    """Give a new queue's annotations as the webhook writes them, with the path from the root."""
    path, weights = annotations.get(HIERARCHY), annotations.get(WEIGHTS)
    if not path or not weights or path.startswith(ROOT_QUEUE):
        return dict(annotations)
    return {**annotations, HIERARCHY: _rooted(path), WEIGHTS: f"1/{weights}"}


def _rooted(path: str) -> str:
    return path if path.startswith(ROOT_QUEUE) else f"{ROOT_QUEUE}/{path}"


def _number(text: str) -> float | None:
    """Return what Go's ParseFloat reads: no digits but ASCII's, and nothing beyond the largest float."""
    if not text.isascii() or text != text.strip() or "_" in text:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return None if math.isinf(number) and text.strip("+-0123456789.eE") == "" else number
