"""What a cluster with Volcano says of a Queue that is to be created or changed, given the Queues that exist."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from tfgitops.kubernetes.quantity import NANO, write
from tfgitops.kubernetes.requirements import is_countable, is_extended
from tfgitops.volcano.defaults import ROOT_QUEUE, stored
from tfgitops.volcano.fault import Fault, Route
from tfgitops.volcano.hierarchy import judge_hierarchy
from tfgitops.volcano.metadata import judge_metadata
from tfgitops.volcano.queuetree import DEPTH_MAX, Tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Json = Mapping[str, Any]

Op = Literal["create", "update"]

FIELDS = {"capability": ("capability",), "deserved": ("deserved",), "guarantee": ("guarantee", "resource")}


def judge_queue(manifest: object, queues: Sequence[Json], op: Op = "create") -> list[Fault]:
    """List what the cluster would refuse of a Queue, and what we refuse beyond that.

    :param manifest: any JSON value.
    :param queues: the Queues that exist, as manifests; the one of this name is taken to be replaced.
    :param op: whether the Queue is new; only a new one needs a spec.
    """
    after = stored(manifest)
    if after.notes.faults:
        return [*after.notes.faults, *after.notes.limits]
    assert isinstance(manifest, dict)
    return [*after.notes.limits, *_judge(manifest, after.manifest, queues, op)]


def _judge(manifest: Json, queue: Json, queues: Sequence[Json], op: Op) -> Iterator[Fault]:
    metadata = queue.get("metadata", {})
    if manifest.get("status") is not None:
        message = "status is the controller's to write"
        yield Fault(rule="status-given", at=("status",), message=message, hint="leave it out")
    if "spec" not in queue and op == "create":
        yield Fault(rule="mutate-spec-missing", at=("spec",), message="the queue has no spec", hint="give it one")
    yield from judge_metadata(metadata, namespaced=False)
    if metadata.get("name") == ROOT_QUEUE:
        message = "the root queue is Volcano's own, and not for a manifest to change"
        yield Fault(rule="queue-root-protected", at=("spec",), message=message, hint="take it out of the spec")
        return
    yield from judge_hierarchy(metadata.get("name", ""), metadata.get("annotations", {}), queues)
    tree = Tree(queues, queue)
    broken = [*_judge_amounts(tree), *_judge_place(tree)]
    yield from broken
    if not broken:
        yield from _judge_sums(tree)
        yield from _judge_capability(tree)


def _judge_amounts(tree: Tree) -> Iterator[Fault]:
    """Judge a queue's own amounts, by themselves and against each other."""
    amounts = {field: tree.amounts(tree.name, field) for field in FIELDS}
    for field, given in amounts.items():
        for resource, amount in given.items():
            at = ("spec", *FIELDS[field], resource)
            if amount < 0:
                message = f"{field} of {resource} is below zero"
                yield Fault(rule=f"queue-{field}-min", at=at, message=message, hint="write 0 or more")
            if _counts_pieces(resource) and (amount % NANO or not is_countable(amount)):
                message = f"{resource} is counted in whole pieces, and {write(amount)} is none"
                yield Fault(rule=f"queue-{field}-whole-number", at=at, message=message, hint="write a whole number")
    for resource, amount in amounts["deserved"].items():
        limit = amounts["capability"].get(resource)
        if limit is not None and amount > limit:
            at = ("spec", "deserved", resource)
            yield _over("queue-deserved-over-capability", at, "deserved", amount, "the queue's capability", limit)
    for resource, amount in amounts["guarantee"].items():
        at = ("spec", "deserved", resource)
        deserved = amounts["deserved"].get(resource)
        if deserved is None:
            message = f"the queue guarantees {resource}, but deserves none"
            hint = f"give deserved for {resource}, at least as much"
            yield Fault(rule="queue-guarantee-without-deserved", at=at, message=message, hint=hint)
        elif amount > deserved:
            yield _over("queue-guarantee-over-deserved", at, "guarantee", amount, "what the queue deserves", deserved)


def _counts_pieces(resource: str) -> bool:
    """Tell whether a resource comes in whole pieces: pods, and all that is not Kubernetes's own."""
    return resource == "pods" or is_extended(resource)


def _judge_place(tree: Tree) -> Iterator[Fault]:
    """Judge where in the tree a queue stands."""
    at, parent = ("spec", "parent"), tree.parent(tree.name)
    missing = [name for name in tree.ancestors(tree.name) if name not in tree and name != ROOT_QUEUE]
    if parent == tree.name:
        yield Fault(rule="queue-own-parent", at=at, message="the queue is its own parent", hint="name another one")
    elif missing:
        message = f"there is no queue {missing[0]} to stand below"
        yield Fault(rule="queue-parent-missing", at=at, message=message, hint="declare it", found=missing[0])
    elif max(map(tree.depth, [tree.name, *tree.descendants(tree.name)])) > DEPTH_MAX:
        message = f"the tree of queues would be more than {DEPTH_MAX} levels deep"
        yield Fault(rule="queue-too-deep", at=at, message=message, hint="choose a parent nearer to the root")
    elif parent != ROOT_QUEUE and list(tree.children(parent)) == [tree.name] and tree.running(parent):
        message = f"pods run in the queue {parent}, so it cannot have queues below it"
        yield Fault(rule="queue-parent-busy", at=at, message=message, hint="wait for them, or choose another parent")


def _judge_sums(tree: Tree) -> Iterator[Fault]:
    """Judge that siblings together have no more than their parent, up and down from the queue."""
    parent = tree.parent(tree.name)
    for field in ("deserved", "guarantee"):
        at = ("spec", *FIELDS[field])
        if parent != ROOT_QUEUE:
            limits = tree.amounts(parent, field)
            for resource, total in tree.sum_below(parent, field).items():
                if total > limits.get(resource, 0):
                    what = f"{field} of {resource} in all queues below {parent}"
                    yield _over(f"queue-{field}-sum", at, what, total, f"that of {parent}", limits.get(resource, 0))
        limits = tree.amounts(tree.name, field)
        for resource, total in tree.sum_below(tree.name, field).items():
            if total > limits.get(resource, 0):
                what = f"{field} of {resource} in the queues below"
                yield _over(f"queue-{field}-under-children", at, what, total, "its own", limits.get(resource, 0))


def _judge_capability(tree: Tree) -> Iterator[Fault]:
    """Judge that no queue may grow beyond the nearest one above it that has a limit."""
    own = tree.amounts(tree.name, "capability")
    for resource, amount in own.items():
        at = ("spec", "capability", resource)
        for above in tree.ancestors(tree.name):
            limit = tree.amounts(above, "capability").get(resource)
            if limit is not None:
                if amount > limit:
                    yield _over("queue-capability-over-ancestor", at, "capability", amount, f"that of {above}", limit)
                break
        for below in tree.descendants(tree.name):
            most = tree.amounts(below, "capability").get(resource, 0)
            if most > amount:
                yield _over("queue-capability-under-child", at, f"capability of {below}", most, "that above it", amount)


def _over(rule: str, at: Route, what: str, amount: int, limit_name: str, limit: int) -> Fault:
    return Fault(
        rule=rule,
        at=at,
        message=f"{what} is {write(amount)}, more than {limit_name} ({write(limit)})",
        hint="lower the one or raise the other",
        found=write(amount),
        expected=f"at most {write(limit)}",
    )
